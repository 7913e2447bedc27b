// Limits of made-up hosts: control groups v1, v2, nested, hybrid, hidden and absent; and who else uses the cores.
// SPDX-License-Identifier: Apache-2.0
#include "core/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "core/control_groups.h"
#include "tests/machine_root.h"

namespace assay {
namespace {

using testing::HasSubstr;

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

const Fact& fact(const HostLimits& limits, const std::string& name) {
  for (const Fact& one : limits.facts) {
    if (one.name == name) return one;
  }
  static const Fact none;
  ADD_FAILURE() << "no fact " << name;
  return none;
}

// Eight cores, of which this process may use 0 to 3 and 6; 64 GiB of which 48 are available.
void plain_machine(const MachineRoot& root) {
  root.file("sys/devices/system/cpu/online", "0-7\n");
  root.file("proc/self/status", "Name:\tassay\nCpus_allowed:\t4f\nCpus_allowed_list:\t0-3,6\nMems_allowed_list:\t0\n");
  root.file("proc/meminfo", "MemTotal:       67108864 kB\nMemFree:         1000000 kB\nMemAvailable:   50331648 kB\n");
}

void unified(const MachineRoot& root, const std::string& group) {
  root.file("proc/self/cgroup", "0::" + group + "\n");
  root.file("proc/self/mountinfo",
            "21 20 0:5 / /proc rw - proc proc rw\n"
            "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
}

TEST(Host, WithoutControlGroupsGivesWhatTheMachineHas) {
  const MachineRoot root;
  plain_machine(root);
  const HostLimits limits = host_limits(root.path());
  EXPECT_EQ(limits.cores_online, 8);
  EXPECT_EQ(limits.cores_affinity, 5);
  EXPECT_FALSE(limits.cores_quota.has_value());
  EXPECT_EQ(limits.memory_total, 64 * gibibyte);
  EXPECT_EQ(limits.memory_available, 48 * gibibyte);
  EXPECT_FALSE(limits.memory_limit.has_value());
  EXPECT_FALSE(limits.processes_limit.has_value());
  EXPECT_EQ(usable_threads(limits), 5);
  EXPECT_EQ(usable_memory(limits), 48 * gibibyte);
  EXPECT_FALSE(fact(limits, "cpu_quota_cores").value.has_value());
  EXPECT_THAT(fact(limits, "cpu_quota_cores").reason, HasSubstr("no control group of the cpu controller is visible"));
}

TEST(Host, TakesTheTightestOfAllAncestors) {
  const MachineRoot root;
  plain_machine(root);
  unified(root, "/kube/pod/box");
  // The quota is tightest in the middle (150 ms of each 50 ms: 3 cores), memory at the top, processes at the bottom.
  root.file("sys/fs/cgroup/kube/cpu.max", "800000 100000\n");
  root.file("sys/fs/cgroup/kube/pod/cpu.max", "150000 50000\n");
  root.file("sys/fs/cgroup/kube/pod/box/cpu.max", "max 100000\n");
  root.file("sys/fs/cgroup/kube/memory.max", "17179869184\n");
  root.file("sys/fs/cgroup/kube/pod/memory.max", "max\n");
  root.file("sys/fs/cgroup/kube/pod/box/memory.max", "34359738368\n");
  root.file("sys/fs/cgroup/kube/pids.max", "max\n");
  root.file("sys/fs/cgroup/kube/pod/box/pids.max", "512\n");
  const HostLimits limits = host_limits(root.path());
  EXPECT_EQ(limits.cores_quota, 3.0);
  EXPECT_EQ(fact(limits, "cpu_quota_cores").source, "/sys/fs/cgroup/kube/pod/cpu.max");
  EXPECT_EQ(limits.memory_limit, 16 * gibibyte);
  EXPECT_EQ(fact(limits, "memory_limit_bytes").source, "/sys/fs/cgroup/kube/memory.max");
  EXPECT_EQ(limits.processes_limit, 512);
  EXPECT_EQ(fact(limits, "processes_limit").source, "/sys/fs/cgroup/kube/pod/box/pids.max");
  EXPECT_EQ(usable_threads(limits), 3);
}

TEST(Host, CountsThePageCacheThatAGroupWouldGiveBack) {
  const MachineRoot root;
  plain_machine(root);
  unified(root, "/job");
  root.file("sys/fs/cgroup/job/memory.max", "10737418240\n");     // 10 GiB
  root.file("sys/fs/cgroup/job/memory.current", "8589934592\n");  // 8 GiB, of which
  root.file("sys/fs/cgroup/job/memory.stat", "anon 1\nfile 2\ninactive_file 3221225472\nactive_file 99\n");  // 3 GiB
  const HostLimits limits = host_limits(root.path());
  EXPECT_EQ(limits.memory_limit_free, 5 * gibibyte);  // 10 - (8 - 3)
  EXPECT_EQ(usable_memory(limits), 5 * gibibyte);
}

TEST(Host, FindsTheTightestRestEvenWhereItsLimitIsNotTheTightest) {
  const MachineRoot root;
  plain_machine(root);
  unified(root, "/full/job");
  root.file("sys/fs/cgroup/full/memory.max", "10737418240\n");      // 10 GiB, of which the neighbours
  root.file("sys/fs/cgroup/full/memory.current", "9663676416\n");   // and this job take 9 GiB
  root.file("sys/fs/cgroup/full/job/memory.max", "4294967296\n");   // 4 GiB
  root.file("sys/fs/cgroup/full/job/memory.current", "1048576\n");  // nearly unused
  const HostLimits limits = host_limits(root.path());
  EXPECT_EQ(limits.memory_limit, 4 * gibibyte);
  EXPECT_EQ(limits.memory_limit_free, 1 * gibibyte);
  EXPECT_EQ(fact(limits, "memory_limit_free_bytes").source, "/sys/fs/cgroup/full/memory.max");
}

TEST(Host, NeverGivesLessThanNothing) {
  const MachineRoot root;
  plain_machine(root);
  unified(root, "/job");
  root.file("sys/fs/cgroup/job/memory.max", "1048576\n");
  root.file("sys/fs/cgroup/job/memory.current", "2097152\n");
  EXPECT_EQ(host_limits(root.path()).memory_limit_free, 0);
}

TEST(Host, TakesTheLimitAboveWhichTheKernelThrottles) {
  const MachineRoot root;
  plain_machine(root);
  unified(root, "/job");
  root.file("sys/fs/cgroup/job/memory.max", "max\n");
  root.file("sys/fs/cgroup/job/memory.high", "2147483648\n");
  EXPECT_EQ(host_limits(root.path()).memory_limit, 2 * gibibyte);
}

TEST(Host, InAContainerWhoseOwnPathIsHiddenTakesTheMountsRoot) {
  const MachineRoot root;
  plain_machine(root);
  unified(root, "/system.slice/docker-12ab.scope");  // not there below the mount
  root.file("sys/fs/cgroup/cpu.max", "250000 100000\n");
  root.file("sys/fs/cgroup/memory.max", "8589934592\n");
  const HostLimits limits = host_limits(root.path());
  EXPECT_EQ(limits.cores_quota, 2.5);
  EXPECT_EQ(usable_threads(limits), 3);  // two and a half cores keep three threads busy most of the time
  EXPECT_EQ(limits.memory_limit, 8 * gibibyte);
}

TEST(Host, OutsideItsNamespaceTakesTheMountsRoot) {
  const MachineRoot root;
  plain_machine(root);
  unified(root, "/../../other");
  root.file("sys/fs/cgroup/cpu.max", "100000 100000\n");
  root.file("sys/other/cpu.max", "1000 100000\n");  // what a careless join of the paths would find
  EXPECT_EQ(host_limits(root.path()).cores_quota, 1.0);
}

void version_one(const MachineRoot& root, const std::string& mounted, const std::string& group) {
  root.file("proc/self/cgroup", "12:pids:" + group + "\n5:memory:" + group + "\n4:cpu,cpuacct:" + group +
                                    "\n1:name=systemd:" + group + "\n0::/\n");
  root.file("proc/self/mountinfo",
            "33 30 0:29 " + mounted + " /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" +
                "34 30 0:30 " + mounted + " /sys/fs/cgroup/memory rw shared:3 - cgroup cgroup rw,memory\n" +
                "35 30 0:31 " + mounted + " /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n");
}

TEST(Host, ReadsVersionOne) {
  const MachineRoot root;
  plain_machine(root);
  version_one(root, "/", "/docker/12ab");
  const std::string cpu = "sys/fs/cgroup/cpu,cpuacct", memory = "sys/fs/cgroup/memory";
  root.file(cpu + "/cpu.cfs_quota_us", "-1\n");
  root.file(cpu + "/cpu.cfs_period_us", "100000\n");
  root.file(cpu + "/docker/cpu.cfs_quota_us", "400000\n");
  root.file(cpu + "/docker/cpu.cfs_period_us", "100000\n");
  root.file(cpu + "/docker/12ab/cpu.cfs_quota_us", "50000\n");
  root.file(cpu + "/docker/12ab/cpu.cfs_period_us", "100000\n");
  root.file(memory + "/memory.limit_in_bytes", "9223372036854771712\n");  // how v1 says "none"
  root.file(memory + "/docker/12ab/memory.limit_in_bytes", "4294967296\n");
  root.file(memory + "/docker/12ab/memory.usage_in_bytes", "3221225472\n");
  root.file(memory + "/docker/12ab/memory.stat", "inactive_file 5\ntotal_inactive_file 1073741824\n");
  root.file("sys/fs/cgroup/pids/docker/12ab/pids.max", "100\n");
  const HostLimits limits = host_limits(root.path());
  EXPECT_EQ(limits.cores_quota, 0.5);
  EXPECT_EQ(usable_threads(limits), 1);
  EXPECT_EQ(limits.memory_limit, 4 * gibibyte);
  EXPECT_EQ(limits.memory_limit_free, 2 * gibibyte);  // 4 - (3 - 1)
  EXPECT_EQ(limits.processes_limit, 100);
}

TEST(Host, InVersionOneWithoutLimitsSaysSo) {
  const MachineRoot root;
  plain_machine(root);
  version_one(root, "/", "/");
  root.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  root.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854710272\n");  // with pages of 64 KiB
  root.file("sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 9223372036854710272\n");
  const HostLimits limits = host_limits(root.path());
  EXPECT_FALSE(limits.cores_quota.has_value());
  EXPECT_FALSE(limits.memory_limit.has_value());
  EXPECT_EQ(fact(limits, "memory_limit_bytes").reason, "no control group sets a limit");
}

TEST(Host, InAContainerOfVersionOneStripsWhatIsMounted) {
  // Without a namespace of its own the container sees its full path, while its own group is what is mounted.
  const MachineRoot root;
  plain_machine(root);
  version_one(root, "/docker/12ab", "/docker/12ab/job");
  root.file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  root.file("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(host_limits(root.path()).cores_quota, 2.0);
}

TEST(Host, SeesALimitOfAncestorsThatAContainerHides) {
  const MachineRoot root;
  plain_machine(root);
  version_one(root, "/docker/12ab", "/docker/12ab");
  root.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  root.file("sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
  root.file("sys/fs/cgroup/memory/memory.stat", "hierarchical_memory_limit 8589934592\ntotal_inactive_file 0\n");
  const HostLimits limits = host_limits(root.path());
  EXPECT_EQ(limits.memory_limit, 8 * gibibyte);
  EXPECT_EQ(limits.memory_limit_free, 7 * gibibyte);
}

TEST(Host, OnAHybridSystemLooksIntoBothHierarchies) {
  const MachineRoot root;
  plain_machine(root);
  root.file("proc/self/cgroup", "4:memory:/a\n1:cpu:/b\n0::/c\n");
  root.file("proc/self/mountinfo",
            "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
            "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
            "41 31 0:38 / /sys/fs/cgroup/uni\\040fied rw - cgroup2 cgroup2 rw\n");  // a space, as mountinfo writes it
  root.file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824\n");
  root.file("sys/fs/cgroup/cpu/b/cpu.cfs_quota_us", "700000\n");
  root.file("sys/fs/cgroup/cpu/b/cpu.cfs_period_us", "100000\n");
  root.file("sys/fs/cgroup/uni fied/c/pids.max", "77\n");
  const HostLimits limits = host_limits(root.path());
  EXPECT_EQ(limits.memory_limit, 1 * gibibyte);
  EXPECT_EQ(limits.cores_quota, 7.0);
  EXPECT_EQ(limits.processes_limit, 77);
  EXPECT_EQ(usable_threads(limits), 5);  // the affinity mask is tighter than the quota
}

TEST(Host, OnAnEmptyRootKnowsNothingAndSaysWhy) {
  const MachineRoot root;
  const HostLimits limits = host_limits(root.path());
  EXPECT_EQ(limits.cores_online, 1);
  EXPECT_EQ(usable_threads(limits), 1);
  EXPECT_EQ(usable_memory(limits), 0);
  for (const Fact& one : limits.facts) {
    EXPECT_FALSE(one.value.has_value()) << one.name;
    EXPECT_FALSE(one.reason.empty()) << one.name;
  }
}

TEST(Host, WithNonsenseInItsFilesTakesNoneOfIt) {
  const MachineRoot root;
  plain_machine(root);
  unified(root, "/job");
  root.file("sys/devices/system/cpu/online", "0-99999999999\n");
  root.file("sys/fs/cgroup/job/cpu.max", "-5 0\n");
  root.file("sys/fs/cgroup/job/memory.max", "-1\n");
  root.file("sys/fs/cgroup/job/pids.max", "12 apples\n");
  root.file("proc/meminfo", "MemTotal: lots kB\nMemAvailable: 99999999999999999999 kB\n");
  const HostLimits limits = host_limits(root.path());
  EXPECT_EQ(limits.cores_online, 5);  // at least those that are allowed
  EXPECT_FALSE(limits.cores_quota.has_value());
  EXPECT_FALSE(limits.memory_limit.has_value());
  EXPECT_FALSE(limits.processes_limit.has_value());
  EXPECT_EQ(limits.memory_total, 0);
}

TEST(Host, OfThisMachineIsAsTheKernelSays) {
  const HostLimits limits = host_limits();
  // The judge is sysconf, which counts by other files and calls.
  EXPECT_EQ(limits.cores_online, sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_NEAR(static_cast<double>(limits.memory_total),
              static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)),
              1e-3 * static_cast<double>(limits.memory_total));
  EXPECT_GE(usable_threads(limits), 1);
  EXPECT_LE(usable_threads(limits), limits.cores_online);
  EXPECT_LE(usable_memory(limits), limits.memory_total);
}

TEST(Host, HonoursANarrowedAffinityMask) {
  cpu_set_t before, narrow;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  const int chosen = allowed_processors().front();
  CPU_ZERO(&narrow);
  CPU_SET(static_cast<std::size_t>(chosen), &narrow);
  ASSERT_EQ(sched_setaffinity(0, sizeof narrow, &narrow), 0);
  EXPECT_THAT(allowed_processors(), testing::ElementsAre(chosen));
  EXPECT_EQ(usable_threads(host_limits()), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

// Two allowed cores, 0 and 2. `own` are the ticks of this process; the rest stands in /proc/stat.
void clock_ticks(const MachineRoot& root, int own, const std::string& first, const std::string& second) {
  root.file("proc/self/status", "Cpus_allowed_list:\t0,2\n");
  root.file("proc/self/stat", "77 (as) say) R 1 1 1 0 -1 4194304 100 0 0 0 " + std::to_string(own) +
                                  " 0 900 900 20 0 1 0 153021 3133440 414\n");
  root.file("proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 " + first + "\ncpu1 9999 0 0 0 0 0 0 0 0 0\ncpu2 " + second +
                             "\nintr 1 2 3\n");
}

TEST(LoadMeter, CountsWhatIsBusyAndNotOwn) {
  const MachineRoot root;
  clock_ticks(root, 100, "100 0 0 100 0 0 0 0 0 0", "200 0 0 0 0 0 0 0 0 0");
  LoadMeter meter(root.path());
  // 100 ticks later on each core: core 0 was busy for 80, core 2 for 60, of which 90 in this process.
  clock_ticks(root, 190, "180 0 0 120 0 0 0 0 0 0", "240 0 20 40 0 0 0 0 0 0");
  // 80 + 60 - 90 = 50 ticks of others, less the rounding of 2 cores and 2 own times (the root of 4), of 200.
  EXPECT_DOUBLE_EQ(meter.other_load().value(), (50.0 - 2.0) / 200.0);
}

TEST(LoadMeter, CountsStolenTimeAndInterruptsButNotWaitingOrGuests) {
  const MachineRoot root;
  clock_ticks(root, 0, "0 0 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0 0 0");
  LoadMeter meter(root.path());
  // nice 10, irq 5, softirq 5, steal 22 on core 0; 60 of 100 ticks waiting for a disk on core 2, guests counted in user
  clock_ticks(root, 0, "0 10 0 58 0 5 5 22 0 0", "40 0 0 0 60 0 0 0 40 0");
  EXPECT_DOUBLE_EQ(meter.other_load().value(), (10.0 + 5 + 5 + 22 + 40 - 2) / 200.0);
}

TEST(LoadMeter, ReadsZeroWhereOnlyRoundingDiffers) {
  const MachineRoot root;
  clock_ticks(root, 0, "0 0 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0 0 0");
  LoadMeter meter(root.path());
  clock_ticks(root, 39, "20 0 0 0 0 0 0 0 0 0", "20 0 0 0 0 0 0 0 0 0");
  EXPECT_EQ(meter.other_load(), 0.0);
}

TEST(LoadMeter, WaitsUntilEnoughTimeHasPassedAndThenCoversAllOfIt) {
  const MachineRoot root;
  clock_ticks(root, 0, "0 0 0 0 0 0 0 0 0 0", "0 0 0 0 0 0 0 0 0 0");
  LoadMeter meter(root.path());
  clock_ticks(root, 0, "1 0 0 0 0 0 0 0 0 0", "1 0 0 0 0 0 0 0 0 0");
  EXPECT_FALSE(meter.other_load().has_value());
  clock_ticks(root, 0, "10 0 0 0 0 0 0 0 0 0", "10 0 0 0 0 0 0 0 0 0");
  EXPECT_DOUBLE_EQ(meter.other_load().value(), 18.0 / 20.0);
}

TEST(LoadMeter, WhereNothingCanBeReadKnowsNothing) {
  const MachineRoot root;
  LoadMeter meter(root.path());
  EXPECT_FALSE(meter.other_load().has_value());
  clock_ticks(root, 0, "0 0 0 0 0 0 0 0 0 0", "garbage");
  EXPECT_FALSE(meter.other_load().has_value());
}

TEST(LoadMeter, OfThisMachineGivesAShare) {
  LoadMeter meter;
  usleep(200'000);
  const auto load = meter.other_load();
  ASSERT_TRUE(load.has_value());
  EXPECT_GE(*load, 0);
  EXPECT_LE(*load, 1);
}

}  // namespace
}  // namespace assay
