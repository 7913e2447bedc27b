// What the amdgpu kernel driver's files say of cards, over made-up machines.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "gpu/card_files.h"
#include "gpu/card_processes.h"
#include "gpu/card_telemetry.h"
#include "gpu/devices_by_place.h"
#include "gpu/topology.h"
#include "hip/rocm.h"
#include "tests/machine_root.h"

namespace vendor {
namespace {

using assay::MachineRoot;
using testing::SizeIs;

// A node of KFD; 0xc100 is bus c1, device 0, function 0.
void add_node(const MachineRoot& root, int number, int location, const std::string& more) {
  root.file("sys/class/kfd/kfd/topology/nodes/" + std::to_string(number) + "/properties",
            "cpu_cores_count 0\nsimd_count 1216\ndomain 0\nlocation_id " + std::to_string(location) + "\n" + more);
}

void add_cache(const MachineRoot& root, int number, int level, int kibibytes, int type) {
  root.file("sys/class/kfd/kfd/topology/nodes/1/caches/" + std::to_string(number) + "/properties",
            "level " + std::to_string(level) + "\nsize " + std::to_string(kibibytes) + "\ntype " +
                std::to_string(type) + "\n");
}

std::optional<std::string> fact_text(const Topology& topology, const std::string& name) {
  for (const assay::Fact& fact : topology.facts) {
    if (fact.name == name) return fact.text.empty() ? std::to_string(static_cast<int>(fact.value.value())) : fact.text;
  }
  return std::nullopt;
}

TEST(Topology, FindsInfinityCacheAndLeavesScalarAndInstructionCachesOut) {
  MachineRoot root;
  add_node(root, 1, 0xc100, "num_xcc 8\n");
  add_cache(root, 0, 1, 32, 9);  // vector, of one compute unit: data (1) and of a device's processor (8)
  add_cache(root, 1, 1, 32, 9);
  add_cache(root, 2, 1, 16, 9);    // scalar, shared by two compute units
  add_cache(root, 3, 1, 64, 10);   // instructions
  add_cache(root, 4, 2, 4096, 9);  // of one die
  add_cache(root, 5, 3, 262144, 9);
  const Topology found = topology_of("0000:c1:00.0", root.path());
  ASSERT_THAT(found.caches, SizeIs(3));
  EXPECT_EQ(found.caches[0].bytes, 32 * 1024);
  EXPECT_EQ(found.caches[0].instances, 2);
  EXPECT_EQ(found.caches[2].bytes, 268435456);  // 256 MiB
  EXPECT_EQ(fact_text(found, "compute_dies"), "8");
}

TEST(Topology, NamesPartitionModes) {
  MachineRoot root;
  root.file("sys/bus/pci/devices/0000:c1:00.0/current_compute_partition", "CPX\n");
  root.file("sys/bus/pci/devices/0000:c1:00.0/current_memory_partition", "NPS4\n");
  root.file("sys/bus/pci/devices/0000:c1:00.0/numa_node", "-1\n");
  const Topology found = topology_of("0000:c1:00.0", root.path());
  EXPECT_EQ(fact_text(found, "compute_partition"), "CPX");
  EXPECT_EQ(fact_text(found, "memory_partition"), "NPS4");
  EXPECT_EQ(fact_text(found, "numa_node"), std::nullopt);
  EXPECT_EQ(found.memory_pools, 4);
}

TEST(Topology, MemoryIsOnePoolWhereTheDriverSaysNothingElse) {
  MachineRoot root;
  EXPECT_EQ(topology_of("0000:c1:00.0", root.path()).memory_pools, 1);
  for (const auto& [mode, pools] : {std::pair{"NPS1", 1}, {"NPS2", 2}, {"NPS8", 8}, {"UNKNOWN", 1}, {"NPS", 1}}) {
    root.file("sys/bus/pci/devices/0000:c1:00.0/current_memory_partition", mode);
    EXPECT_EQ(topology_of("0000:c1:00.0", root.path()).memory_pools, pools) << mode;
  }
}

TEST(DevicesByPlace, VariablesChooseOneAfterTheOther) {
  MachineRoot root;
  root.file("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 64\nsimd_count 0\n");
  add_node(root, 1, 0xc100, "unique_id 17279655951921914625\n");  // 0xefcdab8967452301
  add_node(root, 2, 0xc900, "");
  add_node(root, 10, 0xd100, "");  // after 2, though "10" is before "2"
  const auto places = [&](const std::string& rocr, const std::string& hip) {
    std::string all;
    const auto environment = [&](const char* name) -> std::optional<std::string> {
      if (std::string(name) == "ROCR_VISIBLE_DEVICES" && rocr != "unset") return rocr;
      if (std::string(name) == "HIP_VISIBLE_DEVICES" && hip != "unset") return hip;
      return std::nullopt;
    };
    for (const PlacedDevice& device : devices_by_place(root.path(), visible_lists(environment)))
      all += device.pci.substr(5, 2) + " ";
    return all;
  };
  EXPECT_EQ(places("unset", "unset"), "c1 c9 d1 ");
  EXPECT_EQ(places("2,1", "unset"), "d1 c9 ");
  EXPECT_EQ(places("2,1", "1"), "c9 ");
  EXPECT_EQ(places("GPU-efcdab8967452301", "unset"), "c1 ");
  EXPECT_EQ(places("0,7,1", "unset"), "c1 ");  // what names nothing ends the list
  EXPECT_EQ(places("", "unset"), "");
}

// Process 100 is ours and 300 somebody else's; 400 has opened another card alone, and 500 holds no memory.
TEST(CardProcesses, ThoseOfOthersAreSeen) {
  MachineRoot root;
  EXPECT_EQ(card_processes("51826", root.path()), std::nullopt);  // the driver lists nothing
  const std::string listed = "sys/class/kfd/kfd/proc/";
  root.file(listed + "100/vram_51826", "4096\n");
  root.file(listed + "300/vram_51826", "8192\n");
  root.file(listed + "400/vram_777", "4096\n");
  root.file(listed + "500/vram_51826", "0\n");
  for (const char* pid : {"100", "300", "400", "500"}) {
    root.file("proc/" + std::string(pid) + "/stat", std::string(pid) + " (someone) S 1 0 0\n");
  }
  std::filesystem::create_directories(root.path() / "proc/self/ns");
  std::filesystem::create_symlink("pid:[4026531836]", root.path() / "proc/self/ns/pid");
  const auto found = card_processes("51826", root.path());
  ASSERT_TRUE(found.has_value());
  EXPECT_THAT(*found, SizeIs(2));
  EXPECT_EQ(Family(root.path(), 100).strangers(*found), 1);
  EXPECT_EQ(Family(root.path(), 100).strangers(*card_processes("777", root.path())), 1);
  EXPECT_THAT(*card_processes("1", root.path()), SizeIs(0));
}

// The first card has no counter of its own, the second one that says 256 J, and the third has left the bus.
TEST(CardTelemetry, TakesEnergyFromElsewhereOnlyWhereTheDriverHasNone) {
  MachineRoot root;
  root.file("sys/bus/pci/devices/0000:c1:00.0/gpu_busy_percent", "50\n");
  std::string metrics(120, '\0');
  metrics[0] = 120;
  metrics[2] = 1;
  metrics[3] = 4;
  metrics[24 + 3] = 1;  // 2^24 counts of 2^-16 J
  root.file("sys/bus/pci/devices/0000:c9:00.0/gpu_metrics", metrics);
  const auto telemetry = card_telemetry(
      {{"0000:c1:00.0", "", ""}, {"0000:c9:00.0", "", ""}, {"0000:d1:00.0", "", ""}},
      [](const std::string&) { return std::optional<double>(7); }, root.path());
  const auto first = telemetry->sample(0);
  EXPECT_EQ(first.energy_joules, 7);
  EXPECT_EQ(first.busy, 0.5);
  EXPECT_THAT(first.conditions, SizeIs(0));
  EXPECT_EQ(telemetry->sample(1).energy_joules, 256);
  EXPECT_THAT(telemetry->sample(2).conditions, testing::ElementsAre("device_lost"));
  EXPECT_FALSE(telemetry->sample(3).energy_joules.has_value()) << "there is no such device";
}

TEST(DevicesByPlace, KnowTheNumberByWhichTheDriverListsProcesses) {
  MachineRoot root;
  add_node(root, 1, 0xc100, "");
  root.file("sys/class/kfd/kfd/topology/nodes/1/gpu_id", "51826\n");
  ASSERT_THAT(devices_by_place(root.path(), {}), SizeIs(1));
  EXPECT_EQ(devices_by_place(root.path(), {})[0].gpu_id, "51826");
}

TEST(CardFiles, ReadsSensorsInTheirUnits) {
  MachineRoot root;
  const std::string card = "sys/bus/pci/devices/0000:c1:00.0/";
  root.file(card + "hwmon/hwmon3/power1_average", "612000000\n");
  root.file(card + "hwmon/hwmon3/freq1_input", "1650000000\n");
  root.file(card + "hwmon/hwmon3/temp1_label", "edge\n");
  root.file(card + "hwmon/hwmon3/temp1_input", "50000\n");
  root.file(card + "hwmon/hwmon3/temp2_label", "junction\n");
  root.file(card + "hwmon/hwmon3/temp2_input", "71000\n");
  root.file(card + "gpu_busy_percent", "87\n");
  root.file(card + "current_link_speed", "32.0 GT/s PCIe\n");
  root.file(card + "current_link_width", "16\n");
  root.file(card + "ras/umc_err_count", "ue: 0\nce: 3\n");
  assay::TelemetrySample sample;
  CardFiles("0000:c1:00.0", root.path()).read(sample);
  EXPECT_DOUBLE_EQ(sample.power_watts.value(), 612);
  EXPECT_DOUBLE_EQ(sample.clock_hertz.value(), 1.65e9);
  EXPECT_DOUBLE_EQ(sample.temperature_celsius.value(), 71);  // where it is hottest
  EXPECT_DOUBLE_EQ(sample.busy.value(), 0.87);
  EXPECT_EQ(sample.pcie_generation, 5);
  EXPECT_EQ(sample.pcie_width, 16);
  EXPECT_FALSE(sample.memory_used.has_value());
  EXPECT_FALSE(sample.throttle.has_value());
  ASSERT_THAT(sample.errors, SizeIs(2));
  EXPECT_EQ(sample.errors[1].count, 3);
}

std::string metrics_of(std::size_t size, char content) {
  std::string metrics(size, '\0');
  metrics[0] = static_cast<char>(size);
  metrics[2] = 1;
  metrics[3] = content;
  return metrics;
}

TEST(CardMetrics, ThrottleBitsAreTakenFromTheLayoutThatHasThem) {
  std::string metrics = metrics_of(120, 3);
  metrics[112] = 1;      // bit 0: package power
  metrics[112 + 4] = 8;  // bit 35: edge temperature
  EXPECT_EQ(throttle_words(metrics_in(metrics).throttle_bits.value()), "power cap,thermal (software)");
  EXPECT_EQ(throttle_words(0), "none");
  metrics[3] = 2;
  EXPECT_FALSE(metrics_in(metrics).throttle_bits.has_value());
  EXPECT_FALSE(metrics_in("").throttle_bits.has_value());
  EXPECT_FALSE(metrics_in(std::string(120, '\xFF')).throttle_bits.has_value());
}

// The kernel's gpu_metrics_v1_6: header 4, three temperatures 6, power 2, activities 4 + 4 * 2 + 32 * 2, then energy at
// 88, a clock of 8, a counter of 4, and from 108 on PROCHOT, power, socket, voltage regulators and HBM, 4 each.
TEST(CardMetrics, Mi300CountsHowLongItWasHeldBack) {
  std::string metrics = metrics_of(200, 6);
  metrics[88 + 2] = 3;  // 3 * 65536 counts of 2^-16 J
  const CardMetrics before = metrics_in(metrics);
  EXPECT_DOUBLE_EQ(before.energy_joules.value(), 3);
  metrics[112] = 5;
  metrics[124] = 1;
  const CardMetrics now = metrics_in(metrics);
  EXPECT_EQ(throttle_words(*before.throttle_counts, *now.throttle_counts), "power cap,thermal (software)");
  EXPECT_EQ(throttle_words(*now.throttle_counts, *now.throttle_counts), "none");
  EXPECT_DOUBLE_EQ(metrics_in([] {
                     std::string older = metrics_of(120, 4);
                     older[24 + 3] = 1;  // 2^24 counts
                     return older;
                   }())
                       .energy_joules.value(),
                   256);
}

TEST(CardFiles, WhatIsCountedBelongsToTheTimeBetweenTwoSamples) {
  MachineRoot root;
  const std::string file = "sys/bus/pci/devices/0000:c1:00.0/gpu_metrics";
  std::string metrics = metrics_of(200, 6);
  CardFiles card("0000:c1:00.0", root.path());
  const auto throttle = [&] {
    root.file(file, metrics);
    assay::TelemetrySample sample;
    card.read(sample);
    return sample.throttle;
  };
  EXPECT_EQ(throttle(), std::nullopt);  // one sample alone says nothing
  EXPECT_EQ(throttle(), "none");
  metrics[108] = 7;
  EXPECT_EQ(throttle(), "thermal (hardware)");
  EXPECT_EQ(throttle(), "none");
}

}  // namespace
}  // namespace vendor
