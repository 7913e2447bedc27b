// Samples, facts and obstacles of NVIDIA devices, over a scripted management library.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/telemetry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/protocol.h"
#include "bench/telemetry_process.h"
#include "cuda/management.h"
#include "tests/cuda/fake_management.h"

namespace vendor {
namespace {

using assay::Fact;
using assay::TelemetrySample;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Optional;

class Telemetry : public FakeManagement {
 protected:
  TelemetrySample sample(const std::string& more = "") {
    script(machine() + healthy() + more);
    return make_telemetry()->sample(0);
  }
  std::vector<Fact> facts(const std::string& more = "", const std::string& uuid = "") {
    script(machine() + healthy() + more);
    return management_facts("0000:3b:00.0", uuid);
  }
  std::string problem(const std::string& more) {
    script(machine() + healthy() + more);
    return management_obstacle().problem;
  }
  static const Fact* find(const std::vector<Fact>& facts, const std::string& name) {
    for (const Fact& fact : facts)
      if (fact.name == name) return &fact;
    return nullptr;
  }
  static std::int64_t count(const TelemetrySample& sample, const std::string& name) {
    for (const assay::ErrorCount& error : sample.errors)
      if (error.name == name) return error.count;
    return -1;
  }
};

TEST_F(Telemetry, ASampleHasAllThatACardTells) {
  const TelemetrySample now = sample();
  EXPECT_GT(now.time, 0);
  EXPECT_THAT(now.clock_hertz, Optional(1.755e9));
  EXPECT_THAT(now.memory_clock_hertz, Optional(2.619e9));
  EXPECT_NEAR(now.power_watts.value_or(0), 612.345, 1e-9);
  EXPECT_NEAR(now.energy_joules.value_or(0), 123456.789, 1e-6);
  EXPECT_THAT(now.temperature_celsius, Optional(61.0));
  EXPECT_THAT(now.memory_temperature_celsius, Optional(72.0));
  EXPECT_THAT(now.throttle, Optional(std::string("power cap")));
  EXPECT_THAT(now.memory_used, Optional(4920809984));
  EXPECT_NEAR(now.busy.value_or(0), 0.97, 1e-9);
  EXPECT_EQ(now.pcie_generation, 5);
  EXPECT_EQ(now.pcie_width_most, 16);
  EXPECT_EQ(count(now, "ecc_errors"), 0);
  EXPECT_EQ(count(now, "ecc_corrected"), 3);
  EXPECT_EQ(count(now, "rows_remapped"), 2);
  EXPECT_EQ(count(now, "link_errors"), 11);
  EXPECT_EQ(count(now, "pcie_replays"), 0);
  EXPECT_THAT(now.conditions, IsEmpty());
}

TEST_F(Telemetry, WithoutALibraryEverythingIsUnknown) {
  setenv("ASSAY_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  const TelemetrySample now = make_telemetry()->sample(0);
  EXPECT_GT(now.time, 0);
  EXPECT_FALSE(now.clock_hertz || now.power_watts || now.temperature_celsius || now.throttle || now.memory_used);
  const auto facts = management_facts("0000:3b:00.0");
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_THAT(facts[0].reason, HasSubstr("was not found"));
  EXPECT_EQ(management_obstacle().problem, "");  // that is for the driver library to say
}

TEST_F(Telemetry, NumbersOutsideOfTheListAreUnknown) {
  script(machine() + healthy());
  const auto telemetry = make_telemetry();
  EXPECT_FALSE(telemetry->sample(-1).clock_hertz);
  EXPECT_FALSE(telemetry->sample(1).clock_hertz);
}

TEST_F(Telemetry, XidsAndALostCardAreConditions) {
  EXPECT_THAT(sample("0 nvmlEventSetWait_v2 79\n").conditions, Contains("xid_79"));
  const TelemetrySample lost = sample("0 nvmlDeviceGetClockInfo/1 error 15\n");
  EXPECT_THAT(lost.conditions, Contains("device_lost"));
  EXPECT_FALSE(lost.power_watts);
}

TEST_F(Telemetry, XidsOfAnotherDeviceWaitForItsTurn) {
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  script(machine(2) + healthy(0, "18") + healthy(1, "3B") + "1 nvmlEventSetWait_v2 48\n");
  const auto telemetry = make_telemetry();
  EXPECT_THAT(telemetry->sample(0).conditions, IsEmpty());
  EXPECT_THAT(telemetry->sample(1).conditions, Contains("xid_48"));
  EXPECT_THAT(telemetry->sample(1).conditions, IsEmpty());
}

TEST_F(Telemetry, ASampleSurvivesTheWayBetweenProcesses) {
  const TelemetrySample sent = sample("0 nvmlEventSetWait_v2 79\n");
  const TelemetrySample heard = assay::sample_from(assay::to_json(sent));
  EXPECT_EQ(heard.memory_temperature_celsius, sent.memory_temperature_celsius);
  EXPECT_EQ(heard.busy, sent.busy);
  EXPECT_EQ(heard.pcie_generation, sent.pcie_generation);
  EXPECT_EQ(heard.pcie_width, sent.pcie_width);
  EXPECT_EQ(heard.pcie_generation_most, sent.pcie_generation_most);
  EXPECT_EQ(heard.pcie_width_most, sent.pcie_width_most);
  EXPECT_EQ(heard.conditions, sent.conditions);
  EXPECT_EQ(count(heard, "link_errors"), 11);
  EXPECT_THAT(assay::sample_from(assay::to_json(TelemetrySample{})).errors, IsEmpty());
}

TEST_F(Telemetry, AHealthyCardHasFactsWithoutRemarks) {
  const auto all = facts();
  for (const char* name : {"management_library",
                           "driver_version",
                           "driver_cuda_version",
                           "vbios_version",
                           "board_part_number",
                           "board_serial",
                           "mig",
                           "virtualisation",
                           "compute_mode",
                           "persistence_mode",
                           "fabric",
                           "confidential_computing",
                           "power_limit_watts",
                           "power_limit_most_watts",
                           "clock_most_hertz",
                           "ecc",
                           "ecc_uncorrected_since_boot",
                           "ecc_corrected_ever",
                           "rows_remapped_uncorrected",
                           "row_remap_pending",
                           "pcie_generation_most",
                           "pcie_width",
                           "nvlink_active",
                           "nvlink_link_bytes_per_second",
                           "nvlink_errors",
                           "memory_in_use_bytes"}) {
    ASSERT_NE(find(all, name), nullptr) << name;
  }
  EXPECT_EQ(find(all, "driver_cuda_version")->text, "12.4");
  EXPECT_EQ(find(all, "virtualisation")->text, "passthrough");
  EXPECT_EQ(find(all, "fabric")->text, "registered");
  EXPECT_THAT(find(all, "power_limit_watts")->value, Optional(700.0));
  for (const Fact& fact : all)
    EXPECT_TRUE(fact.reason.empty() || fact.name == "memory_in_use_bytes") << fact.name << ": " << fact.reason;
  // 4.9 GB are in use, and no process is listed that has them.
  EXPECT_THAT(find(all, "memory_in_use_bytes")->reason, HasSubstr("no process is visible"));
}

TEST_F(Telemetry, WhatIsRemarkableIsSaid) {
  const auto reason = [&](const std::string& more, const std::string& name) {
    const auto all = facts(more);
    const Fact* fact = find(all, name);
    return fact == nullptr ? "no fact" : fact->reason;
  };
  EXPECT_THAT(reason("0 nvmlDeviceGetEnforcedPowerLimit 240000\n", "power_limit_watts"), HasSubstr("700 W"));
  EXPECT_THAT(reason("0 nvmlDeviceGetTotalEccErrors/10 2\n", "ecc_uncorrected_since_boot"), HasSubstr("do not rent"));
  EXPECT_THAT(reason("0 nvmlDeviceGetRemappedRows 2 1 1 0\n", "row_remap_pending"), HasSubstr("reset"));
  EXPECT_THAT(reason("0 nvmlDeviceGetRemappedRows 2 1 0 1\n", "row_remap_failed"), HasSubstr("replaced"));
  EXPECT_THAT(reason("0 nvmlDeviceGetMaxPcieLinkGeneration 4\n", "pcie_generation_most"), HasSubstr("generation 5"));
  EXPECT_THAT(reason("0 nvmlDeviceGetCurrPcieLinkWidth 8\n", "pcie_width"), HasSubstr("the 16"));
  EXPECT_THAT(reason("0 nvmlDeviceGetNvLinkState/1 0\n", "nvlink_active"), HasSubstr("1 of 2"));
  EXPECT_THAT(reason("0 nvmlDeviceGetPersistenceMode 0\n", "persistence_mode"), HasSubstr("seconds"));
  EXPECT_THAT(reason("0 nvmlDeviceGetComputeMode 2\n", "compute_mode"), HasSubstr("--compute-mode=0"));
  EXPECT_THAT(reason("0 nvmlDeviceGetGpuFabricInfoV 1 0\n", "fabric"), HasSubstr("802"));
  EXPECT_THAT(reason("0 nvmlDeviceGetVirtualizationMode 2\n", "virtualisation"), HasSubstr("share of a card"));
  EXPECT_THAT(
      reason("0 nvmlDeviceGetVirtualizationMode 2\n0 nvmlDeviceGetGridLicensableFeatures_v4 1 1 0\n", "vgpu_licence"),
      HasSubstr("unlicensed"));
  EXPECT_THAT(reason("- nvmlSystemGetConfComputeState 2 1 0\n", "confidential_computing"), HasSubstr("encrypted"));
  EXPECT_THAT(reason("0 nvmlDeviceGetEccMode 1 0\n", "ecc_after_reset"), HasSubstr("next reset"));
  EXPECT_THAT(reason("0 nvmlDeviceGetApplicationsClock/0 1200\n0 nvmlDeviceGetCurrentClocksEventReasons 2\n",
                     "clock_set_hertz"),
              HasSubstr("below"));
}

TEST_F(Telemetry, AnUnregisteredFabricFailsWithReason) {
  const auto all = facts("0 nvmlDeviceGetGpuFabricInfoV 3 18\n");
  EXPECT_EQ(find(all, "fabric")->text, "registration failed");
  EXPECT_THAT(find(all, "fabric")->reason, HasSubstr("different versions"));
}

TEST_F(Telemetry, ASliceIsCalledASlice) {
  const auto all = facts(
      "0 nvmlDeviceGetMigMode 1 1\n101 nvmlDeviceGetUUID MIG-abcdef01-1111-2222-3333-444444444444\n"
      "101 nvmlDeviceGetAttributes_v2 26 2 0 0 0 0 2 2 19968\n",
      "MIG-abcdef01-1111-2222-3333-444444444444");
  ASSERT_NE(find(all, "mig"), nullptr);
  EXPECT_THAT(find(all, "mig")->text, HasSubstr("slice"));
  EXPECT_THAT(find(all, "mig_multiprocessors")->value, Optional(26.0));
  EXPECT_THAT(find(all, "mig_memory_bytes")->value, Optional(19968.0 * 1024 * 1024));
}

TEST_F(Telemetry, ObstaclesAreNamedWithTheirCure) {
  EXPECT_EQ(problem(""), "");
  EXPECT_THAT(problem("0 nvmlDeviceGetComputeMode 2\n"), HasSubstr("prohibited"));
  EXPECT_THAT(problem("0 nvmlDeviceGetMigMode 1 1\n"), HasSubstr("MIG mode but has no instance"));
  EXPECT_EQ(problem("0 nvmlDeviceGetMigMode 1 1\n101 nvmlDeviceGetUUID MIG-1\n"), "");
  EXPECT_THAT(problem("0 nvmlDeviceGetGpuFabricInfoV 1 0\n"), HasSubstr("fabric manager"));
  EXPECT_THAT(problem("0 nvmlDeviceGetGpuFabricInfoV 2 0\n"), HasSubstr("802"));
  EXPECT_THAT(problem("0 nvmlDeviceGetGpuFabricInfoV 3 999\n"), HasSubstr("could not join"));
  EXPECT_EQ(problem("0 nvmlDeviceGetComputeMode 3\n"), "");  // exclusive, and free
  EXPECT_THAT(problem("0 nvmlDeviceGetComputeMode 3\n0 nvmlDeviceGetComputeRunningProcesses_v3 24 77\n"),
              HasSubstr("exclusive"));
  EXPECT_THAT(problem("0 nvmlDeviceGetComputeMode error 15\n"), HasSubstr("lost the GPU"));
  EXPECT_THAT(problem("0 nvmlDeviceGetMigMode error 16\n"), HasSubstr("needs a reset"));
  EXPECT_THAT(problem("- nvmlDeviceGetCount_v2 0\n"), HasSubstr("shows no GPU"));
  EXPECT_THAT(management_obstacle().cure, HasSubstr("--gpus all"));
}

}  // namespace
}  // namespace vendor
