// A training step as work, and the tensors in it that others write and read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/work.h"

namespace assay {

// Gradients that are complete after a step of the work, in the order in which they are: what an all-reduce that
// overlaps the backward pass takes at a time.
struct GradientBucket {
  std::vector<int> tensors;
  std::int64_t bytes = 0;
  int complete_after = 0;  // step
};

struct TrainingStep {
  Work work;
  // By micro-batch: tokens and targets [batch, length] int32 (inputs), losses [batch, length] fp32. The mean of all
  // losses is what the gradients are of.
  std::vector<int> tokens, targets, losses;
  int scalars = -1;  // see AdamControl; -1 without an optimizer
  int total = -1;    // the square of the gradients' norm, of scaled gradients where the loss is scaled
};

}  // namespace assay
