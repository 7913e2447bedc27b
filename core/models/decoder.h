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

// Norm, attention with rotary positions and grouped keys, residual, norm, SwiGLU or GELU feed-forward, residual; then
// the way back. Throws Unsupported for latent attention, experts and windows.
Work decoder_block(const ModelSpec& model, const BlockSetup& setup);

}  // namespace assay
