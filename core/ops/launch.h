// What it costs to do nothing: launching, allocating and synchronising, by the host's clock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay {

enum class LaunchKind : std::uint8_t {
  kernel,       // an empty kernel; on a CPU, an empty parallel region of all threads
  graph,        // `count` empty kernels as one graph
  allocate,     // allocate and free `bytes`
  synchronise,  // wait for a device that has nothing to do; on a CPU, one barrier of all threads
};

// `count` of them after each other. No operands.
struct Launch {
  LaunchKind kind = LaunchKind::kernel;
  std::int64_t count = 1;
  std::int64_t bytes = 0;  // for allocate
};

}  // namespace assay
