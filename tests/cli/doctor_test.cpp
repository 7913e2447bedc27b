// What doctor says of machines that are not here: plain text of 80 columns, the GPU that cannot be used first.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/commands.h"
#include "cuda/presence.h"
#include "tests/machine_root.h"

namespace assay {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Said {
  std::string text;
  std::string words;  // without the line breaks of folding
  int code = 0;
};

Said doctor_says(const std::vector<Presence>& presences, const std::vector<Probed>& probed) {
  Terminal plain;
  plain.ascii = true;
  Said said;
  testing::internal::CaptureStdout();
  said.code = doctor(plain, presences, probed);
  said.text = testing::internal::GetCapturedStdout();
  std::istringstream text(said.text);
  for (std::string word; text >> word;) said.words += (said.words.empty() ? "" : " ") + word;
  return said;
}

DeviceInfo device(const std::string& id, const std::string& backend, const std::vector<Fact>& facts) {
  DeviceInfo info;
  info.id = id;
  info.backend = backend;
  info.name = "Pretended " + backend;
  info.facts = facts;
  return info;
}

Fact words(const std::string& name, const std::string& text, const std::string& reason = "") {
  return {name, std::nullopt, "", text, reason, ""};
}

Probed processor() { return {"cpu", {device("cpu:0", "cpu", {})}, {}, ""}; }

Presence card(const std::string& problem = "", const std::string& cure = "") {
  return {"NVIDIA", "cuda", {"0000:3b:00.0 (10de:2331)"}, "580.65.06", problem, cure};
}

TEST(Doctor, NamesTheGpuThatCannotBeUsedFirstAndHowToMendIt) {
  const Said said = doctor_says({card("the NVIDIA kernel driver is not loaded", "load it")}, {processor()});
  EXPECT_THAT(said.text, StartsWith("A GPU is here but cannot be used\n"));
  EXPECT_THAT(said.words, HasSubstr("[no] NVIDIA 0000:3b:00.0 (10de:2331): the NVIDIA kernel driver is not loaded"));
  EXPECT_THAT(said.words, HasSubstr("To mend it: load it."));
  EXPECT_THAT(said.words, HasSubstr("assay evaluate --device cpu"));
  EXPECT_EQ(said.code, exit_bad);
}

TEST(Doctor, TakesThePlugInsReasonWhereTheFilesShowNone) {
  Probed cuda{"cuda", {}, {}, "cuda sees no usable device"};
  cuda.diagnosis.push_back(
      words("cuda_devices", "", "error 802: the fabric manager is not running; to mend it: start it"));
  const Said said = doctor_says({card()}, {processor(), cuda});
  EXPECT_THAT(said.words, HasSubstr("(10de:2331): error 802: the fabric manager is not running To mend it: start it."));
}

TEST(Doctor, AMachineWithoutAnyGpuIsToldHowToGetOne) {
  Probed cuda{"cuda", {}, {}, "cuda sees no usable device"};
  cuda.diagnosis.push_back(words("cuda_devices", "", "there is no driver library; to mend it: install the driver"));
  const Said said =
      doctor_says({{"NVIDIA", "cuda", {}, "", "", ""}, {"AMD", "hip", {}, "", "", ""}}, {processor(), cuda});
  EXPECT_THAT(said.text, StartsWith("Can be measured\n"));
  EXPECT_THAT(said.words, HasSubstr("[no] cuda: there is no driver library To mend it: install the driver."));
  EXPECT_THAT(said.words, HasSubstr("[no] no NVIDIA GPU is visible on the PCI bus or under /dev"));
  EXPECT_THAT(said.words, HasSubstr("docker run --gpus all"));
  EXPECT_THAT(said.words, Not(HasSubstr("sees no usable device")));
  EXPECT_EQ(said.code, exit_good);
}

TEST(Doctor, ADeviceThatIsListedButDoesNotWorkIsNotCalledMeasurable) {
  const Probed cuda{"cuda", {device("cuda:0", "cuda", {words("usable", "no", "it is busy")})}, {}, ""};
  const Said said = doctor_says({card()}, {cuda});
  EXPECT_THAT(said.words, HasSubstr("[no] cuda:0 Pretended cuda: it is busy"));
  EXPECT_THAT(said.words, Not(HasSubstr("[ok] cuda:0")));
  EXPECT_EQ(said.code, exit_unknown);
}

TEST(Doctor, OfEightAlikeOnlyTheDifferencesAreShown) {
  std::vector<DeviceInfo> eight;
  for (int at = 0; at < 8; ++at)
    eight.push_back(
        device("cuda:" + std::to_string(at), "cuda", {words("mig", "off"), words("ecc", at == 5 ? "off" : "on")}));
  const Said said = doctor_says({card()}, {{"cuda", eight, {}, ""}});
  const auto times = [&](const std::string& text) {
    int count = 0;
    for (auto at = said.words.find(text); at != std::string::npos; at = said.words.find(text, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(times("Pretended cuda"), 8);
  EXPECT_EQ(times("mig: off"), 1);
  EXPECT_EQ(times("ecc: on"), 1);
  EXPECT_THAT(said.words, HasSubstr("cuda:5 Pretended cuda ecc: off"));
  EXPECT_EQ(said.code, exit_good);
}

// Every state of tests/cuda/presence_test.cpp has sentences of some length; these are the longest.
TEST(Doctor, FitsEightyColumnsWithoutColour) {
  MachineRoot root;
  root.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "nvidia");
  root.file("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5\n");
  for (const auto& step : {std::string(), std::string("dev/nvidia0"), std::string("dev/nvidiactl"),
                           std::string("usr/lib64/libcuda.so.1")}) {
    if (!step.empty()) root.file(step, "");
    const Presence presence = cuda::presence(root.path(), {13, std::nullopt, ""});
    ASSERT_NE(presence.problem, "") << step;
    const Said said = doctor_says({presence}, {processor()});
    EXPECT_THAT(said.words, HasSubstr(presence.problem));
    EXPECT_THAT(said.words, HasSubstr(presence.cure));
    EXPECT_THAT(said.text, Not(HasSubstr("\x1b")));
    std::istringstream lines(said.text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
}

}  // namespace
}  // namespace assay
