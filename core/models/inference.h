// What serving a decoder does: reading a prompt, and making one token after another from a cache.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/models/model.h"
#include "core/work.h"

namespace assay {

struct InferenceSetup {
  std::int64_t batch = 1;
  std::int64_t context = 128;  // tokens of a prompt, or those that the cache holds when a token has been made
  Format compute;              // fp32, bf16 or fp16: activations, and weights unless they are in FP8
  Format cache;                // of keys and values: as compute, or fp8_e4m3
  bool fp8 = false;            // the layers' products in FP8 (e4m3), scaled by tensor; their weights are kept so
  bool fnuz = false;           // that FP8 in the dialect of CDNA3
};

// A whole prompt through all layers, its keys and values into the cache, and the logits of its last token: the time to
// the first token. Throws as training_step() does.
Work prefill(const ModelSpec& model, const InferenceSetup& setup);

// One more token for each sequence: `context` - 1 tokens are in the cache, one is appended, and its logits are made.
// Choosing a token from the logits is no part of it. Tensor "logits" [batch, vocabulary] is persistent in both.
Work decode(const ModelSpec& model, const InferenceSetup& setup);

}  // namespace assay
