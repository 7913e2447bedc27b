// What a renter is told about AMD cards, over made-up machines.
// SPDX-License-Identifier: Apache-2.0
#include "hip/presence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/machine_root.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(HipPresence, NothingThereIsNoProblem) {
  MachineRoot root;
  EXPECT_THAT(hip::presence(root.path()).cards, IsEmpty());
  EXPECT_EQ(hip::presence(root.path()).problem, "");
}

TEST(HipPresence, ACardWithoutADriverNamesTheDriver) {
  MachineRoot root;
  root.card("0000:c1:00.0", "0x1002", "0x74a1", "0x120000", "");  // a processing accelerator, not a display
  const Presence found = hip::presence(root.path());
  EXPECT_THAT(found.cards, ElementsAre("0000:c1:00.0 (1002:74a1)"));
  EXPECT_THAT(found.problem, HasSubstr("amdgpu"));
}

TEST(HipPresence, ADriverWithoutKfdIsAContainerWithoutTheDevice) {
  MachineRoot root;
  root.card("0000:c1:00.0", "0x1002", "0x74a1", "0x120000", "amdgpu");
  root.file("sys/module/amdgpu/version", "6.8.5\n");
  const Presence found = hip::presence(root.path());
  EXPECT_EQ(found.driver, "6.8.5");
  EXPECT_THAT(found.cure, HasSubstr("--device=/dev/kfd"));
}

TEST(HipPresence, EverythingInPlaceIsNoProblem) {
  MachineRoot root;
  root.card("0000:c1:00.0", "0x1002", "0x74a1", "0x120000", "amdgpu");
  root.file("sys/module/amdgpu/version", "6.8.5\n");
  root.file("dev/kfd", "");
  EXPECT_EQ(hip::presence(root.path()).problem, "");
}

}  // namespace
}  // namespace assay
