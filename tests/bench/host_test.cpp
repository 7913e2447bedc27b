// The surveys of the host, on made-up machines and on folders of this one.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>

#include "bench/host_storage.h"
#include "bench/host_survey.h"
#include "core/error.h"
#include "tests/machine_root.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

const Fact& fact(const std::vector<Fact>& facts, const std::string& name) {
  static const Fact none;
  for (const Fact& found : facts) {
    if (found.name == name) return found;
  }
  ADD_FAILURE() << "no fact " << name;
  return none;
}

// Eight cores of which a container may use four, and of those two and a half by quota; 64 GB with a limit of 16.
class SmallContainer : public ::testing::Test {
 protected:
  SmallContainer() {
    root_.file("sys/devices/system/cpu/online", "0-7\n");
    root_.file("proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-3\n");
    root_.file("proc/self/cgroup", "0::/box\n");
    root_.file("proc/loadavg", "0.52 0.31 0.2 1/200 999\n");
    root_.file("proc/meminfo", "MemTotal:       64000000 kB\nMemAvailable:   50000000 kB\nSwapTotal:       1000 kB\n");
    root_.file("proc/self/mountinfo",
               "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
    root_.file("sys/fs/cgroup/box/cpu.max", "250000 100000\n");
    root_.file("sys/fs/cgroup/box/memory.max", "16000000000\n");
    root_.file("sys/fs/cgroup/box/memory.current", "6000000000\n");
    root_.file("sys/fs/cgroup/box/memory.stat", "inactive_file 1000000000\n");
    root_.file("sys/fs/cgroup/box/pids.max", "512\n");
    std::filesystem::create_directories(root_.path() / "dev/shm");
  }

  std::vector<Fact> survey(const std::string& name) { return survey_host(name, {root_.path(), "", 0}); }

  MachineRoot root_;
};

TEST_F(SmallContainer, CountsTheCoresThatMayBeUsed) {
  const auto facts = survey("cpu");
  EXPECT_EQ(fact(facts, "cores_online").value, 8);
  EXPECT_EQ(fact(facts, "cores_allowed").value, 4);
  EXPECT_EQ(fact(facts, "cpu_quota_cores").value, 2.5);
  EXPECT_EQ(fact(facts, "usable_threads").value, 3);  // two and a half, rounded up
  EXPECT_THAT(fact(facts, "usable_threads").reason, HasSubstr("may use 3 of the machine's 8 cores"));
  EXPECT_EQ(fact(facts, "load_average").value, 0.52);
}

TEST_F(SmallContainer, CountsTheMemoryThatMayBeUsed) {
  const auto facts = survey("memory");
  EXPECT_EQ(fact(facts, "memory_total_bytes").value, 64000000.0 * 1024);
  EXPECT_EQ(fact(facts, "memory_limit_bytes").value, 16e9);
  EXPECT_EQ(fact(facts, "usable_memory_bytes").value, 11e9);  // 16 - (6 - 1): the page cache would be given back
  EXPECT_EQ(fact(facts, "swap_bytes").value, 1000.0 * 1024);
}

TEST_F(SmallContainer, ReportsProcessAndFileLimits) {
  const auto facts = survey("processes");
  EXPECT_EQ(fact(facts, "processes_limit").value, 512);
  for (const char* name : {"open_files_limit", "locked_memory_limit_bytes", "user_processes_limit"}) {
    EXPECT_TRUE(fact(facts, name).value || fact(facts, name).text == "no limit") << name;
  }
}

TEST_F(SmallContainer, TriesSharedMemoryAndLeavesNothingThere) {
  const auto facts = survey("shared_memory");
  EXPECT_GT(fact(facts, "shared_memory_bytes").value.value_or(0), 0);
  EXPECT_EQ(fact(facts, "shared_memory_writable").value, 1);
  EXPECT_TRUE(std::filesystem::is_empty(root_.path() / "dev/shm"));
}

TEST(HostSurvey, SaysWhyThereIsNoSharedMemory) {
  const MachineRoot empty;
  const auto facts = survey_host("shared_memory", {empty.path(), "", 0});
  EXPECT_FALSE(fact(facts, "shared_memory_bytes").value);
  EXPECT_THAT(fact(facts, "shared_memory_bytes").reason, HasSubstr("/dev/shm cannot be looked at"));
}

TEST(HostSurvey, KnowsItsNamesOnly) {
  const MachineRoot empty;
  for (const std::string& name : host_surveys()) {
    EXPECT_FALSE(survey_host(name, {empty.path(), "", 0}).empty()) << name;
  }
  EXPECT_THROW(survey_host("weather", {}), Error);
}

TEST(Storage, MeasuresAFolderAndLeavesNothingBehind) {
  const MachineRoot folder;
  const auto facts = survey_storage(folder.path(), 32 << 20);
  EXPECT_NE(fact(facts, "storage_filesystem").text, "");
  EXPECT_GT(fact(facts, "storage_free_bytes").value.value_or(0), 0);
  for (const char* name : {"storage_write_bytes_per_second", "storage_read_bytes_per_second"}) {
    // In a container the folder may be in memory; then the fact says so.
    const Fact& rate = fact(facts, name);
    EXPECT_TRUE(rate.value ? *rate.value > 0 : !rate.reason.empty()) << name;
    EXPECT_EQ(rate.unit, "bytes_per_second");
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Storage, DoesNotCallMemoryStorage) {
  const std::filesystem::path folder = "/dev/shm";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no /dev/shm here";
  const auto facts = survey_storage(folder, 32 << 20);
  if (fact(facts, "storage_filesystem").text != "tmpfs") GTEST_SKIP() << "/dev/shm is no tmpfs here";
  EXPECT_FALSE(fact(facts, "storage_write_bytes_per_second").value);
  EXPECT_THAT(fact(facts, "storage_write_bytes_per_second").reason, HasSubstr("in memory"));
}

TEST(Storage, SaysWhyAFolderCannotBeMeasured) {
  const auto missing = survey_storage("/no/such/folder", 32 << 20);
  EXPECT_THAT(fact(missing, "storage_write_bytes_per_second").reason, HasSubstr("/no/such/folder cannot be looked at"));
  const auto none = survey_storage("", 32 << 20);
  EXPECT_THAT(fact(none, "storage_read_bytes_per_second").reason, HasSubstr("no folder"));
  const MachineRoot folder;
  const auto few = survey_storage(folder.path(), 1 << 20);
  EXPECT_FALSE(fact(few, "storage_write_bytes_per_second").value);
  EXPECT_NE(fact(few, "storage_write_bytes_per_second").reason, "");
}

}  // namespace
}  // namespace assay
