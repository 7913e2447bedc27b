// What the host really grants this process: cores, memory, and who else is using them. The root folder is a parameter,
// so that tests bring their own /proc and /sys. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/device.h"

namespace assay {

struct HostLimits {
  int cores_online = 1;
  int cores_affinity = 1;                         // sched_getaffinity
  std::optional<double> cores_quota;              // cgroup CPU quota, v1 or v2, the tightest of all ancestors
  std::int64_t memory_total = 0;                  // bytes, MemTotal
  std::int64_t memory_available = 0;              // bytes, MemAvailable
  std::optional<std::int64_t> memory_limit;       // cgroup limit, the tightest of all ancestors
  std::optional<std::int64_t> memory_limit_free;  // limit - usage + reclaimable page cache
  std::optional<std::int64_t> processes_limit;    // pids.max
  std::vector<Fact> facts;                        // each with its source, for the report
};

// Never throws: what cannot be read is absent, with a reason among the facts.
HostLimits host_limits(const std::filesystem::path& root = "/");

// Threads that make sense: min(affinity, ceil(quota)).
int usable_threads(const HostLimits& limits);

// Bytes that can be allocated now without driving this process, or its machine, out of memory: the least of what is
// available and what the cgroup leaves.
std::int64_t usable_memory(const HostLimits& limits);

// Share (0..1) of the allowed cores' time that other processes used between two looks. Reads /proc/stat of the allowed
// cores and this process group's own time.
class LoadMeter {
 public:
  explicit LoadMeter(std::filesystem::path root = "/");
  // Since the last call (or construction); absent where it cannot be read or too little time has passed (< 20 ms).
  std::optional<double> other_load();

 private:
  std::filesystem::path root_;
  double busy_ = 0, total_ = 0, own_ = 0, wall_ = 0;
};

}  // namespace assay
