// model_types built like Llama: RMS norms or the like, rotary positions, a gated feed-forward.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/models/config_types.h"

namespace assay {
namespace {

// attention_bias puts a bias on all four projections, mlp_bias on all three matrices (LlamaConfig; both off by
// default).
void read_llama(const ConfigReader& config, ModelSpec& model) {
  model.attention_bias = model.output_bias = config.flag("attention_bias", false);
  model.mlp_bias = config.flag("mlp_bias", false);
}

void read_attention_bias(const ConfigReader& config, ModelSpec& model) {
  model.attention_bias = model.output_bias = config.flag("attention_bias", false);
}

// MistralConfig fills in 4096 where the field is absent; releases without a window say null.
void read_mistral(const ConfigReader& config, ModelSpec& model) {
  if (config.has("sliding_window"))
    model.window = config.integer("sliding_window");
  else if (!config.is_null("sliding_window"))
    model.window = 4096;
}

// layer_types, where present, says of each layer what it is; it wins over any pattern.
bool read_layer_types(const ConfigReader& config, ModelSpec& model) {
  const std::vector<std::string> types = config.words("layer_types");
  if (types.empty()) return false;
  if (static_cast<std::int64_t>(types.size()) != model.layers)
    config.refuse("layer_types", "one entry for each of " + std::to_string(model.layers) + " layers");
  std::int64_t windowed = 0;
  for (const std::string& type : types) {
    if (type == "sliding_attention")
      ++windowed;
    else if (type != "full_attention")
      config.refuse("layer_types", "only full_attention and sliding_attention");
  }
  if (windowed == 0) model.window.reset();
  model.windowed_layers = windowed;
  return true;
}

// A window counts only where use_sliding_window is on, and then from layer max_window_layers (Qwen2Config: 28).
void read_qwen_window(const ConfigReader& config, ModelSpec& model) {
  if (!config.flag("use_sliding_window", false)) return;
  model.window = config.optional_integer("sliding_window");
  if (!model.window || read_layer_types(config, model)) return;
  const std::int64_t first = config.optional_integer("max_window_layers", 0).value_or(28);
  model.windowed_layers = std::max<std::int64_t>(0, model.layers - first);
  if (*model.windowed_layers == 0) model.window.reset();
}

void qwen2_traits(ModelSpec& model) { model.attention_bias = true; }

void qwen3_traits(ModelSpec& model) {
  model.query_key_norm = true;
  model.head_size = 128;
}

void read_qwen3(const ConfigReader& config, ModelSpec& model) {
  read_attention_bias(config, model);
  read_qwen_window(config, model);
}

// head_dim is 256 in GemmaConfig and Gemma2Config, whatever the hidden size.
void gemma_traits(ModelSpec& model) { model.head_size = 256; }

void gemma2_traits(ModelSpec& model) {
  model.head_size = 256;
  model.norms_per_layer = 4;
  model.window = 4096;
  model.window_every = 2;
}

void read_gemma2(const ConfigReader& config, ModelSpec& model) {
  read_attention_bias(config, model);
  model.window = config.optional_integer("sliding_window").value_or(4096);
  read_layer_types(config, model);
}

void gemma3_traits(ModelSpec& model) {
  model.head_size = 256;
  model.norms_per_layer = 4;
  model.query_key_norm = true;
  model.window = 4096;
  model.window_every = 6;
}

void read_gemma3(const ConfigReader& config, ModelSpec& model) {
  read_attention_bias(config, model);
  model.window = config.optional_integer("sliding_window").value_or(4096);
  const std::int64_t every = config.optional_integer("sliding_window_pattern").value_or(6);
  model.window_every = static_cast<int>(std::min<std::int64_t>(every, model.layers + 1));
  if (every == 1) model.windowed_layers = 0;  // every layer is the global one
  read_layer_types(config, model);
}

void read_phi3(const ConfigReader& config, ModelSpec& model) {
  model.window = config.optional_integer("sliding_window");
}

// One layer norm serves attention and feed-forward where they run side by side.
void stablelm_traits(ModelSpec& model) { model.norm = NormStyle::layer; }

void read_stablelm(const ConfigReader& config, ModelSpec& model) {
  model.attention_bias = config.flag("use_qkv_bias", false);
  if (config.flag("use_parallel_residual", false)) model.norms_per_layer = 1;
  if (config.flag("qk_layernorm", false))
    config.refuse("qk_layernorm", "false (norms of single heads are not modelled)");
}

// OLMo's layer norms have no weights at all.
void olmo_traits(ModelSpec& model) {
  model.norms_per_layer = 0;
  model.final_norm = false;
}

void olmo2_traits(ModelSpec& model) { model.query_key_norm = model.query_key_norm_full = true; }

void cohere_traits(ModelSpec& model) {
  model.norm = NormStyle::layer;
  model.norm_bias = false;
  model.norms_per_layer = 1;
}

void read_cohere(const ConfigReader& config, ModelSpec& model) {
  read_attention_bias(config, model);
  model.query_key_norm = model.query_key_norm_full = config.flag("use_qk_norm", false);
}

// Qwen's first edition states twice the width of one matrix, and calls the size of a head kv_channels.
void read_qwen1(const ConfigReader& config, ModelSpec& model) {
  if (model.feed_forward % 2 != 0) config.refuse("intermediate_size", "an even number (twice the width of one matrix)");
  model.feed_forward /= 2;
}

}  // namespace

std::vector<ConfigType> llama_like_types() {
  const FieldNames usual;
  FieldNames qwen1;
  qwen1.kv_heads = "";
  qwen1.head_size = "kv_channels";
  qwen1.context = "seq_length";
  const KvDefault as_heads = KvDefault::as_heads, required = KvDefault::required;
  return {
      {"llama", usual, as_heads, false, nullptr, read_llama,
       "RMS norms, gated feed-forward, untied, no biases unless attention_bias or mlp_bias; KV heads as heads, "
       "head_dim "
       "hidden / heads where absent"},
      {"granite", usual, as_heads, false, nullptr, read_llama, "as llama; its multipliers have no parameters"},
      {"mistral", usual, required, false, nullptr, read_mistral,
       "as llama without biases; window of sliding_window in every layer, 4096 where the field is absent, none where "
       "it is null"},
      {"qwen2", usual, required, false, qwen2_traits, read_qwen_window,
       "as llama with biases on q, k, v; a window only where use_sliding_window is true, from layer max_window_layers"},
      {"qwen3", usual, required, false, qwen3_traits, read_qwen3,
       "as llama without biases; queries and keys normed per head; head_dim 128 where absent; windows as qwen2"},
      {"qwen", qwen1, as_heads, false, qwen2_traits, read_qwen1,
       "Qwen 1: biases on q, k, v; intermediate_size is twice the width of one matrix; head size kv_channels"},
      {"gemma", usual, required, true, gemma_traits, read_attention_bias, "tied; head_dim 256 where absent"},
      {"gemma2", usual, required, true, gemma2_traits, read_gemma2,
       "tied; four norms a layer; head_dim 256 where absent; window of 4096 on every second layer"},
      {"gemma3_text", usual, required, true, gemma3_traits, read_gemma3,
       "tied; four norms a layer, queries and keys normed per head; five windowed layers to one global; where absent: "
       "vocabulary 262208, 8 heads, 4 KV heads, head_dim 256, as the releases rely on"},
      {"phi3", usual, as_heads, false, nullptr, read_phi3, "as llama with fused matrices; window of sliding_window"},
      {"stablelm", usual, required, false, stablelm_traits, read_stablelm,
       "layer norms with biases, gated feed-forward; one norm a layer where use_parallel_residual"},
      {"olmo", usual, as_heads, false, olmo_traits, read_attention_bias, "as llama; norms without weights"},
      {"olmo2", usual, as_heads, false, olmo2_traits, read_attention_bias,
       "as llama; the two norms come behind; queries and keys normed over all heads together"},
      {"cohere", usual, as_heads, true, cohere_traits, read_cohere,
       "tied; one layer norm a layer, without bias; gated feed-forward"},
  };
}

}  // namespace assay
