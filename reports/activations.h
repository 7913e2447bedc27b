// How many numbers a token leaves behind: what training saves for the way back, and what a prompt needs at its widest.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/judge.h"

namespace assay {

// Numbers a token (or, for convolutions, a picture), with the sum in words.
struct Numbers {
  double count = 0;
  std::string words;  // "32 layers x (9 x 4096 norms and residual + ...)"
};

// Saved for the backward pass by an implementation that runs op after op with fused attention, as PyTorch does.
// Derivation, a layer with RMS norms: a norm saves its input widened to fp32 (2 numbers' worth), the normed value (1)
// and its output (1); attention the rotated queries (1 x heads), keys and values repeated for all heads (2 x heads),
// output and its merged copy (2 x heads); a gated feed-forward gate, up, activation and product (4 x width). One more
// hidden-wide tensor (the residual stream) brings the sum to the published readings: in units of batch x length x
// hidden x bytes it gives 24.7, 28.0, 28.0, 29.8 and 38.2 for SmolLM2-360M, Llama-3.1-8B, Mistral-7B, Qwen3-8B and
// Qwen3-4B; stas00/ml-engineering measured 24, 28, 28, 29.8 and 38.
Numbers saved_numbers(const ModelSpec& model, Recompute recompute, Format compute);

// The least: norms, activations and rotations fused with what follows, keys and values as they are cached.
Numbers least_saved_numbers(const ModelSpec& model, Recompute recompute);

// Alive at once while a prompt passes through the widest moment of one layer: the feed-forward's gate, up and product,
// or the attention's projections, and 4 x hidden (residual stream, norm input and output, a temporary; that it is four
// was found from the 20 published peaks of Qwen2.5 in bf16 on one device, which it meets within 3 %).
Numbers widest_numbers(const ModelSpec& model);

// Extra numbers of one layer that is computed again during the backward pass, under full recompute.
Numbers one_layer_numbers(const ModelSpec& model, Format compute);

}  // namespace assay
