// A model's work as the same ops that are measured: how often each runs in a prompt, a token or a training step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/op.h"
#include "reports/judge.h"

namespace assay {

struct PartOp {
  std::string part;  // "projections", "attention", "feed-forward", "element ops", "output head", "optimizer"
  Op op;
  double count = 1;        // executions
  double least_share = 1;  // what a better implementation needs of it: half of causal scores
};

// The prompt of every sequence, in one pass; logits of the last token only.
std::vector<PartOp> prompt_ops(const ModelSpec& model, const Workload& workload);

// One more token of every sequence, with a full cache.
std::vector<PartOp> token_ops(const ModelSpec& model, const Workload& workload);

// Forward, loss, backward (with what is computed again) and optimizer, for one batch.
std::vector<PartOp> step_ops(const ModelSpec& model, const Workload& workload);

}  // namespace assay
