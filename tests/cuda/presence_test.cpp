// What a renter is told about NVIDIA cards, over made-up machines.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/presence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/machine_root.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CudaPresence : public testing::Test {
 protected:
  // A card with its driver, nodes and libraries, all of one version.
  void good(const std::string& driver = "580.65.06", const std::string& libraries = "580.65.06") {
    root_.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "nvidia");
    version(driver);
    nodes();
    library("usr/lib/x86_64-linux-gnu", libraries);
  }
  void version(const std::string& driver) {
    root_.file("proc/driver/nvidia/version",
               "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  " + driver + "  Release Build\n");
  }
  void nodes() {
    root_.file("dev/nvidia0", "");
    root_.file("dev/nvidiactl", "");
  }
  void library(const std::string& folder, const std::string& version) {
    for (const char* name : {"libcuda.so.", "libnvidia-ml.so."}) {
      root_.file(folder + "/" + name + version, "");
      std::filesystem::create_symlink(name + version, root_.path() / folder / (std::string(name) + "1"));
    }
  }
  Presence look(const cuda::Circumstances& here = {13, std::nullopt, ""}) { return cuda::presence(root_.path(), here); }

  MachineRoot root_;
};

TEST_F(CudaPresence, NothingThereIsNoProblem) {
  EXPECT_THAT(look().cards, IsEmpty());
  EXPECT_EQ(look().problem, "");
}

TEST_F(CudaPresence, ACardWithoutADriverNamesTheDriver) {
  root_.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "");
  root_.card("0000:00:02.0", "0x8086", "0x3e92", "0x030000", "i915");
  EXPECT_THAT(look().cards, ElementsAre("0000:3b:00.0 (10de:2331)"));
  EXPECT_THAT(look().problem, HasSubstr("driver is not loaded"));
  EXPECT_THAT(look().cure, HasSubstr("container"));
}

TEST_F(CudaPresence, NouveauAndVfioAreNamed) {
  root_.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "nouveau");
  EXPECT_THAT(look().problem, HasSubstr("nouveau"));
  EXPECT_THAT(look().cure, HasSubstr("blacklist"));
  MachineRoot other;
  other.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "vfio-pci");
  EXPECT_THAT(cuda::presence(other.path(), {}).problem, HasSubstr("virtual machine"));
}

TEST_F(CudaPresence, ADriverWithoutADeviceNodeIsAContainerWithoutTheGpu) {
  root_.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "nvidia");
  root_.file("proc/driver/nvidia/version",
             "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n");
  EXPECT_EQ(look().driver, "550.54.15");
  EXPECT_THAT(look().problem, HasSubstr("/dev/nvidia0"));
  EXPECT_THAT(look().cure, HasSubstr("nvidia-modprobe"));
  root_.file(".dockerenv", "");
  EXPECT_THAT(look().problem, HasSubstr("in this container"));
  EXPECT_THAT(look().cure, HasSubstr("--gpus all"));
  EXPECT_THAT(look().cure, Not(HasSubstr("nvidia-modprobe")));
}

TEST_F(CudaPresence, TheControlNodeIsNeededToo) {
  good();
  std::filesystem::remove(root_.path() / "dev/nvidiactl");
  EXPECT_THAT(look().problem, HasSubstr("/dev/nvidiactl"));
}

TEST_F(CudaPresence, EverythingInPlaceIsNoProblem) {
  good();
  EXPECT_EQ(look().driver, "580.65.06");
  EXPECT_EQ(look().problem, "");
  EXPECT_EQ(look({13, "0,1", ""}).problem, "");
}

TEST_F(CudaPresence, AContainerThatWasGivenTheFourthCardAloneIsFine) {
  good();
  std::filesystem::rename(root_.path() / "dev/nvidia0", root_.path() / "dev/nvidia3");
  root_.file("dev/nvidia-uvm", "");  // no card's node
  EXPECT_EQ(look().problem, "");
}

TEST_F(CudaPresence, NodesThatMayNotBeOpenedAreNamed) {
  good();
  std::filesystem::permissions(root_.path(), std::filesystem::perms::all);
  for (const char* node : {"dev/nvidia0", "dev/nvidiactl"})
    std::filesystem::permissions(root_.path() / node, std::filesystem::perms::none);
  // The superuser may open anything, so somebody else has to look.
  const auto looks = [&] {
    if (geteuid() == 0 && setuid(65534) != 0) std::_Exit(2);
    const Presence found = look();
    std::_Exit(found.problem.find("may not open /dev/nvidia0") != std::string::npos ? 0 : 1);
  };
  EXPECT_EXIT(looks(), testing::ExitedWithCode(0), "");
}

