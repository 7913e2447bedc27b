// What the host really grants this process: cores, memory and processes.
// SPDX-License-Identifier: Apache-2.0
#include "core/host.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <sstream>

#include "core/control_groups.h"

namespace assay {
namespace {

// v1 says "no limit" by the largest number of pages that fits; the page size is not known, hence the margin.
constexpr std::int64_t no_limit = std::int64_t{1} << 60;

// "0-3,8" as kernel lists are written.
std::vector<int> parse_processor_list(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    int first = 0, last = 0;
    const char* end = part.data() + part.size();
    while (end != part.data() && std::isspace(static_cast<unsigned char>(end[-1]))) --end;
    auto read = std::from_chars(part.data(), end, first);
    if (read.ec != std::errc()) return {};
    last = first;
    if (read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    // The bound keeps a nonsensical file from filling memory; Linux allows 8192.
    if (read.ec != std::errc() || read.ptr != end || first < 0 || last < first || last >= 1 << 20) return {};
    for (int number = first; number <= last; ++number) numbers.push_back(number);
  }
  return numbers;
}

std::vector<int> processors_by_call() {
  // A machine may have more processors than the fixed cpu_set_t holds (1024); the kernel then says EINVAL.
  for (int most = 1024; most <= 1 << 20; most *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(static_cast<std::size_t>(most)),
                                                               [](cpu_set_t* one) { CPU_FREE(one); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    if (!set) return {};
    if (sched_getaffinity(0, bytes, set.get()) == 0) {
      std::vector<int> numbers;
      for (int number = 0; number < most; ++number) {
        if (CPU_ISSET_S(static_cast<std::size_t>(number), bytes, set.get())) numbers.push_back(number);
      }
      return numbers;
    }
    if (errno != EINVAL) return {};
  }
  return {};
}

std::vector<int> processors_by_file(const std::filesystem::path& root) {
  std::istringstream lines(read_small_file(root / "proc/self/status").value_or(""));
  const std::string key = "Cpus_allowed_list:";
  for (std::string line; std::getline(lines, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    const auto list = line.find_first_not_of(" \t", key.size());
    return list == std::string::npos ? std::vector<int>() : parse_processor_list(line.substr(list));
  }
  return {};
}

// A number with the file that gives it.
template <class Number>
struct Found {
  std::optional<Number> value;
  std::filesystem::path source;
};

template <class Number>
void keep_least(Found<Number>& least, std::optional<Number> value, const std::filesystem::path& source) {
  if (value && (!least.value || *value < *least.value)) least = {value, source};
}

// Cores' worth of time a period: v2 "200000 100000" or "max 100000", v1 two files with -1 for none.
std::optional<double> quota_of(const ControlGroup& group) {
  std::int64_t quota = 0, period = 0;
  if (group.unified) {
    std::istringstream words(read_small_file(group.folder / "cpu.max").value_or(""));
    if (!(words >> quota >> period)) return std::nullopt;
  } else {
    quota = read_whole_number(group.folder / "cpu.cfs_quota_us").value_or(-1);
    period = read_whole_number(group.folder / "cpu.cfs_period_us").value_or(0);
  }
  if (quota <= 0 || period <= 0) return std::nullopt;
  return static_cast<double>(quota) / static_cast<double>(period);
}

Found<double> find_quota(const std::filesystem::path& root) {
  Found<double> least;
  for (const auto& group : control_groups(root, "cpu")) {
    keep_least(least, quota_of(group), group.folder / (group.unified ? "cpu.max" : "cpu.cfs_quota_us"));
  }
  return least;
}

struct GroupMemory {
  Found<std::int64_t> limit;
  Found<std::int64_t> free;  // what the tightest group leaves, with the page cache it would give back
};

// One limit of one group, and what it leaves. memory.high counts too: above it the kernel throttles until nothing that
// is measured means anything.
void add_limit(GroupMemory& memory, const ControlGroup& group, const char* file) {
  const auto limit = read_whole_number(group.folder / file);
  if (!limit || *limit < 0 || *limit >= no_limit) return;
  keep_least(memory.limit, limit, group.folder / file);
  const auto usage =
      read_whole_number(group.folder / (group.unified ? "memory.current" : "memory.usage_in_bytes")).value_or(0);
  const auto cache =
      read_keyed_number(group.folder / "memory.stat", group.unified ? "inactive_file" : "total_inactive_file")
          .value_or(0);
  const auto used = std::max<std::int64_t>(0, usage - std::max<std::int64_t>(0, cache));
  keep_least(memory.free, std::optional<std::int64_t>(std::max<std::int64_t>(0, *limit - used)), group.folder / file);
}

// v1 tells the tightest limit of all ancestors even where a container cannot see their folders. What they leave is not
// known; the limit itself is an upper bound of it.
void add_hierarchical_limit(GroupMemory& memory, const ControlGroup& group) {
  const auto source = group.folder / "memory.stat";
  const auto limit = read_keyed_number(source, "hierarchical_memory_limit");
  if (!limit || *limit < 0 || *limit >= no_limit) return;
  keep_least(memory.limit, limit, source);
  const auto usage = read_whole_number(group.folder / "memory.usage_in_bytes").value_or(0);
  const auto cache = read_keyed_number(source, "total_inactive_file").value_or(0);
  const auto used = std::max<std::int64_t>(0, usage - std::max<std::int64_t>(0, cache));
  keep_least(memory.free, std::optional<std::int64_t>(std::max<std::int64_t>(0, *limit - used)), source);
}

GroupMemory find_memory(const std::filesystem::path& root) {
  GroupMemory memory;
  for (const auto& group : control_groups(root, "memory")) {
    if (group.unified) {
      add_limit(memory, group, "memory.max");
      add_limit(memory, group, "memory.high");
    } else {
      add_limit(memory, group, "memory.limit_in_bytes");
      add_hierarchical_limit(memory, group);
    }
  }
  return memory;
}

Found<std::int64_t> find_processes(const std::filesystem::path& root) {
  Found<std::int64_t> least;
  for (const auto& group : control_groups(root, "pids")) {
    keep_least(least, read_whole_number(group.folder / "pids.max"), group.folder / "pids.max");
  }
  return least;
}

// The source as a reader of the report would type it.
std::string shown(const std::filesystem::path& root, const std::filesystem::path& source) {
  if (source.empty()) return "";
  return (std::filesystem::path("/") / source.lexically_relative(root)).string();
}

template <class Number>
Fact fact_of(const std::string& name, const std::string& unit, const std::optional<Number>& value,
             const std::string& source, const std::string& reason) {
  Fact fact;
  fact.name = name;
  fact.unit = unit;
  if (value) fact.value = static_cast<double>(*value);
  if (!value) fact.reason = reason;
  fact.source = source;
  return fact;
}

// Why no limit was found: there is none, or nothing could be looked at.
std::string why_no_limit(const std::filesystem::path& root, const std::string& controller) {
  if (control_groups(root, controller).empty()) {
    return "no control group of the " + controller + " controller is visible, so a limit would not be seen";
  }
  return "no control group sets a limit";
}

std::optional<std::int64_t> kibibytes(const std::filesystem::path& root, const std::string& key) {
  const auto value = read_keyed_number(root / "proc/meminfo", key);
  if (!value || *value < 0 || *value >= no_limit / 1024) return std::nullopt;
  return *value * 1024;
}

void find_cores(HostLimits& limits, const std::filesystem::path& root) {
  const auto online = read_small_file(root / "sys/devices/system/cpu/online");
  const auto online_list = online ? parse_processor_list(*online) : std::vector<int>();
  std::optional<int> online_count;
  if (!online_list.empty()) online_count = static_cast<int>(online_list.size());
  const auto allowed = allowed_processors(root);
  std::optional<int> allowed_count;
  if (!allowed.empty()) allowed_count = static_cast<int>(allowed.size());

  limits.cores_affinity = allowed_count.value_or(online_count.value_or(1));
  limits.cores_online = online_count.value_or(limits.cores_affinity);
  limits.facts.push_back(fact_of("cores_online", "cores", online_count, "/sys/devices/system/cpu/online",
                                 "the list of processors cannot be read"));
  limits.facts.push_back(fact_of("cores_allowed", "cores", allowed_count,
                                 root == "/" ? "sched_getaffinity" : "/proc/self/status",
                                 "the affinity mask cannot be read"));
  const auto quota = find_quota(root);
  limits.cores_quota = quota.value;
  limits.facts.push_back(
      fact_of("cpu_quota_cores", "cores", quota.value, shown(root, quota.source), why_no_limit(root, "cpu")));
}

void find_memory_facts(HostLimits& limits, const std::filesystem::path& root) {
  const auto total = kibibytes(root, "MemTotal");
  auto available = kibibytes(root, "MemAvailable");
  std::string reason = "/proc/meminfo does not say";
  limits.memory_total = total.value_or(0);
  limits.memory_available = available.value_or(0);
  limits.facts.push_back(fact_of("memory_total_bytes", "bytes", total, "/proc/meminfo", reason));
  limits.facts.push_back(fact_of("memory_available_bytes", "bytes", available, "/proc/meminfo", reason));
  const auto memory = find_memory(root);
  limits.memory_limit = memory.limit.value;
  limits.memory_limit_free = memory.free.value;
  reason = why_no_limit(root, "memory");
  limits.facts.push_back(
      fact_of("memory_limit_bytes", "bytes", memory.limit.value, shown(root, memory.limit.source), reason));
  limits.facts.push_back(
      fact_of("memory_limit_free_bytes", "bytes", memory.free.value, shown(root, memory.free.source), reason));
}

}  // namespace

std::vector<int> allowed_processors(const std::filesystem::path& root) {
  if (root == "/") {
    auto numbers = processors_by_call();
    if (!numbers.empty()) return numbers;
  }
  return processors_by_file(root);
}

HostLimits host_limits(const std::filesystem::path& root) {
  HostLimits limits;
  find_cores(limits, root);
  find_memory_facts(limits, root);
  const auto processes = find_processes(root);
  limits.processes_limit = processes.value;
  limits.facts.push_back(fact_of("processes_limit", "processes", processes.value, shown(root, processes.source),
                                 why_no_limit(root, "pids")));
  return limits;
}

int usable_threads(const HostLimits& limits) {
  if (!limits.cores_quota) return std::max(1, limits.cores_affinity);
  const double quota = std::ceil(*limits.cores_quota);
  if (quota >= limits.cores_affinity) return std::max(1, limits.cores_affinity);
  return std::max(1, static_cast<int>(quota));
}

std::int64_t usable_memory(const HostLimits& limits) {
  if (!limits.memory_limit_free) return limits.memory_available;
  return std::min(limits.memory_available, *limits.memory_limit_free);
}

}  // namespace assay
