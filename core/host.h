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
  std::optional<std::int64_t> processes_limit;    // pids.max, the tightest of all ancestors
  std::vector<Fact> facts;                        // each with its source, for the report
};

// Never throws: what cannot be read is absent, with a reason among the facts.
HostLimits host_limits(const std::filesystem::path& root = "/");

// The processors this process may run on, by number, in order. Of the calling thread where root is "/", else what
// root/proc/self/status says. Empty where neither can be read.
std::vector<int> allowed_processors(const std::filesystem::path& root = "/");

// Threads that make sense: min(affinity, ceil(quota)), at least 1.
int usable_threads(const HostLimits& limits);

// Bytes that can be allocated now without driving this process, or its machine, out of memory: the least of what is
// available and what the cgroup leaves. 0 where the machine does not say.
std::int64_t usable_memory(const HostLimits& limits);

// Share (0..1) of the allowed cores' time that others used between two looks: all busy and stolen time in /proc/stat of
// the allowed cores, less the CPU time of this process (all its threads, not its children: whoever measures does the
// work itself). A virtual machine's stolen time counts as others' load, because that is what it is. What could be mere
// rounding of the kernel's clock ticks is not counted, so that a quiet machine reads 0.
class LoadMeter {
 public:
  explicit LoadMeter(std::filesystem::path root = "/");
  // Since the last call that gave a value (or construction); absent where it cannot be read or too little time has
  // passed (less than 20 ms).
  std::optional<double> other_load();

 private:
  struct Ticks {
    double busy = 0;   // of all allowed cores, stolen time included
    double total = 0;  // busy and idle
    double own = 0;
    int cores = 0;
  };
  std::optional<Ticks> look() const;

  std::filesystem::path root_;
  std::vector<int> processors_;  // as allowed at construction: a thread library may later bind the calling thread
  std::optional<Ticks> last_;
};

}  // namespace assay