TEST_F(CudaPresence, ADriverOlderThanTheBuildNeedsIsNamedWithTheNumber) {
  good("550.54.15", "550.54.15");
  EXPECT_THAT(look().problem, HasSubstr("version 550.54.15"));
  EXPECT_THAT(look().problem, HasSubstr("needs 580 or later"));
  EXPECT_EQ(look({12, std::nullopt, ""}).problem, "");
  EXPECT_EQ(look({0, std::nullopt, ""}).problem, "");  // no plug-in, so nothing is needed
  root_.file("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed Oct 27\n");
  EXPECT_THAT(look({12, std::nullopt, ""}).problem, HasSubstr("needs 525 or later"));
}

TEST_F(CudaPresence, ACompatibilityPackageMakesAnOlderDriverDo) {
  good("550.54.15", "550.54.15");
  root_.file("usr/local/cuda/compat/libcuda.so.1", "");
  EXPECT_EQ(look().problem, "");
}

TEST_F(CudaPresence, LibrariesOfAnotherVersionThanTheModuleAreNamed) {
  good("580.65.06", "580.82.07");
  EXPECT_THAT(look().problem, HasSubstr("580.65.06"));
  EXPECT_THAT(look().problem, HasSubstr("580.82.07"));
  EXPECT_THAT(look().cure, HasSubstr("restart the container"));
  library("usr/lib64", "580.65.06");  // the right one is here, too
  EXPECT_EQ(look().problem, "");
}

TEST_F(CudaPresence, NodesWithoutTheLibraryAreAContainerWithoutTheToolkit) {
  root_.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "nvidia");
  version("580.65.06");
  nodes();
  root_.file("run/.containerenv", "");
  EXPECT_THAT(look().problem, HasSubstr("libcuda.so.1"));
  EXPECT_THAT(look().cure, HasSubstr("container toolkit"));
}

TEST_F(CudaPresence, TheLibraryIsFoundByTheLoadersPathAndCache) {
  root_.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "nvidia");
  version("580.65.06");
  nodes();
  root_.file("srv/driver/libcuda.so.1", "");
  EXPECT_NE(look().problem, "");
  EXPECT_EQ(look({13, std::nullopt, "/nowhere:/srv/driver"}).problem, "");
  root_.file("etc/ld.so.cache", std::string("glibc-ld.so.cache1.1\0/far/away/libcuda.so.1\0", 44));
  EXPECT_EQ(look().problem, "");
}

TEST_F(CudaPresence, AnEnvironmentThatHidesEveryCardIsNamed) {
  good();
  for (const char* hiding : {"", "-1", " ", "NoDevFiles"}) {
    EXPECT_THAT(look({13, hiding, ""}).problem, HasSubstr("CUDA_VISIBLE_DEVICES")) << hiding;
    EXPECT_THAT(look({13, hiding, ""}).cure, HasSubstr("unset")) << hiding;
  }
  EXPECT_EQ(look({13, "GPU-1234", ""}).problem, "");
}

TEST_F(CudaPresence, WindowsLendsACardOfItsOwn) {
  root_.file("dev/dxg", "");
  EXPECT_THAT(look().cards, IsEmpty());  // it may be anybody's
  root_.file("usr/lib/wsl/lib/libcuda.so.1", "");
  EXPECT_THAT(look().cards, ElementsAre(HasSubstr("Windows host")));
  EXPECT_EQ(look().problem, "");
  EXPECT_THAT(look({13, "", ""}).problem, HasSubstr("CUDA_VISIBLE_DEVICES"));
}

TEST_F(CudaPresence, ACardHiddenFromTheBusIsStillThere) {
  version("580.65.06");
  nodes();
  library("usr/lib64", "580.65.06");
  EXPECT_THAT(look().cards, ElementsAre(HasSubstr("hidden")));
  EXPECT_EQ(look().problem, "");
}

TEST_F(CudaPresence, AudioFunctionsOfACardAreNotCards) {
  root_.card("0000:3b:00.1", "0x10de", "0x22ba", "0x040300", "snd_hda_intel");
  EXPECT_THAT(look().cards, IsEmpty());
}

}  // namespace
}  // namespace assay
