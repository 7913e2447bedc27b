// Dependent loads by working set.
// SPDX-License-Identifier: Apache-2.0
#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

std::vector<Case> latency_cases(const DeviceInfo& device, ProfileKind profile) {
  const int factor = profile == ProfileKind::quick ? 4 : 2;
  // Building the ring visits every slot in random order; a larger ring than this takes longer to build than to walk.
  const std::int64_t last = std::min<std::int64_t>(dram_set(device, profile).bytes, std::int64_t{1} << 30);
  std::vector<Case> cases;
  for (const std::int64_t bytes : steps(16 * 1024, last, factor)) {
    Chase chase;
    chase.bytes = bytes;
    // Enough to take about a millisecond in a cache and a few in memory; the back end goes on where it stopped.
    chase.loads = bytes <= (1 << 20) ? 1 << 18 : 1 << 15;
    if (!is_processor(device)) {
      chase.stride = 128;  // a line; loads take longer there, and one thread is all that makes them
      chase.loads = 1 << 14;
    }
    Case item = single_case("latency/" + size_name(bytes), chase, "");
    item.preparation.threads = 1;
    const bool farthest = bytes * factor > last;
    if (farthest && is_processor(device)) item.rank = 0;
    if (!farthest && !is_processor(device)) measure_briefly(item, profile);
    cases.push_back(item);
  }
  return cases;
}

}  // namespace assay
