// Models by their dimensions.
// SPDX-License-Identifier: Apache-2.0
#include "bench/case_models.h"

#include "bench/case_sizes.h"

namespace assay {

namespace {

ModelSpec sized(const Dimensions& size, std::int64_t layers) {
  ModelSpec model;
  model.layers = layers;
  model.hidden = size.hidden;
  model.heads = size.heads;
  model.kv_heads = size.kv_heads;
  model.head_size = size.head_size;
  model.feed_forward = size.feed_forward;
  return model;
}

}  // namespace

ModelSpec gpt2(const Dimensions& size, std::int64_t layers) {
  ModelSpec model = sized(size, layers);
  model.name = "gpt2";
  model.type = "gpt2";
  model.vocabulary = 50257;
  model.tied_embeddings = true;
  model.mlp = MlpKind::plain;
  model.norm = NormStyle::layer;
  model.position = PositionKind::learned;
  model.positions = 1024;
  model.attention_bias = model.output_bias = model.mlp_bias = true;
  return model;
}

ModelSpec llama(const Dimensions& size, std::int64_t layers) {
  ModelSpec model = sized(size, layers);
  model.name = "llama";
  model.type = "llama";
  model.vocabulary = 128256;
  return model;
}

ModelSpec twin_of(const ModelSpec& model) {
  ModelSpec twin = model.type == "gpt2" ? gpt2(gpt2_twin, 2) : llama(llama_twin, 2);
  twin.tied_embeddings = model.tied_embeddings;
  twin.vocabulary = 61;
  if (twin.positions > 0) twin.positions = 16;
  return twin;
}

ModelSpec twin_like(const ModelSpec& model) {
  const Dimensions& size = model.kv_heads < model.heads ? llama_twin : gpt2_twin;
  ModelSpec twin = model;
  twin.layers = 2;
  twin.hidden = size.hidden;
  twin.heads = size.heads;
  twin.kv_heads = size.kv_heads;
  twin.head_size = size.head_size;
  twin.feed_forward = size.feed_forward;
  twin.vocabulary = 61;
  if (twin.positions > 0) twin.positions = 16;
  if (twin.window) twin.window = 8;
  twin.windowed_layers.reset();
  twin.extra_parameters = 0;
  twin.published_parameters.reset();
  return twin;
}

StepAttention attention_on(const DeviceInfo& device) {
  return is_processor(device) ? StepAttention::fused : StepAttention::plain;
}

}  // namespace assay
