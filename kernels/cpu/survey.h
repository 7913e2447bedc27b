// Questions about the host that are answered by facts: how much memory there really is, what using libraries costs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "core/device.h"
#include "core/host.h"
#include "kernels/cpu/libraries.h"

namespace assay::cpu {

// How far the capacity survey may go, and what it watches; tests script all of it.
struct CapacityLimits {
  double share = 0.6;                           // of what is usable at the start: never more is taken
  double seconds = 1;                           // then it stops growing
  std::int64_t step = std::int64_t{256} << 20;  // bytes it grows by
  std::int64_t margin = std::int64_t{1} << 30;  // bytes that must stay usable after every step
  std::function<HostLimits()> look;             // what the host grants at this moment
  std::function<double()> clock;                // seconds
};

// Steps and margin that suit a host of this size.
CapacityLimits capacity_limits(const HostLimits& limits);

// Takes and touches memory step by step, and gives all of it back.
std::vector<Fact> survey_capacity(const CapacityLimits& limits, int threads);

// What opening the libraries and starting the threads adds to the process.
std::vector<Fact> survey_context_cost(Libraries& libraries, int threads);

// How the system rounds what is asked of it.
std::vector<Fact> survey_rounding();

std::vector<Fact> survey_limits(const HostLimits& limits);

}  // namespace assay::cpu
