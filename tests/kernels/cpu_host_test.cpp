// How the CPU plug-in sees its host: made-up /proc and /sys trees, surveys with scripted memory, telemetry.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/survey.h"
#include "kernels/cpu/telemetry.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MadeUpHost : public ::testing::Test {
 protected:
  MadeUpHost() {
    root_ = std::filesystem::temp_directory_path() / ("assay_cpu_host_" + std::to_string(getpid()) + "_" +
                                                      ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(root_);
  }
  ~MadeUpHost() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& content) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
  }

  // Four cores of which 0 and 1 are allowed; 16 GiB.
  void put_basics(const std::string& flags) const {
    std::string cpuinfo;
    for (int processor = 0; processor < 4; ++processor) {
      cpuinfo += "processor\t: " + std::to_string(processor) +
                 "\nvendor_id\t: GenuineIntel\nmodel name\t: Made Up 9000\n" +
                 "cpu MHz\t\t: " + std::to_string(2000 + 100 * processor) + ".000\nflags\t\t: fpu " + flags + "\n\n";
    }
    put("proc/cpuinfo", cpuinfo);
    put("proc/meminfo", "MemTotal:       16777216 kB\nMemAvailable:    8388608 kB\n");
    put("proc/self/status", "Name:\tassay\nCpus_allowed_list:\t0-1\n");
    put("proc/sys/kernel/osrelease", "6.1.0-made-up\n");
    put("sys/devices/system/cpu/online", "0-3\n");
  }

  void put_cache(int processor, int index, int level, const std::string& type, const std::string& size,
                 const std::string& shared) const {
    const std::string folder =
        "sys/devices/system/cpu/cpu" + std::to_string(processor) + "/cache/index" + std::to_string(index) + "/";
    put(folder + "level", std::to_string(level) + "\n");
    put(folder + "type", type + "\n");
    put(folder + "size", size + "\n");
    put(folder + "shared_cpu_list", shared + "\n");
  }

  std::filesystem::path root_;
};

const Fact* fact_named(const std::vector<Fact>& facts, const std::string& name) {
  for (const Fact& fact : facts) {
    if (fact.name == name) {
      return &fact;
    }
  }
  return nullptr;
}

cpu::Features features_v3() {
  cpu::Features features;
  features.vendor = "GenuineIntel";
  features.level = "x86-64-v3";
  return features;
}

TEST_F(MadeUpHost, IsDescribedAsOneDevice) {
  put_basics("hypervisor");
  cpu::BackendSetup setup;
  setup.root = root_;
  setup.features = features_v3();
  const auto devices = cpu::make_backend(setup)->devices();
  ASSERT_EQ(devices.size(), 1U);
  const DeviceInfo& device = devices.front();
  EXPECT_EQ(device.id, "cpu:0");
  EXPECT_EQ(device.name, "Made Up 9000");
  EXPECT_EQ(device.vendor, "Intel");
  EXPECT_EQ(device.architecture, "x86-64-v3");
  EXPECT_EQ(device.driver, "Linux 6.1.0-made-up");
  EXPECT_EQ(device.compute_units, 2);
  EXPECT_EQ(device.memory_total, std::int64_t{16} << 30);
  EXPECT_EQ(device.memory_available, std::int64_t{8} << 30);
  EXPECT_FALSE(device.clock_hertz.has_value());  // a virtual machine without cpufreq: not known, and not 0
}

TEST_F(MadeUpHost, HasItsHighestClockFromTheGovernor) {
  put_basics("");
  put("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3800000\n");
  const DeviceInfo device = cpu::describe_processor(root_, host_limits(root_), features_v3(), {});
  EXPECT_EQ(device.clock_hertz, 3.8e9);  // the file is in kHz
}

TEST_F(MadeUpHost, HasItsCachesCountedWithinTheAllowedCores) {
  for (int processor = 0; processor < 4; ++processor) {
    const std::string self = std::to_string(processor);
    put_cache(processor, 0, 1, "Data", "48K", self);
    put_cache(processor, 1, 1, "Instruction", "32K", self);
    put_cache(processor, 2, 2, "Unified", "2048K", processor < 2 ? "0-1" : "2-3");
    put_cache(processor, 3, 3, "Unified", "32M", "0-3");
  }
  const auto caches = cpu::find_caches(root_, {0, 1});
  ASSERT_EQ(caches.size(), 3U);
  EXPECT_EQ(caches[0].level, 1);
  EXPECT_EQ(caches[0].bytes, 48 << 10);
  EXPECT_EQ(caches[0].instances, 2);
  EXPECT_EQ(caches[1].bytes, 2 << 20);
  EXPECT_EQ(caches[1].instances, 1);
  EXPECT_EQ(caches[2].bytes, 32 << 20);
  EXPECT_EQ(caches[2].instances, 1);
}

