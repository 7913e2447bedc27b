// The models whose blocks, steps and tokens are measured, and twins of them that the interpreter can afford.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/device.h"
#include "core/models/step.h"

namespace assay {

// The dimensions of one layer; the rest follows from the kind of model.
struct Dimensions {
  std::int64_t hidden, heads, kv_heads, head_size, feed_forward;
};

// GPT-2: layer norm, learned positions, biases, GELU, the embedding as head; 50257 words.
ModelSpec gpt2(const Dimensions& size, std::int64_t layers = 1);

// Llama: RMS norm, rotary positions, grouped keys, no biases, SwiGLU; 128256 words.
ModelSpec llama(const Dimensions& size, std::int64_t layers = 1);

// From the models' configurations: GPT-2 124M, Llama-3.2-1B, Llama-3-8B.
inline constexpr Dimensions gpt2_124m = {768, 12, 12, 64, 3072};
inline constexpr Dimensions llama_1b = {2048, 32, 8, 64, 8192};
inline constexpr Dimensions llama_8b = {4096, 32, 8, 128, 14336};

// Small enough for the interpreter, with an odd number of everything that code likes to be even.
inline constexpr Dimensions gpt2_twin = {48, 3, 3, 16, 112};
inline constexpr Dimensions llama_twin = {96, 6, 2, 16, 176};

// The twin of a whole model: two such layers, few words.
ModelSpec twin_of(const ModelSpec& model);

// The same for any decoder: its kind of norm, feed-forward, positions and biases, in the sizes of the twins above.
ModelSpec twin_like(const ModelSpec& model);

// Products and a softmax where there is no fused attention with a way back yet: a processor has it.
StepAttention attention_on(const DeviceInfo& device);

}  // namespace assay
