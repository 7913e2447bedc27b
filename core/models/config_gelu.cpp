// model_types with layer norms and a plain feed-forward of two matrices: GPT-2 and its kin, BERT.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/config_types.h"

namespace assay {
namespace {

void plain_traits(ModelSpec& model) {
  model.mlp = MlpKind::plain;
  model.norm = NormStyle::layer;
}

void biased_traits(ModelSpec& model) {
  plain_traits(model);
  model.attention_bias = model.output_bias = model.mlp_bias = true;
}

void gpt2_traits(ModelSpec& model) {
  biased_traits(model);
  model.position = PositionKind::learned;
}

void read_gpt2(const ConfigReader&, ModelSpec& model) { model.positions = model.context; }

void read_gpt_bigcode(const ConfigReader& config, ModelSpec& model) {
  model.positions = model.context;
  if (config.flag("multi_query", true)) model.kv_heads = 1;
}

void bloom_traits(ModelSpec& model) {
  biased_traits(model);
  model.position = PositionKind::alibi;
  model.embedding_norm = true;
}

// OPT's table has two rows more than positions.
void read_opt(const ConfigReader& config, ModelSpec& model) {
  model.positions = model.context + 2;
  if (config.has("word_embed_proj_dim") && config.integer("word_embed_proj_dim") != model.hidden)
    config.refuse("word_embed_proj_dim", "the hidden size (a projected embedding is not modelled)");
  if (!config.flag("enable_bias", true)) model.attention_bias = model.output_bias = model.mlp_bias = false;
  if (!config.flag("do_layer_norm_before", true) || config.flag("_remove_final_layer_norm", false))
    model.final_norm = false;
}

void read_gpt_neox(const ConfigReader& config, ModelSpec& model) {
  model.attention_bias = model.output_bias = config.flag("attention_bias", true);
}

void phi_traits(ModelSpec& model) {
  biased_traits(model);
  model.norms_per_layer = 1;
  model.head_bias = true;
}

void read_phi(const ConfigReader& config, ModelSpec&) {
  if (config.flag("qk_layernorm", false))
    config.refuse("qk_layernorm", "false (norms of single heads are not modelled)");
}

void read_starcoder2(const ConfigReader& config, ModelSpec& model) {
  model.attention_bias = model.output_bias = model.mlp_bias = config.flag("use_bias", true);
  model.window = config.optional_integer("sliding_window");
}

// The older layout is multi-query with one norm; the newer one has groups and a norm for each branch.
void read_falcon(const ConfigReader& config, ModelSpec& model) {
  model.attention_bias = model.output_bias = model.mlp_bias = config.flag("bias", false);
  if (config.flag("new_decoder_architecture", false)) {
    model.kv_heads = config.optional_integer("num_kv_heads").value_or(model.heads);
    model.norms_per_layer = config.optional_integer("num_ln_in_parallel_attn").value_or(2) == 1 ? 1 : 2;
  } else {
    model.kv_heads = config.flag("multi_query", true) ? 1 : model.heads;
    model.norms_per_layer = config.flag("parallel_attn", true) ? 1 : 2;
  }
  if (config.flag("alibi", false)) model.position = PositionKind::alibi;
}

void mpt_traits(ModelSpec& model) {
  plain_traits(model);
  model.norm_bias = false;
  model.position = PositionKind::alibi;
}

void read_mpt_attention(const ConfigReader& attention, ModelSpec& model) {
  const std::string type = attention.word("attn_type", "multihead_attention");
  if (type == "multiquery_attention")
    model.kv_heads = 1;
  else if (type == "grouped_query_attention")
    model.kv_heads = attention.integer("kv_n_heads");
  else if (type != "multihead_attention")
    attention.refuse("attn_type", "multihead_attention, multiquery_attention or grouped_query_attention");
  if (attention.flag("qk_ln", false)) attention.refuse("qk_ln", "false (normed queries and keys are not modelled)");
  if (attention.flag("alibi", false)) model.position = PositionKind::alibi;
}

void read_mpt(const ConfigReader& config, ModelSpec& model) {
  model.feed_forward = model.hidden * config.optional_integer("expansion_ratio").value_or(4);
  model.position = config.flag("learned_pos_emb", true) ? PositionKind::learned : PositionKind::none;
  if (config.has("attn_config")) read_mpt_attention(config.inside("attn_config"), model);
  if (model.position == PositionKind::learned) model.positions = model.context;
  const bool biases = !config.flag("no_bias", true);
  model.attention_bias = model.output_bias = model.mlp_bias = model.norm_bias = biases;
  if (config.has("ffn_config") && config.inside("ffn_config").word("ffn_type", "mptmlp") != "mptmlp")
    config.inside("ffn_config").refuse("ffn_type", "mptmlp");
}

void bert_traits(ModelSpec& model) {
  biased_traits(model);
  model.kind = ModelKind::encoder;
  model.position = PositionKind::learned;
  model.embedding_norm = true;
  model.final_norm = false;
  model.token_types = 2;
  model.pooler = true;
}

void read_bert(const ConfigReader& config, ModelSpec& model) {
  model.positions = model.context;
  model.token_types = config.optional_integer("type_vocab_size").value_or(2);
  if (config.flag("is_decoder", false)) config.refuse("is_decoder", "false (BERT is judged as an encoder)");
}

FieldNames gpt2_fields() {
  return {"n_embd|hidden_size", "n_layer|num_hidden_layers", "n_head|num_attention_heads", "", "", "n_inner",
          "n_positions"};
}

}  // namespace

std::vector<ConfigType> gelu_types() {
  FieldNames own_heads;  // KV heads come from fields of their own, or are as many as heads
  own_heads.kv_heads = own_heads.head_size = "";
  FieldNames bloom{"n_embed|hidden_size", "n_layer|num_hidden_layers", "n_head|num_attention_heads", "", "", "",
                   "seq_length"};
  FieldNames opt = own_heads;
  opt.feed_forward = "ffn_dim";
  FieldNames falcon = own_heads;
  falcon.layers = "num_hidden_layers|n_layer";
  falcon.heads = "num_attention_heads|n_head";
  falcon.feed_forward = "ffn_hidden_size";
  FieldNames phi;
  phi.head_size = "";
  const FieldNames mpt{"d_model|hidden_size", "n_layers|num_hidden_layers", "n_heads|num_attention_heads", "", "", "",
                       "max_seq_len"};
  const KvDefault as_heads = KvDefault::as_heads, required = KvDefault::required;
  return {
      {"gpt2", gpt2_fields(), as_heads, true, gpt2_traits, read_gpt2,
       "learned positions, biases everywhere, tied; feed-forward 4 x hidden where n_inner is absent"},
      {"gpt_bigcode", gpt2_fields(), as_heads, true, gpt2_traits, read_gpt_bigcode,
       "as gpt2; one KV head unless multi_query is false"},
      {"gpt_neox", own_heads, as_heads, false, biased_traits, read_gpt_neox,
       "rotary, untied, biases on the feed-forward and, unless attention_bias is false, on attention"},
      {"phi", phi, as_heads, false, phi_traits, read_phi,
       "rotary, untied, one norm a layer, biases everywhere, on the output head too"},
      {"starcoder2", phi, required, true, biased_traits, read_starcoder2,
       "rotary, tied, biases unless use_bias is false; window of sliding_window"},
      {"falcon", falcon, as_heads, true, plain_traits, read_falcon,
       "tied, no biases unless bias; one KV head and one norm, or num_kv_heads and two in the newer layout"},
      {"mpt", mpt, as_heads, true, mpt_traits, read_mpt,
       "tied; ALiBi or learned positions; no biases unless no_bias is false; feed-forward expansion_ratio (4) x "
       "hidden"},
      {"bloom", bloom, as_heads, true, bloom_traits, nullptr,
       "ALiBi, tied, biases everywhere, a norm behind the embedding; feed-forward 4 x hidden"},
      {"opt", opt, as_heads, true, gpt2_traits, read_opt,
       "learned positions (two rows more than stated), tied, biases"},
      {"bert", own_heads, as_heads, true, bert_traits, read_bert,
       "an encoder: learned positions, token types, pooler; the tied head for masked words is not counted"},
  };
}

}  // namespace assay
