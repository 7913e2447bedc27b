// What it costs to do nothing: starting, waiting, allocating.
// SPDX-License-Identifier: Apache-2.0
#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

std::vector<Case> launch_cases(const DeviceInfo& device, ProfileKind) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, LaunchKind kind, std::int64_t count, std::int64_t bytes) {
    Launch launch;
    launch.kind = kind;
    launch.count = count;
    launch.bytes = bytes;
    cases.push_back(single_case("launch/" + name, launch, ""));
  };
  add(is_processor(device) ? "parallel_region" : "kernel", LaunchKind::kernel, 100, 0);
  add(is_processor(device) ? "barrier" : "synchronise", LaunchKind::synchronise, 100, 0);
  add("graph", LaunchKind::graph, 100, 0);
  add("allocate/64KiB", LaunchKind::allocate, 10, 64 << 10);
  add("allocate/64MiB", LaunchKind::allocate, 1, 64 << 20);
  return cases;
}

}  // namespace assay
