// Counts the parameters of a model item by item, and the bytes of its cache.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/models/formula.h"
#include "core/models/model.h"

namespace assay {
namespace {

using Items = std::vector<ParameterItem>;

void add(Items& items, const std::string& name, const Formula& formula) {
  if (formula.value() != 0) items.push_back({name, formula.value(), formula.words(), false});
}

void add_matrix(Items& items, const std::string& name, const Formula& formula) {
  if (formula.value() != 0) items.push_back({name, formula.value(), formula.words(), true});
}

// Weight and, where there is one, bias of one norm over `width` numbers.
Formula norm_weights(const ModelSpec& model, const Formula& width) {
  if (model.norm == NormStyle::layer && model.norm_bias) return Formula(2) * width;
  return width;
}

int matrices(const ModelSpec& model) { return model.mlp == MlpKind::gated ? 3 : 2; }

// Biases of one feed-forward: one on each matrix that widens, one on the matrix that narrows.
Formula feed_forward_biases(const ModelSpec& model, std::int64_t width) {
  return Formula(matrices(model) - 1) * Formula(width) + Formula(model.hidden);
}

void add_embeddings(Items& items, const ModelSpec& model) {
  const Formula hidden(model.hidden);
  add(items, "token embedding", Formula(model.vocabulary, "tokens") * hidden);
  if (model.position == PositionKind::learned)
    add(items, "position table", Formula(model.positions, "positions") * hidden);
  if (model.token_types > 0) add(items, "token types", Formula(model.token_types, "types") * hidden);
  if (model.embedding_norm) add(items, "norm of the embedding", norm_weights(model, hidden));
}

void add_latent_attention(Items& items, const ModelSpec& model) {
  const LatentAttention& latent = *model.latent;
  const Formula layers(model.layers, "layers"), hidden(model.hidden), heads(model.heads, "heads");
  const Formula key = Formula(latent.nope_head) + Formula(latent.rope_head);
  if (latent.query_rank > 0) {
    const Formula rank(latent.query_rank);
    add_matrix(items, "attention: queries, down and up", layers * (hidden * rank + rank * heads * key));
    add(items, "attention: norm of the compressed queries", layers * rank);
  } else {
    add_matrix(items, "attention: queries", layers * hidden * heads * key);
  }
  const Formula rank(latent.kv_rank);
  add_matrix(items, "attention: keys and values, down", layers * hidden * (rank + Formula(latent.rope_head)));
  add(items, "attention: norm of the latent row", layers * rank);
  add_matrix(items, "attention: keys and values, up",
             layers * rank * heads * (Formula(latent.nope_head) + Formula(latent.value_head)));
  add_matrix(items, "attention: output", layers * heads * Formula(latent.value_head) * hidden);
}

void add_attention(Items& items, const ModelSpec& model) {
  if (model.latent) return add_latent_attention(items, model);
  const Formula layers(model.layers, "layers"), hidden(model.hidden), head(model.head_size);
  const Formula queries = Formula(model.heads, "heads") * head;
  const Formula keys = Formula(model.kv_heads, "KV heads") * head;
  add_matrix(items, "attention: queries", layers * hidden * queries);
  add_matrix(items, "attention: keys and values", layers * Formula(2) * hidden * keys);
  add_matrix(items, "attention: output", layers * queries * hidden);
  if (model.attention_bias)
    add(items, "attention: biases of queries, keys, values", layers * (queries + Formula(2) * keys));
  if (model.output_bias) add(items, "attention: biases of the output", layers * hidden);
  if (model.query_key_norm) {
    if (model.query_key_norm_full)
      add(items, "attention: norms of queries and keys", layers * (queries + keys));
    else
      add(items, "attention: norms of queries and keys", layers * Formula(2) * head);
  }
  if (model.sinks) add(items, "attention: sinks", layers * Formula(model.heads, "heads"));
}

void add_feed_forward(Items& items, const ModelSpec& model) {
  const std::int64_t dense = model.experts ? model.experts->dense_layers : model.layers;
  const Formula hidden(model.hidden), count(matrices(model), "matrices");
  const Formula layers(dense, model.experts ? "dense layers" : "layers");
  add_matrix(items, "feed-forward", layers * count * hidden * Formula(model.feed_forward));
  if (model.mlp_bias) add(items, "feed-forward: biases", layers * feed_forward_biases(model, model.feed_forward));
  if (!model.experts) return;

  const Experts& experts = *model.experts;
  const Formula sparse(model.layers - dense, "layers"), number(experts.count, "experts"), width(experts.width);
  add(items, "router", sparse * number * hidden);
  if (experts.router_bias) add(items, "router: biases", sparse * number);
  add_matrix(items, "experts", sparse * number * count * hidden * width);
  if (experts.bias) add(items, "experts: biases", sparse * number * feed_forward_biases(model, experts.width));
  const Formula shared = experts.shared_width > 0 ? Formula(experts.shared_width)
                                                  : Formula(experts.shared, "shared experts") * Formula(experts.width);
  add_matrix(items, "shared experts", sparse * count * hidden * shared);
  if (experts.shared_gate) add(items, "gate of the shared experts", sparse * hidden);
}

void add_norms(Items& items, const ModelSpec& model) {
  const Formula layers(model.layers, "layers"), hidden(model.hidden);
  add(items, "norms", layers * Formula(model.norms_per_layer, "norms") * norm_weights(model, hidden));
  if (model.final_norm) add(items, "final norm", norm_weights(model, hidden));
}

void add_head(Items& items, const ModelSpec& model) {
  const Formula hidden(model.hidden), vocabulary(model.vocabulary, "tokens");
  if (model.kind == ModelKind::decoder && !model.tied_embeddings) add(items, "output head", hidden * vocabulary);
  if (model.head_bias) add(items, "output head: bias", vocabulary);
  if (model.pooler) add(items, "pooler", hidden * hidden + hidden);
}

void add_convolutions(Items& items, const ModelSpec& model) {
  for (const Convolution& layer : convolutions(model)) {
    const Formula output(layer.output);
    add(items, layer.name,
        output * Formula(layer.input) * Formula(layer.kernel) * Formula(layer.kernel) + Formula(2) * output);
  }
  const Formula classes(model.vocabulary, "classes");
  add(items, "classifier", Formula(model.hidden) * classes + classes);
}

// Parameters of one routed expert.
Formula expert_parameters(const ModelSpec& model) {
  const Formula weights = Formula(matrices(model)) * Formula(model.hidden) * Formula(model.experts->width);
  return model.experts->bias ? weights + feed_forward_biases(model, model.experts->width) : weights;
}

}  // namespace

std::vector<ParameterItem> parameter_items(const ModelSpec& model) {
  Items items;
  if (model.kind == ModelKind::convolution) {
    add_convolutions(items, model);
  } else {
    add_embeddings(items, model);
    add_attention(items, model);
    add_feed_forward(items, model);
    add_norms(items, model);
    add_head(items, model);
  }
  if (model.extra_parameters != 0) items.push_back({"other", model.extra_parameters, model.note, false});
  return items;
}

std::int64_t parameters(const ModelSpec& model) {
  Formula sum(0);
  for (const ParameterItem& item : parameter_items(model)) sum = Formula((sum + Formula(item.count)).value());
  return sum.value();
}

std::int64_t active_parameters(const ModelSpec& model) {
  if (!model.experts) return parameters(model);
  const Experts& experts = *model.experts;
  const Formula idle =
      Formula(model.layers - experts.dense_layers) * Formula(experts.count - experts.active) * expert_parameters(model);
  return parameters(model) - idle.value();
}

std::int64_t windowed_layers(const ModelSpec& model) {
  if (!model.window) return 0;
  if (model.windowed_layers) return *model.windowed_layers;
  return model.window_every <= 1 ? model.layers : model.layers - model.layers / model.window_every;
}

namespace {

// Numbers that one layer keeps for one token.
Formula cached_numbers(const ModelSpec& model) {
  if (model.kind != ModelKind::decoder) return 0;
  if (model.latent) return Formula(model.latent->kv_rank) + Formula(model.latent->rope_head);
  return Formula(2) * Formula(model.kv_heads) * Formula(model.head_size);
}

std::int64_t whole_bytes(const Formula& numbers, int bits) { return ((numbers * Formula(bits)).value() + 7) / 8; }

}  // namespace

std::int64_t kv_bytes_per_token(const ModelSpec& model, int bits) {
  return whole_bytes(Formula(model.layers) * cached_numbers(model), bits);
}

std::int64_t kv_bytes(const ModelSpec& model, std::int64_t length, int bits) {
  const std::int64_t windowed = windowed_layers(model);
  const Formula rows = Formula(model.layers - windowed) * Formula(length) +
                       Formula(windowed) * Formula(std::min(length, model.window.value_or(length)));
  return whole_bytes(rows * cached_numbers(model), bits);
}

std::vector<Convolution> convolutions(const ModelSpec& model, std::int64_t side) {
  if (model.kind != ModelKind::convolution) return {};
  std::vector<Convolution> layers;
  std::int64_t now = (side + 1) / 2;
  layers.push_back({"stem", 3, 64, 7, 2, now});
  now = (now + 1) / 2;  // the pooling behind the stem
  std::int64_t channels = 64;
  for (std::size_t stage = 0; stage < model.stages.size(); ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    for (std::int64_t block = 0; block < model.stages[stage]; ++block) {
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      const std::int64_t before = now;
      now = (now + stride - 1) / stride;
      const std::string name = "stage " + std::to_string(stage + 1) + " block " + std::to_string(block + 1);
      layers.push_back({name + ", 1x1", channels, width, 1, 1, before});
      layers.push_back({name + ", 3x3", width, width, 3, stride, now});  // v1.5: the stride is here
      layers.push_back({name + ", 1x1 up", width, 4 * width, 1, 1, now});
      if (block == 0) layers.push_back({name + ", shortcut", channels, 4 * width, 1, stride, now});
      channels = 4 * width;
    }
  }
  return layers;
}

}  // namespace assay
