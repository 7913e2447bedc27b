// Which steps must wait for which, where a work has several lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/work.h"

namespace assay::gpu {

// A step waits until another step is done: in the same execution, or, where that one comes later in the work, in the
// one before.
struct Wait {
  int step = 0;
  bool execution_before = false;
};

struct Order {
  std::vector<std::vector<Wait>> waits;  // by step; only for steps of other lanes
  std::vector<bool> awaited;             // by step: whether any other waits for it
};

// Two steps must not change places where both touch the same bytes and one of them writes: the same tensor, or tensors
// that share memory. Steps of one lane are in order anyway.
Order order_of(const Work& work, const Plan& plan);

}  // namespace assay::gpu
