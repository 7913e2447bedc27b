// model_types whose feed-forward is a choice of experts, and latent attention.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/config_types.h"

namespace assay {
namespace {

Experts read_counts(const ConfigReader& config, std::string_view count, std::string_view active,
                    std::string_view width) {
  Experts experts;
  experts.count = config.integer(count);
  experts.active = config.integer(active);
  experts.width = config.integer(width);
  if (experts.active > experts.count)
    config.refuse(active, "no more than the " + std::to_string(experts.count) + " experts there are");
  return experts;
}

// Only models whose every layer has experts: others would need the list of the rest.
void refuse_mixed_layers(const ConfigReader& config) {
  if (config.optional_integer("decoder_sparse_step", 0).value_or(1) != 1)
    config.refuse("decoder_sparse_step", "1 (experts in every layer)");
  if (config.length("mlp_only_layers") != 0) config.refuse("mlp_only_layers", "an empty list (experts in every layer)");
}

void read_mixtral(const ConfigReader& config, ModelSpec& model) {
  model.experts = read_counts(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  model.window = config.optional_integer("sliding_window");
}

void qwen2_moe_traits(ModelSpec& model) { model.attention_bias = true; }

void read_qwen2_moe(const ConfigReader& config, ModelSpec& model) {
  refuse_mixed_layers(config);
  model.attention_bias = config.flag("qkv_bias", true);
  model.experts = read_counts(config, "num_experts", "num_experts_per_tok", "moe_intermediate_size");
  model.experts->shared = 1;
  model.experts->shared_width = config.integer("shared_expert_intermediate_size");
  model.experts->shared_gate = true;
  if (config.flag("use_sliding_window", false)) config.refuse("use_sliding_window", "false");
}

void qwen3_moe_traits(ModelSpec& model) { model.query_key_norm = true; }

void read_qwen3_moe(const ConfigReader& config, ModelSpec& model) {
  refuse_mixed_layers(config);
  model.attention_bias = model.output_bias = config.flag("attention_bias", false);
  model.experts = read_counts(config, "num_experts", "num_experts_per_tok", "moe_intermediate_size");
  if (config.flag("use_sliding_window", false)) config.refuse("use_sliding_window", "false");
}

void olmoe_traits(ModelSpec& model) { model.query_key_norm = model.query_key_norm_full = true; }

void read_olmoe(const ConfigReader& config, ModelSpec& model) {
  model.attention_bias = model.output_bias = config.flag("attention_bias", false);
  model.experts = read_counts(config, "num_experts", "num_experts_per_tok", "intermediate_size");
}

void gpt_oss_traits(ModelSpec& model) {
  model.attention_bias = model.output_bias = true;
  model.sinks = true;
  model.head_size = 64;
  model.window = 128;
  model.window_every = 2;
}

void read_gpt_oss(const ConfigReader& config, ModelSpec& model) {
  model.attention_bias = model.output_bias = config.flag("attention_bias", true);
  model.experts = read_counts(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  model.experts->bias = model.experts->router_bias = true;
  model.window = config.optional_integer("sliding_window").value_or(128);
  const std::vector<std::string> types = config.words("layer_types");
  if (types.empty()) return;
  model.windowed_layers = 0;
  for (const std::string& type : types)
    if (type == "sliding_attention") ++*model.windowed_layers;
  if (static_cast<std::int64_t>(types.size()) != model.layers)
    config.refuse("layer_types", "one entry for each of " + std::to_string(model.layers) + " layers");
}

LatentAttention read_latent(const ConfigReader& config) {
  LatentAttention latent;
  latent.query_rank = config.optional_integer("q_lora_rank", 0).value_or(0);
  latent.kv_rank = config.integer("kv_lora_rank");
  latent.nope_head = config.integer("qk_nope_head_dim");
  latent.rope_head = config.integer("qk_rope_head_dim");
  latent.value_head = config.integer("v_head_dim");
  return latent;
}

void read_deepseek(const ConfigReader& config, ModelSpec& model) {
  if (config.flag("attention_bias", false)) config.refuse("attention_bias", "false");
  if (config.optional_integer("moe_layer_freq").value_or(1) != 1)
    config.refuse("moe_layer_freq", "1 (experts in every layer behind the first dense ones)");
  model.latent = read_latent(config);
  model.head_size = model.latent->nope_head + model.latent->rope_head;
  if (!config.has("n_routed_experts")) return;
  model.experts = read_counts(config, "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size");
  model.experts->shared = config.optional_integer("n_shared_experts", 0).value_or(0);
  model.experts->dense_layers = config.optional_integer("first_k_dense_replace", 0).value_or(0);
  if (model.experts->dense_layers > model.layers)
    config.refuse("first_k_dense_replace", "no more than the " + std::to_string(model.layers) + " layers there are");
  // The router of V3 corrects its scores by one learned number an expert.
  model.experts->router_bias = config.word("topk_method", model.type == "deepseek_v3" ? "noaux_tc" : "") == "noaux_tc";
  if (config.optional_integer("num_nextn_predict_layers", 0).value_or(0) > 0)
    model.note = "without the multi-token-prediction module";
}

}  // namespace

std::vector<ConfigType> expert_types() {
  const FieldNames usual;
  FieldNames deepseek;
  deepseek.head_size = "";
  FieldNames qwen_moe;
  const KvDefault as_heads = KvDefault::as_heads, required = KvDefault::required;
  return {
      {"mixtral", usual, required, false, nullptr, read_mixtral,
       "as mistral, feed-forward of num_local_experts experts of which num_experts_per_tok are used"},
      {"qwen2_moe", qwen_moe, required, false, qwen2_moe_traits, read_qwen2_moe,
       "as qwen2, experts of moe_intermediate_size in every layer, one gated shared expert"},
      {"qwen3_moe", usual, required, false, qwen3_moe_traits, read_qwen3_moe,
       "as qwen3, experts of moe_intermediate_size in every layer"},
      {"olmoe", usual, as_heads, false, olmoe_traits, read_olmoe,
       "as olmo2 with norms in front, experts in every layer"},
      {"gpt_oss", usual, required, false, gpt_oss_traits, read_gpt_oss,
       "biases everywhere, one sink a head, window of 128 on every second layer, experts in every layer"},
      {"deepseek_v2", deepseek, as_heads, false, nullptr, read_deepseek,
       "latent attention; dense layers first, then experts with n_shared_experts shared ones"},
      {"deepseek_v3", deepseek, as_heads, false, nullptr, read_deepseek,
       "as deepseek_v2, with one correction a routed expert; the multi-token-prediction module is not counted"},
  };
}

}  // namespace assay
