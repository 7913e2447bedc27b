// What it costs to do nothing: starting, waiting, allocating.
// SPDX-License-Identifier: Apache-2.0
#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

std::vector<Case> launch_cases(const DeviceInfo& device, ProfileKind profile) {
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
  if (is_processor(device)) return cases;
  add("kernel_and_wait", LaunchKind::kernel, 1, 0);
  add("graph_of_1", LaunchKind::graph, 1, 0);
  add("graph_of_1000", LaunchKind::graph, 1000, 0);
  if (profile == ProfileKind::quick) return cases;
  add("graph_of_10", LaunchKind::graph, 10, 0);
  add("allocate/2MiB", LaunchKind::allocate, 10, 2 << 20);
  if (largest_set(device, profile) >= (1 << 30)) add("allocate/1GiB", LaunchKind::allocate, 1, 1 << 30);
  for (Case& item : cases) measure_briefly(item, profile);
  return cases;
}

}  // namespace assay
