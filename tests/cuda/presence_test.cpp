// What a renter is told about NVIDIA cards, over made-up machines.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/presence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/machine_root.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CudaPresence, NothingThereIsNoProblem) {
  MachineRoot root;
  const Presence found = cuda::presence(root.path());
  EXPECT_THAT(found.cards, IsEmpty());
  EXPECT_EQ(found.problem, "");
}

TEST(CudaPresence, ACardWithoutADriverNamesTheDriver) {
  MachineRoot root;
  root.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "");
  root.card("0000:00:02.0", "0x8086", "0x3e92", "0x030000", "i915");
  const Presence found = cuda::presence(root.path());
  EXPECT_THAT(found.cards, ElementsAre("0000:3b:00.0 (10de:2331)"));
  EXPECT_THAT(found.problem, HasSubstr("driver is not loaded"));
  EXPECT_THAT(found.cure, HasSubstr("container"));
}

TEST(CudaPresence, NouveauIsNamed) {
  MachineRoot root;
  root.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "nouveau");
  EXPECT_THAT(cuda::presence(root.path()).problem, HasSubstr("nouveau"));
}

TEST(CudaPresence, ADriverWithoutADeviceNodeIsAContainerWithoutTheGpu) {
  MachineRoot root;
  root.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "nvidia");
  root.file("proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n");
  const Presence found = cuda::presence(root.path());
  EXPECT_EQ(found.driver, "550.54.15");
  EXPECT_THAT(found.problem, HasSubstr("/dev/nvidia0"));
  EXPECT_THAT(found.cure, HasSubstr("--gpus all"));
}

TEST(CudaPresence, EverythingInPlaceIsNoProblem) {
  MachineRoot root;
  root.card("0000:3b:00.0", "0x10de", "0x2331", "0x030200", "nvidia");
  root.file("proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release\n");
  root.file("dev/nvidia0", "");
  root.file("dev/nvidiactl", "");
  const Presence found = cuda::presence(root.path());
  EXPECT_EQ(found.driver, "580.65.06");
  EXPECT_EQ(found.problem, "");
}

TEST(CudaPresence, AudioFunctionsOfACardAreNotCards) {
  MachineRoot root;
  root.card("0000:3b:00.1", "0x10de", "0x22ba", "0x040300", "snd_hda_intel");
  EXPECT_THAT(cuda::presence(root.path()).cards, IsEmpty());
}

}  // namespace
}  // namespace assay
