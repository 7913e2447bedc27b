// Plug-ins that are wrong in every way, and what the loader says about each.
// SPDX-License-Identifier: Apache-2.0
#include "core/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/machine_root.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::filesystem::path folder = ASSAY_LOADER_PLUGINS;

// No reason may be missing, and none may come with a plug-in.
std::string reason_of(const std::string& name) {
  const LoadedPlugin loaded = load_plugin(folder, name);
  EXPECT_EQ(loaded.plugin, nullptr);
  EXPECT_EQ(loaded.name, name);
  EXPECT_EQ(loaded.reason.find('\n'), std::string::npos);
  EXPECT_THAT(loaded.reason, testing::EndsWith("."));
  return loaded.reason;
}

TEST(Loader, OpensASoundPlugin) {
  const LoadedPlugin loaded = load_plugin(folder, "sound");
  ASSERT_NE(loaded.plugin, nullptr) << loaded.reason;
  EXPECT_EQ(loaded.reason, "");
  EXPECT_STREQ(loaded.plugin->name, "sound");
  EXPECT_STREQ(loaded.plugin->stamp, contract_stamp());
  EXPECT_EQ(loaded.path, folder / "assay_sound.so");
}

TEST(Loader, RefusesAnotherVersionBeforeItLooksAtAnythingElse) {
  EXPECT_EQ(reason_of("wrong_stamp"), "The plug-in " + (folder / "assay_wrong_stamp.so").string() +
                                          " was built with another version of Assay; rebuild or reinstall it.");
}

TEST(Loader, SaysWhichFileIsAbsent) {
  EXPECT_THAT(reason_of("nowhere"), HasSubstr((folder / "assay_nowhere.so").string() + " does not exist"));
}

TEST(Loader, NamesTheSharedLibraryThatIsMissing) {
  const std::string reason = reason_of("needy");
  EXPECT_THAT(reason, HasSubstr("assay_needy.so needs the library libassay_absent_library.so"));
}

TEST(Loader, FindsAMissingFunctionWhenOpeningNotWhenMeasuring) {
  EXPECT_THAT(reason_of("unresolved"), HasSubstr("assay_defined_nowhere"));
}

TEST(Loader, SurvivesAnEntryThatThrows) {
  EXPECT_THAT(reason_of("throwing"), HasSubstr("failed while it was being opened: the driver answers nonsense"));
}

TEST(Loader, SurvivesAnEntryThatReturnsNull) { EXPECT_THAT(reason_of("silent"), HasSubstr("its entry returned null")); }

TEST(Loader, RefusesAPluginThatIsNotWhatItsFileIsCalled) {
  EXPECT_THAT(reason_of("misnamed"), HasSubstr("calls itself \"cpu\""));
}

TEST(Loader, RefusesAPluginWithoutABackend) { EXPECT_THAT(reason_of("hollow"), HasSubstr("has no back end")); }

TEST(Loader, RefusesAFileThatIsNoSharedObject) {
  const MachineRoot root;
  root.file("assay_text.so", "this is no ELF file, though long enough to be looked at as one might look at a header\n");
  root.file("assay_empty.so", "");
  for (const char* name : {"text", "empty"}) {
    const LoadedPlugin loaded = load_plugin(root.path(), name);
    EXPECT_EQ(loaded.plugin, nullptr);
    EXPECT_THAT(loaded.reason, StartsWith("The plug-in " + loaded.path.string() + " cannot be loaded: "));
  }
}

TEST(Loader, RefusesASharedObjectOfAnotherKind) {
  const MachineRoot root;
  std::filesystem::copy_file(std::filesystem::path(ASSAY_BINARY_DIR) / "tests/elsewhere/libassay_absent_library.so",
                             root.path() / "assay_stranger.so");
  EXPECT_THAT(load_plugin(root.path(), "stranger").reason, HasSubstr("is no plug-in of Assay"));
}

TEST(Loader, TakesNoNameThatLeavesTheFolder) {
  for (const char* name : {"../x", "a/b", "", "A", "x.so", "..", "a b"}) {
    const LoadedPlugin loaded = load_plugin(folder, name);
    EXPECT_EQ(loaded.plugin, nullptr);
    EXPECT_THAT(loaded.reason, HasSubstr("cannot name a plug-in"));
    EXPECT_TRUE(loaded.path.empty());
  }
}

TEST(Loader, ListsPluginsByNameWithoutOpeningThem) {
  const MachineRoot root;
  for (const char* name :
       {"assay_hip.so", "assay_cpu.so", "assay_.so", "libassay_x.so", "assay_y.so.1", "assay_A.so"}) {
    root.file(name, "not opened");
  }
  EXPECT_THAT(plugin_names(root.path()), testing::ElementsAre("cpu", "hip"));
  EXPECT_THAT(plugin_names(root.path() / "nowhere"), testing::IsEmpty());
}

TEST(Loader, LooksForPluginsNextToTheProgramOnly) {
  // This program stands in <build>/tests, so its installation would be <build>.
  EXPECT_THAT(plugin_folder().string(),
              testing::AnyOf(std::string(ASSAY_BINARY_DIR) + "/plugins", std::string(ASSAY_BINARY_DIR) + "/lib/assay"));
}

}  // namespace
}  // namespace assay
