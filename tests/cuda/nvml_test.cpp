// Every field of the management library: its value, its sentinels, and its absence.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cuda/fake_management.h"

namespace vendor::nvml {
namespace {

using testing::DoubleNear;
using testing::Optional;

using Nvml = FakeManagement;

TEST_F(Nvml, ReadsEveryFieldOfAHealthyCard) {
  const auto card = this->card();
  ASSERT_NE(card, nullptr);
  EXPECT_EQ(card->pci(), "0000:3b:00.0");
  EXPECT_EQ(card->uuid(), "GPU-00000000-1111-2222-3333-444444444444");
  EXPECT_EQ(card->text(name), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(card->text(serial), "1650923000123");
  EXPECT_EQ(card->text(part_number), "692-2G520-0200-000");
  EXPECT_EQ(card->text(vbios), "96.00.74.00.01");
  EXPECT_THAT(card->clock_hertz(ClockKind::multiprocessor), Optional(1.755e9));
  EXPECT_THAT(card->clock_hertz(ClockKind::memory), Optional(2.619e9));
  EXPECT_THAT(card->clock_most_hertz(ClockKind::multiprocessor), Optional(1.98e9));
  EXPECT_THAT(card->clock_set_hertz(ClockKind::graphics), Optional(1.98e9));
  EXPECT_THAT(card->clock_reasons(), Optional(4U));
  EXPECT_THAT(card->power_watts(), Optional(DoubleNear(612.345, 1e-9)));
  EXPECT_THAT(card->power_limits().enforced, Optional(DoubleNear(700, 1e-9)));
  EXPECT_THAT(card->power_limits().by_default, Optional(DoubleNear(700, 1e-9)));
  EXPECT_THAT(card->power_limits().least, Optional(DoubleNear(200, 1e-9)));
  EXPECT_THAT(card->power_limits().most, Optional(DoubleNear(700, 1e-9)));
  EXPECT_THAT(card->energy_joules(), Optional(DoubleNear(123456.789, 1e-6)));
  EXPECT_THAT(card->temperature_celsius(), Optional(61.0));
  EXPECT_THAT(card->memory_temperature_celsius(), Optional(72.0));
  EXPECT_THAT(card->busy(), Optional(DoubleNear(0.97, 1e-9)));
}

TEST_F(Nvml, ReadsMemoryErrorsLinksAndModes) {
  const auto card = this->card();
  ASSERT_NE(card, nullptr);
  EXPECT_THAT(card->memory_used(), Optional(4920809984));  // without the 600 MB of the driver
  EXPECT_THAT(card->memory_total(), Optional(85520809984));
  EXPECT_THAT(card->memory_reserved(), Optional(600000000));
  EXPECT_THAT(card->ecc().current, Optional(true));
  EXPECT_THAT(card->ecc_errors(CounterKind::since_boot).corrected, Optional(3));
  EXPECT_THAT(card->ecc_errors(CounterKind::lifetime).corrected, Optional(17));
  EXPECT_THAT(card->ecc_errors(CounterKind::since_boot).uncorrected, Optional(0));
  ASSERT_TRUE(card->remapped_rows());
  EXPECT_EQ(card->remapped_rows()->corrected, 2);
  EXPECT_FALSE(card->remapped_rows()->pending);
  EXPECT_EQ(card->pcie().generation, 5);
  EXPECT_EQ(card->pcie().width, 16);
  EXPECT_EQ(card->pcie().generation_of_card, 5);
  EXPECT_THAT(card->pcie_replays(), Optional(0));
  ASSERT_TRUE(card->links());
  EXPECT_EQ(card->links()->present, 2);
  EXPECT_EQ(card->links()->active, 2);
  EXPECT_EQ(card->links()->version, 4);
  EXPECT_THAT(card->links()->bytes_per_second, Optional(DoubleNear(25.781e9, 1)));
  EXPECT_THAT(card->link_errors(), Optional(11));  // 5 replays of one link and 6 of the other
  EXPECT_THAT(card->mig().current, Optional(false));
  EXPECT_EQ(card->compute_mode(), ComputeMode::shared);
  EXPECT_THAT(card->persistence(), Optional(true));
  EXPECT_EQ(card->virtualisation(), Virtualisation::passthrough);
  ASSERT_TRUE(card->fabric());
  EXPECT_EQ(card->fabric()->state, FabricState::completed);
}

TEST_F(Nvml, OlderWaysAreTakenWhereTheNewerIsMissing) {
  const auto card = this->card(
      "0 nvmlDeviceGetFieldValues/186 error 3\n"
      "0 nvmlDeviceGetMemoryInfo_v2 error 13\n"
      "0 nvmlDeviceGetCurrentClocksEventReasons error 13\n"
      "0 nvmlDeviceGetCurrentClocksThrottleReasons 64\n"
      "0 nvmlDeviceGetGpuFabricInfoV error 25\n"
      "0 nvmlDeviceGetGpuFabricInfo 1 0\n"
      "0 nvmlDeviceGetFieldValues/38 3 7\n"  // all links together
      "0 nvmlDeviceGetRemappedRows error 3\n"
      "0 nvmlDeviceGetRetiredPages/0 4\n"
      "0 nvmlDeviceGetRetiredPages/1 1\n"
      "0 nvmlDeviceGetRetiredPagesPendingStatus 1\n");
  ASSERT_NE(card, nullptr);
  EXPECT_THAT(card->power_watts(), Optional(DoubleNear(598, 1e-9)));
  EXPECT_THAT(card->memory_used(), Optional(5520809984));
  EXPECT_THAT(card->clock_reasons(), Optional(64U));
  EXPECT_EQ(card->fabric()->state, FabricState::not_started);
  EXPECT_THAT(card->link_errors(), Optional(7));
  EXPECT_FALSE(card->remapped_rows());
  EXPECT_THAT(card->retired_pages(), Optional(5));
  EXPECT_THAT(card->retirement_pending(), Optional(true));
}

TEST_F(Nvml, ADeviceThatTellsNothingHasNoZeros) {
  script(machine());  // one device, and no line about it
  const auto all = all_devices(Library::open().library);
  ASSERT_EQ(all.size(), 1U);
  Device& card = *all.front();
  EXPECT_EQ(card.pci(), "");
  EXPECT_EQ(card.uuid(), "");
  EXPECT_EQ(card.text(name), "");
  EXPECT_FALSE(card.clock_hertz(ClockKind::multiprocessor) || card.clock_most_hertz(ClockKind::memory) ||
               card.clock_set_hertz(ClockKind::graphics) || card.clock_reasons());
  EXPECT_FALSE(card.power_watts() || card.energy_joules() || card.temperature_celsius() ||
               card.memory_temperature_celsius() || card.busy());
  EXPECT_FALSE(card.power_limits().enforced || card.power_limits().by_default || card.power_limits().least);
  EXPECT_FALSE(card.memory_used() || card.memory_total() || card.memory_reserved());
  EXPECT_FALSE(card.ecc().current || card.ecc_errors(CounterKind::since_boot).corrected ||
               card.ecc_errors(CounterKind::lifetime).uncorrected || card.remapped_rows() || card.retired_pages() ||
               card.retirement_pending());
  EXPECT_FALSE(card.pcie().generation || card.pcie().width || card.pcie_replays() || card.links() ||
               card.link_errors());
  EXPECT_FALSE(card.mig().current || card.compute_mode() || card.persistence() || card.virtualisation() ||
               card.licensed() || card.fabric());
  EXPECT_EQ(card.mig_instances(), 0);
  EXPECT_FALSE(card.lost());
}

// 0xFFFFFFFF = 4294967295 and 2^64 - 1 are what the library writes where it has no number.
TEST_F(Nvml, SentinelsAndImpossibleNumbersAreUnknown) {
  for (const char* nothing : {"4294967295", "18446744073709551615", "0", "3000000000"}) {
    const std::string n = nothing;
    const auto card = this->card(
        "0 nvmlDeviceGetClockInfo/1 " + n + "\n0 nvmlDeviceGetFieldValues/186 3 " + n + "\n0 nvmlDeviceGetPowerUsage " +
        n + "\n0 nvmlDeviceGetTemperature/0 " + n + "\n0 nvmlDeviceGetFieldValues/82 1 " + n +
        "\n0 nvmlDeviceGetEnforcedPowerLimit " + n + "\n0 nvmlDeviceGetPowerManagementLimitConstraints " + n + " " + n +
        "\n0 nvmlDeviceGetCurrPcieLinkGeneration " + n + "\n0 nvmlDeviceGetCurrPcieLinkWidth " + n + "\n");
    ASSERT_NE(card, nullptr);
    EXPECT_FALSE(card->clock_hertz(ClockKind::multiprocessor)) << n;
    EXPECT_FALSE(card->power_watts()) << n;
    EXPECT_FALSE(card->temperature_celsius()) << n;
    EXPECT_FALSE(card->memory_temperature_celsius()) << n;
    EXPECT_FALSE(card->power_limits().enforced || card->power_limits().least || card->power_limits().most) << n;
    EXPECT_FALSE(card->pcie().generation || card->pcie().width) << n;
  }
  const auto card = this->card(
      "0 nvmlDeviceGetTotalEnergyConsumption 18446744073709551615\n"
      "0 nvmlDeviceGetTotalEccErrors/10 18446744073709551615\n"
      "0 nvmlDeviceGetTotalEccErrors/0 4294967295\n"
      "0 nvmlDeviceGetRemappedRows 4294967295 4294967295 0 0\n"
      "0 nvmlDeviceGetCurrentClocksEventReasons 18446744073709551615\n"
      "0 nvmlDeviceGetPcieReplayCounter 4294967295\n"
      "0 nvmlDeviceGetUtilizationRates 4294967295 0\n"
      "0 nvmlDeviceGetMemoryInfo 0 0 0\n"
      "0 nvmlDeviceGetMemoryInfo_v2 100 0 0 18446744073709551615\n"
      "0 nvmlDeviceGetEccMode 4294967295 4294967295\n"
      "0 nvmlDeviceGetComputeMode 4294967295\n"
      "0 nvmlDeviceGetVirtualizationMode 77\n"
      "0 nvmlDeviceGetGpuFabricInfoV 250 0\n"
      "0 nvmlDeviceGetFieldValues/161 3 18446744073709551615\n"
      "0 nvmlDeviceGetFieldValues/161.1 9 1\n");  // a kind of number that there is not
  ASSERT_NE(card, nullptr);
  EXPECT_FALSE(card->energy_joules() || card->clock_reasons() || card->pcie_replays() || card->busy());
  EXPECT_FALSE(card->ecc_errors(CounterKind::since_boot).uncorrected);
  EXPECT_FALSE(card->ecc_errors(CounterKind::since_boot).corrected);
  EXPECT_FALSE(card->remapped_rows() || card->memory_total() || card->ecc().current || card->compute_mode() ||
               card->virtualisation() || card->fabric() || card->link_errors());
  EXPECT_THAT(card->memory_used(), Optional(0));  // nothing used of nothing, as the older question says
}

TEST_F(Nvml, WordsThatMeanNothingAreNoText) {
  for (const char* nothing : {"N/A", "[N/A]", "Not Available", "[Not Supported]", "Unknown Error", "ERR!", "0", "000"})
    EXPECT_EQ(real_text(nothing), "") << nothing;
  EXPECT_EQ(real_text("96.00.74\x01 "), "96.00.74");
}

TEST_F(Nvml, FieldValuesComeInEveryKindOfNumber) {
  for (const char* kind : {"0", "1", "2", "3", "4", "5", "6"}) {
    const auto card = this->card(std::string("0 nvmlDeviceGetFieldValues/82 ") + kind + " 72\n");
    ASSERT_NE(card, nullptr);
    EXPECT_THAT(card->memory_temperature_celsius(), Optional(72.0)) << "kind " << kind;
  }
}

TEST_F(Nvml, PlacesOnTheBusAreWrittenInOneWay) {
  EXPECT_EQ(plain_pci("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(plain_pci("0000:3b:00.0"), "0000:3b:00.0");
  EXPECT_EQ(plain_pci("3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(plain_pci("00010000:C1:00.0"), "10000:c1:00.0");
  EXPECT_EQ(plain_pci("nonsense"), "");
}

TEST_F(Nvml, ThrottleReasonsAreWords) {
  EXPECT_EQ(throttle_words(0), "none");
  EXPECT_EQ(throttle_words(reason_idle), "none");
  EXPECT_EQ(throttle_words(reason_applications_clocks), "none");
  EXPECT_EQ(throttle_words(0x4), "power cap");
  EXPECT_EQ(throttle_words(0x10), "sync boost");
  EXPECT_EQ(throttle_words(0x20), "thermal (software)");
  EXPECT_EQ(throttle_words(0x100), "display clocks");
  EXPECT_EQ(throttle_words(0x8), "hardware slowdown");
  EXPECT_EQ(throttle_words(0x48), "thermal (hardware)");  // the general bit adds nothing to its own reason
  EXPECT_EQ(throttle_words(0x88), "power brake");
  EXPECT_EQ(throttle_words(0x4 | 0x20 | 0x1), "power cap,thermal (software)");
  EXPECT_EQ(throttle_words(0x1000), "reason 0x1000");
}

}  // namespace
}  // namespace vendor::nvml
