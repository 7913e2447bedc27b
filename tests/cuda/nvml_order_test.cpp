// The runtime's device numbers against the management library's.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/nvml_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cuda/fake_management.h"

namespace vendor::nvml {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

using NvmlOrder = FakeManagement;

// Two cards of one kind and a faster one between them on the bus.
std::vector<Managed> mixed() {
  return {{"0000:18:00.0", "GPU-aaaa0000", "NVIDIA A10", false},
          {"0000:3b:00.0", "GPU-bbbb0000", "NVIDIA H100", false},
          {"0000:86:00.0", "GPU-bbcc0000", "NVIDIA A10", false}};
}

std::vector<Managed> alike() {
  auto all = mixed();
  for (Managed& device : all) device.name = "NVIDIA H100";
  return all;
}

TEST_F(NvmlOrder, CardsOfOneKindComeByTheBus) {
  EXPECT_THAT(guessed_order(alike(), {}), Optional(ElementsAre(0, 1, 2)));
}

TEST_F(NvmlOrder, DifferentCardsAreNotGuessedUnlessOrderedByTheBus) {
  EXPECT_FALSE(guessed_order(mixed(), {}));
  EXPECT_THAT(guessed_order(mixed(), {std::nullopt, "PCI_BUS_ID"}), Optional(ElementsAre(0, 1, 2)));
  EXPECT_FALSE(guessed_order(mixed(), {"1", ""}));
  EXPECT_THAT(guessed_order(mixed(), {"2,0", "PCI_BUS_ID"}), Optional(ElementsAre(2, 0)));
}

TEST_F(NvmlOrder, VisibleDevicesAreReadAsTheRuntimeReadsThem) {
  const auto with = [](const std::string& visible) { return guessed_order(alike(), {visible, ""}); };
  EXPECT_THAT(with("2, 1"), Optional(ElementsAre(2, 1)));
  EXPECT_THAT(with(""), Optional(IsEmpty()));
  EXPECT_THAT(with("-1"), Optional(IsEmpty()));
  EXPECT_THAT(with("1,-1,0"), Optional(ElementsAre(1)));  // all after an unknown one is ignored
  EXPECT_THAT(with("1,7,0"), Optional(ElementsAre(1)));
  EXPECT_THAT(with("1,1"), Optional(IsEmpty()));  // the runtime refuses a device named twice
  EXPECT_THAT(with("gpu-aaaa"), Optional(ElementsAre(0)));
  EXPECT_THAT(with("GPU-bb"), Optional(IsEmpty()));  // fits two
  EXPECT_THAT(with("NoDevFiles"), Optional(IsEmpty()));
  EXPECT_FALSE(with("MIG-1234"));
}

TEST_F(NvmlOrder, PartitionsAreNotGuessed) {
  auto all = alike();
  all[1].partitioned = true;
  EXPECT_FALSE(guessed_order(all, {}));
}

TEST_F(NvmlOrder, TheDriverLibrarySaysWhichDeviceIsWhich) {
  script(machine(2) + healthy(0, "3B") + healthy(1, "18") + "- cuInit 0\n- cuDevice/0 1\n- cuDevice/1 0\n");
  const auto identities = driver_devices(ASSAY_FAKE_NVML);
  ASSERT_TRUE(identities);
  ASSERT_EQ(identities->size(), 2U);
  EXPECT_EQ((*identities)[0].uuid, "00000001-1111-2222-3333-444444444444");
  EXPECT_EQ((*identities)[0].pci, "0000:18:00.0");
  const auto found = devices(Library::open().library, identities, {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]->pci(), "0000:18:00.0");
  EXPECT_EQ(found[1]->pci(), "0000:3b:00.0");
}

TEST_F(NvmlOrder, ADriverLibraryThatDoesNotStartLeavesTheGuess) {
  script(machine(2) + healthy(0, "3B") + healthy(1, "18") + "- cuInit 802\n");
  EXPECT_FALSE(driver_devices(ASSAY_FAKE_NVML));
  EXPECT_FALSE(driver_devices("/nowhere/libcuda.so.1"));
  const auto found = devices(Library::open().library, std::nullopt, {"0", ""});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]->pci(), "0000:18:00.0");
}

TEST_F(NvmlOrder, ADeviceThatTheLibraryDoesNotKnowIsNull) {
  script(machine() + healthy());
  const auto found = devices(Library::open().library, {{{"0000:99:00.0", ""}, {"0000:3b:00.0", ""}}}, {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0], nullptr);
  ASSERT_NE(found[1], nullptr);
  EXPECT_EQ(found[1]->pci(), "0000:3b:00.0");
}

TEST_F(NvmlOrder, APartitionIsFoundByItsUuidAndKeepsItsCard) {
  script(machine() + healthy() +
         "0 nvmlDeviceGetMigMode 1 1\n"
         "101 nvmlDeviceGetUUID MIG-abcdef01-1111-2222-3333-444444444444\n"
         "101 nvmlDeviceGetMemoryInfo 20937965568 20000000000 937965568\n"
         "101 nvmlDeviceGetAttributes_v2 26 2 0 0 0 0 2 2 19968\n");
  const auto library = Library::open().library;
  const auto slice = find_device(library, {"0000:3b:00.0", "abcdef01-1111-2222-3333-444444444444"});
  ASSERT_NE(slice, nullptr);
  EXPECT_TRUE(slice->partition());
  EXPECT_EQ(slice->pci(), "0000:3b:00.0");
  EXPECT_EQ(slice->uuid(), "MIG-abcdef01-1111-2222-3333-444444444444");
  EXPECT_EQ(slice->memory_total(), 20937965568);
  ASSERT_TRUE(slice->attributes());
  EXPECT_EQ(slice->attributes()->multiprocessors, 26U);
  EXPECT_EQ(slice->attributes()->memory_mebibytes, 19968U);
  EXPECT_EQ(slice->mig_instances(), 1);
  EXPECT_FALSE(all_devices(library).front()->attributes());  // a whole card is none
}

}  // namespace
}  // namespace vendor::nvml
