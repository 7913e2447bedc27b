// Questions about a device that are answered by facts: what memory there really is, whether it is sound, what it costs
// to use. The device is the one in use. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/device.h"
#include "kernels/gpu/memory.h"

namespace assay::gpu {

// How far surveys may go; tests make it small.
struct SurveyLimits {
  double share = 1;                               // of what is free: less where the host's programs live in it too
  std::int64_t margin = std::int64_t{256} << 20;  // bytes that stay free, so that nothing else is killed
  std::int64_t step = std::int64_t{1} << 30;      // bytes the taking grows by, halved where it fails
  std::int64_t least_step = std::int64_t{2} << 20;
  double seconds = 10;
  std::function<double()> clock;  // seconds
};
// For a device with so much memory. `integrated`: the device's memory is the host's.
SurveyLimits survey_limits(std::int64_t total, bool integrated);

// Takes memory step by step, and gives all of it back.
std::vector<Fact> survey_capacity(const SurveyLimits& limits, int device);

// How sizes are rounded, what allocations cost, and what is left in one piece after many came and went.
std::vector<Fact> survey_rounding(const SurveyLimits& limits, int device);

// Fills all memory that can be had with words that depend on their address, and looks for them again, twice. Throws
// Error where a word is wrong.
std::vector<Fact> survey_integrity(const SurveyLimits& limits, int device);

// As much memory as can be had, in blocks. `stopped` says why it is no more.
struct Taken {
  std::vector<Block> blocks;
  std::int64_t bytes = 0;
  std::string stopped;
};
Taken take_memory(const SurveyLimits& limits, int device);

Fact number_fact(const std::string& name, double value, const std::string& unit, const std::string& reason,
                 const std::string& source);

}  // namespace assay::gpu
