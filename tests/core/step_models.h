// Two decoders small enough for the interpreter.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/models/model.h"

namespace assay::test {

// RMSNorm, SwiGLU, rotated halves, two query heads to a key head, a head of its own.
inline ModelSpec tiny_llama() {
  ModelSpec model;
  model.name = "tiny-llama";
  model.layers = 2;
  model.hidden = 6;
  model.heads = 4;
  model.kv_heads = 2;
  model.head_size = 2;
  model.feed_forward = 5;
  model.vocabulary = 7;
  return model;
}

// LayerNorm, GELU, biases everywhere, learned positions, the embedding as head.
inline ModelSpec tiny_gpt2() {
  ModelSpec model;
  model.name = "tiny-gpt2";
  model.layers = 2;
  model.hidden = 6;
  model.heads = model.kv_heads = 2;
  model.head_size = 3;
  model.feed_forward = 7;
  model.vocabulary = 9;
  model.mlp = MlpKind::plain;
  model.norm = NormStyle::layer;
  model.position = PositionKind::learned;
  model.positions = 4;
  model.attention_bias = model.output_bias = model.mlp_bias = true;
  model.tied_embeddings = true;
  return model;
}

}  // namespace assay::test
