// How long ways of doing the same take on a stream, to choose between them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "gpu/runtime.h"

namespace assay::gpu {

// Seconds of each of `ways`, the median of a few rounds in which they take turns, so that a clock that rises or falls
// meanwhile does the same to all. What is half as fast as the best in the first round is not tried again. Each must
// have run once before.
std::vector<double> compare(const std::vector<std::function<void()>>& ways, vendor::Stream stream);

}  // namespace assay::gpu
