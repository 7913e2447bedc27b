// The host's clock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

namespace assay::gpu {

// Seconds on CLOCK_MONOTONIC.
inline double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace assay::gpu
