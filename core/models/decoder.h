// One decoder block, forward and backward, as work that any back end can plan, run and prove.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/models/model.h"
#include "core/work.h"

namespace assay {

struct BlockSetup {
  std::int64_t batch = 1;
  std::int64_t length = 128;
  Format compute;  // fp32 or bf16: weights, activations and gradients; sums in fp32
  bool backward = true;
  bool optimizer = false;  // AdamW with fp32 masters on every weight
};

// Norm, attention with rotary positions (or none of its own) and grouped keys, residual, norm, SwiGLU or GELU
// feed-forward, residual; then the way back from "output.gradient", an input, to "input.gradient" and a ".gradient" of
// every weight. Weights are [in, out]. One execution leaves all inputs as they were, but weights where there is an
// optimizer. Throws Unsupported, with a sentence, for latent attention, experts, windows shorter than the length, query
// and key norms, position biases, other than two norms, and formats without a sum in fp32 or fp64.
Work decoder_block(const ModelSpec& model, const BlockSetup& setup);

}  // namespace assay