TEST_F(MadeUpHost, IsDoubtedWhereItShowsTheCacheOfAWholeSocket) {
  put_basics("hypervisor");
  for (int processor = 0; processor < 2; ++processor) {
    put_cache(processor, 3, 3, "Unified", "260M", "0-1");
  }
  const DeviceInfo device = cpu::describe_processor(root_, host_limits(root_), features_v3(), {});
  const Fact* fact = fact_named(device.facts, "last_level_cache_bytes_per_core");
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->value, 130.0 * (1 << 20));  // 260 MiB over two cores
  EXPECT_THAT(fact->reason, HasSubstr("whole socket"));
}

TEST_F(MadeUpHost, WithALimitOffersNoMoreThanTheLimit) {
  put_basics("");
  put("proc/self/cgroup", "0::/\n");
  put("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  put("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  put("sys/fs/cgroup/memory.max", "2147483648\n");
  put("sys/fs/cgroup/memory.current", "1073741824\n");
  put("sys/fs/cgroup/memory.stat", "inactive_file 0\n");
  put("sys/fs/cgroup/cpu.max", "50000 100000\n");
  cpu::BackendSetup setup;
  setup.root = root_;
  const auto backend = cpu::make_backend(setup);
  const DeviceInfo device = backend->devices().front();
  EXPECT_EQ(device.memory_total, std::int64_t{2} << 30);
  EXPECT_EQ(device.memory_available, std::int64_t{1} << 30);
  EXPECT_EQ(device.compute_units, 1);  // half a core
  // 2^27 fp64 and again as many: 2 GiB do not fit into the 1 GiB that is left.
  EXPECT_THROW(backend->prepare(single(parse_op("stream kind=copy count=134217728 format=fp64")), 0, {}), OutOfMemory);
}

TEST(CpuDevice, OfThisMachineIsFoundWithoutOpeningALibrary) {
  cpu::BackendSetup setup;
  const auto backend = cpu::make_backend(setup);
  const auto devices = backend->devices();
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_FALSE(devices.front().name.empty());
  EXPECT_GE(devices.front().compute_units.value_or(0), 1);
  std::ifstream maps("/proc/self/maps");
  const std::string all((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
  EXPECT_THAT(all, ::testing::Not(HasSubstr("libdnnl")));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("libopenblas")));
}

// Memory as a script: each look takes the next entry, the last one stays.
cpu::CapacityLimits scripted(std::vector<std::int64_t> usable_mebibytes) {
  cpu::CapacityLimits limits;
  limits.step = std::int64_t{1} << 20;
  limits.margin = std::int64_t{2} << 20;
  limits.look = [usable_mebibytes, at = std::size_t{0}]() mutable {
    HostLimits host;
    host.memory_total = std::int64_t{100} << 20;
    host.memory_available = usable_mebibytes[std::min(at++, usable_mebibytes.size() - 1)] << 20;
    return host;
  };
  limits.clock = [] { return 0.0; };
  return limits;
}

double mebibytes(const std::vector<Fact>& facts, const std::string& name) {
  return fact_named(facts, name)->value.value_or(-1) / (1 << 20);
}

TEST(CpuCapacity, StopsAtItsShareOfWhatIsUsable) {
  const auto facts = cpu::survey_capacity(scripted({10}), 1);
  EXPECT_EQ(mebibytes(facts, "touched_bytes"), 6);  // 60 % of 10
  EXPECT_THAT(fact_named(facts, "touched_bytes")->reason, HasSubstr("60 %"));
  EXPECT_EQ(mebibytes(facts, "usable_bytes"), 10);
}

TEST(CpuCapacity, StopsWhereOthersTakeTheMemoryMeanwhile) {
  // The start, then one look before each step: the third finds less than a step and the margin.
  const auto facts = cpu::survey_capacity(scripted({50, 49, 48, 2}), 1);
  EXPECT_EQ(mebibytes(facts, "touched_bytes"), 2);
  EXPECT_THAT(fact_named(facts, "touched_bytes")->reason, HasSubstr("would have been left"));
}

TEST(CpuCapacity, StopsWhenItsTimeIsOver) {
  auto limits = scripted({50});
  limits.seconds = 1;
  limits.clock = [now = 0.0]() mutable { return now += 0.3; };  // each look at the clock takes 0.3 s
  const auto facts = cpu::survey_capacity(limits, 1);
  // Started at 0.3; before the steps it is 0.6, 0.9, 1.2 (0.9 s after the start), then 1.5, which is too late.
  EXPECT_EQ(mebibytes(facts, "touched_bytes"), 3);
  EXPECT_THAT(fact_named(facts, "touched_bytes")->reason, HasSubstr("time was over"));
}

TEST(CpuCapacity, CountsWhatIsLeftBeyondTheMarginAsAllocatable) {
  // 50 at the start; when 2 have been touched, 9 are still usable, 2 of which are the margin: 2 + 7.
  auto limits = scripted({50, 49, 48, 9});
  limits.seconds = 1;
  limits.clock = [now = 0.0]() mutable { return now += 0.4; };  // 0.4; then 0.8, 1.2, 1.6, of which 1.6 is too late
  const auto facts = cpu::survey_capacity(limits, 1);
  EXPECT_EQ(mebibytes(facts, "touched_bytes"), 2);
  EXPECT_EQ(mebibytes(facts, "allocatable_bytes"), 9);
}

// The script promises four pebibytes, but one step is more than an address space holds (128 TiB): the system refuses
// it.
TEST(CpuCapacity, CountsNothingBeyondARefusal) {
  auto limits = scripted({std::int64_t{4} << 30});
  limits.step = std::int64_t{1} << 50;
  const auto facts = cpu::survey_capacity(limits, 1);
  EXPECT_EQ(mebibytes(facts, "touched_bytes"), 0);
  EXPECT_EQ(mebibytes(facts, "allocatable_bytes"), 0);
  EXPECT_THAT(fact_named(facts, "allocatable_bytes")->reason, HasSubstr("refused"));
}

TEST(CpuCapacity, TakesNothingWhereNothingIsUsable) {
  const auto facts = cpu::survey_capacity(scripted({0}), 1);
  EXPECT_EQ(mebibytes(facts, "touched_bytes"), 0);
}

TEST(CpuSurvey, AnswersEveryQuestion) {
  const auto backend = cpu::make_backend();
  for (const Question question : {Question::context_cost, Question::rounding, Question::limits}) {
    const auto facts = backend->survey(question, 0);
    EXPECT_FALSE(facts.empty());
    for (const Fact& fact : facts) {
      EXPECT_FALSE(fact.name.empty());
      EXPECT_TRUE(fact.value || !fact.text.empty() || !fact.reason.empty()) << fact.name;
    }
  }
  EXPECT_THROW(backend->survey(Question::limits, 3), Error);
}

TEST_F(MadeUpHost, ShowsClockTemperatureAndMemoryWhileItWorks) {
  put_basics("");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3000000\n");
  put("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "2000000\n");
  put("sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "1000000\n");  // not allowed, so it does not count
  put("sys/class/hwmon/hwmon0/name", "nvme\n");
  put("sys/class/hwmon/hwmon0/temp1_input", "30000\n");
  put("sys/class/hwmon/hwmon1/name", "coretemp\n");
  put("sys/class/hwmon/hwmon1/temp1_input", "61500\n");
  const TelemetrySample sample = cpu::make_telemetry(root_)->sample(0);
  EXPECT_EQ(sample.clock_hertz, 2.5e9);
  EXPECT_EQ(sample.temperature_celsius, 61.5);
  EXPECT_EQ(sample.memory_used, std::int64_t{8} << 30);
  EXPECT_FALSE(sample.power_watts.has_value());
  EXPECT_GT(sample.time, 0);
}

TEST_F(MadeUpHost, HasAnUnknownClockInAVirtualMachineThatShowsAConstant) {
  put_basics("hypervisor");
  EXPECT_FALSE(cpu::make_telemetry(root_)->sample(0).clock_hertz.has_value());
}

TEST_F(MadeUpHost, HasTheClockOfProcCpuinfoOnARealMachineWithoutAGovernor) {
  put_basics("");
  EXPECT_EQ(cpu::make_telemetry(root_)->sample(0).clock_hertz, 2.05e9);  // cores 0 and 1 at 2000 and 2100 MHz
}

TEST_F(MadeUpHost, AddsUpTheEnergyOfItsSocketsAlsoWhenACounterStartsAgain) {
  put_basics("");
  for (const char* socket : {"0", "1"}) {
    const std::string folder = std::string("sys/class/powercap/intel-rapl:") + socket + "/";
    put(folder + "name", std::string("package-") + socket + "\n");
    put(folder + "max_energy_range_uj", "1000000000\n");  // 1000 J
    put(folder + "energy_uj", "999000000\n");
  }
  put("sys/class/powercap/intel-rapl:0:0/name", "core\n");  // part of its socket
  put("sys/class/powercap/intel-rapl:0:0/max_energy_range_uj", "1000000000\n");
  put("sys/class/powercap/intel-rapl:0:0/energy_uj", "5000000\n");
  const auto telemetry = cpu::make_telemetry(root_);
  put("sys/class/powercap/intel-rapl:0/energy_uj", "999500000\n");  // 0.5 J more
  put("sys/class/powercap/intel-rapl:1/energy_uj", "2000000\n");    // 1 J to the end and 2 J from the start
  const TelemetrySample sample = telemetry->sample(0);
  ASSERT_TRUE(sample.energy_joules.has_value());
  EXPECT_NEAR(*sample.energy_joules, 3.5, 1e-9);
}

}  // namespace
}  // namespace assay
