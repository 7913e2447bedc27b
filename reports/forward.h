// One pass through a model as ops, and the way back from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/model_ops.h"

namespace assay {

struct Pass {
  std::int64_t batch = 1;
  std::int64_t queries = 1;  // tokens a sequence that are computed
  std::int64_t keys = 1;     // tokens a sequence that are looked at
  Format compute;            // of activations
  Format weights;            // of the layers' matrices
  bool all_logits = false;   // of every token, for a loss
};

std::vector<PartOp> forward_ops(const ModelSpec& model, const Pass& pass);

// What a recomputing backward pass does twice.
std::vector<PartOp> computed_again(const std::vector<PartOp>& forward, Recompute recompute);

// Gradients of everything in `forward`, the loss, adapters where there are any, and the optimizer.
std::vector<PartOp> backward_ops(const ModelSpec& model, const Workload& workload, const std::vector<PartOp>& forward);

}  // namespace assay
