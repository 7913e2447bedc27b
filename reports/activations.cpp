// How many numbers a token leaves behind.
// SPDX-License-Identifier: Apache-2.0
#include "reports/activations.h"

#include <algorithm>
#include <vector>

#include "reports/phrase.h"

namespace assay {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

// A sum that is kept in words as it grows.
class Sum {
 public:
  void add(double factor, double width, const std::string& what) {
    if (factor == 0 || width == 0) return;
    count_ += factor * width;
    words_ += (words_.empty() ? "" : " + ") + plain_number(factor) + " x " + plain_number(width) + " " + what;
  }
  Numbers numbers() const { return {count_, words_}; }

 private:
  double count_ = 0;
  std::string words_;
};

Numbers times(double factor, const std::string& noun, const Numbers& numbers) {
  return {factor * numbers.count, plain_number(factor) + " " + noun + " x (" + numbers.words + ")"};
}

Numbers plus(const Numbers& left, const Numbers& right) {
  if (right.count == 0) return left;
  if (left.count == 0) return right;
  return {left.count + right.count, left.words + " + " + right.words};
}

struct Widths {
  double hidden, queries, keys, values_out;  // numbers a token; keys: of keys, and as many of values
};

Widths widths(const ModelSpec& model) {
  if (model.latent) {
    const double heads = real(model.heads);
    const double key = real(model.latent->nope_head + model.latent->rope_head);
    return {real(model.hidden), heads * key, heads * key, heads * real(model.latent->value_head)};
  }
  const double queries = real(model.heads * model.head_size);
  return {real(model.hidden), queries, real(model.kv_heads * model.head_size), queries};
}

double norm_factor(const ModelSpec& model, Format compute) {
  if (model.norm == NormStyle::layer) return 2;  // input and output; statistics are small
  return bits(compute.element) == 32 ? 3 : 4;    // nothing to widen in fp32
}

double query_key_width(const ModelSpec& model) {
  if (!model.query_key_norm) return 0;
  return real((model.heads + model.kv_heads) * model.head_size);
}

// What the ops of one layer's attention save, run one after the other.
Numbers attention_saved(const ModelSpec& model, Format compute) {
  const Widths width = widths(model);
  const double norm = norm_factor(model, compute);
  Sum sum;
  sum.add(norm * model.norms_per_layer + 1, width.hidden, "norms and residual");
  sum.add(2, width.queries, "queries and keys of all heads");
  sum.add(3, width.values_out, "values of all heads, output and its copy");
  sum.add(norm - 1, query_key_width(model), "norms of queries and keys");
  if (model.latent)
    sum.add(norm + 1, real(model.latent->query_rank + model.latent->kv_rank + model.latent->rope_head), "latent rows");
  sum.add(32.0 / bits(compute.element), real(model.heads), "row sums in fp32");
  return sum.numbers();
}

// The feed-forward's share: `matrices_out` numbers a unit of width are kept.
Numbers dense_saved(const ModelSpec& model, double kept) {
  Sum sum;
  sum.add(kept, real(model.feed_forward), "feed-forward");
  return sum.numbers();
}

Numbers experts_saved(const ModelSpec& model, double kept) {
  const Experts& experts = *model.experts;
  Sum sum;
  sum.add(kept * real(experts.active), real(experts.width), "chosen experts");
  sum.add(2 * real(experts.active), real(model.hidden), "tokens sent and returned");
  const double shared = experts.shared_width > 0 ? real(experts.shared_width) : real(experts.shared * experts.width);
  sum.add(kept, shared, "shared experts");
  sum.add(2, real(experts.count), "router");
  return sum.numbers();
}

// attention in all layers, feed-forward in the dense ones, experts in the others
Numbers all_layers(const ModelSpec& model, const Numbers& attention, double kept) {
  if (!model.experts) return times(real(model.layers), "layers", plus(attention, dense_saved(model, kept)));
  const double dense = real(model.experts->dense_layers);
  Numbers sum = times(real(model.layers), "layers", attention);
  if (dense > 0) sum = plus(sum, times(dense, "layers", dense_saved(model, kept)));
  return plus(sum, times(real(model.layers) - dense, "layers", experts_saved(model, kept)));
}

double kept_by_ops(const ModelSpec& model) { return model.mlp == MlpKind::gated ? 4 : 2; }

Numbers layer_inputs(const ModelSpec& model) {
  Sum sum;
  sum.add(1, real(model.hidden), "input");
  return times(real(model.layers), "layers", sum.numbers());
}

// Selective: only what the matrix products take and give, without norms, activations and repeated heads.
Numbers products_saved(const ModelSpec& model) {
  const Widths width = widths(model);
  Sum attention;
  attention.add(2, width.hidden, "input and attention's result");
  attention.add(1, width.queries, "queries");
  attention.add(1, width.keys + (model.latent ? width.values_out : width.keys), "keys and values");
  attention.add(1, width.values_out, "attention output");
  return all_layers(model, attention.numbers(), model.mlp == MlpKind::gated ? 2 : 1);
}

// Every convolution saves its input and what its norm takes; the activation behind is done in place.
Numbers picture_saved(const ModelSpec& model) {
  double sum = 0;
  for (const Convolution& layer : convolutions(model)) sum += 2 * real(layer.output * layer.side * layer.side);
  return {sum, "2 x the " + grouped(sum / 2) + " numbers of all feature maps of a 224 x 224 picture"};
}

}  // namespace

Numbers saved_numbers(const ModelSpec& model, Recompute recompute, Format compute) {
  if (model.kind == ModelKind::convolution) return picture_saved(model);
  switch (recompute) {
    case Recompute::none:
      return all_layers(model, attention_saved(model, compute), kept_by_ops(model));
    case Recompute::selective:
      return products_saved(model);
    case Recompute::full:
      return layer_inputs(model);
  }
  return {};
}

Numbers least_saved_numbers(const ModelSpec& model, Recompute recompute) {
  if (model.kind == ModelKind::convolution) {
    Numbers half = picture_saved(model);
    half.count /= 2;
    return half;
  }
  if (recompute != Recompute::none) return saved_numbers(model, recompute, {Element::bf16, Scaling::none});
  const Widths width = widths(model);
  Sum attention;
  attention.add(2 * model.norms_per_layer, width.hidden, "norms");
  attention.add(1, width.queries, "queries");
  attention.add(1, width.keys + (model.latent ? width.values_out : width.keys), "keys and values");
  attention.add(1, width.values_out, "attention output");
  return all_layers(model, attention.numbers(), model.mlp == MlpKind::gated ? 3 : 2);
}

Numbers widest_numbers(const ModelSpec& model) {
  if (model.kind == ModelKind::convolution) {
    double widest = 0;
    double before = 3.0 * 224 * 224;
    for (const Convolution& layer : convolutions(model)) {
      const double after = real(layer.output * layer.side * layer.side);
      widest = std::max(widest, before + 2 * after);
      before = after;
    }
    return {widest, grouped(widest) + " numbers: the widest feature map, its source and its normed copy"};
  }
  const Widths width = widths(model);
  Sum attention;
  attention.add(4, width.hidden, "hidden");
  attention.add(1, width.queries, "queries");
  attention.add(1, width.keys + (model.latent ? width.values_out : width.keys), "keys and values");
  attention.add(1, width.values_out, "attention output");
  std::vector<Numbers> moments{attention.numbers()};
  const double matrices = model.mlp == MlpKind::gated ? 3 : 2;
  Sum hidden;
  hidden.add(4, width.hidden, "hidden");
  if (!model.experts || model.experts->dense_layers > 0)
    moments.push_back(plus(hidden.numbers(), dense_saved(model, matrices)));
  if (model.experts) moments.push_back(plus(hidden.numbers(), experts_saved(model, matrices)));
  return *std::max_element(moments.begin(), moments.end(),
                           [](const Numbers& a, const Numbers& b) { return a.count < b.count; });
}

Numbers one_layer_numbers(const ModelSpec& model, Format compute) {
  Numbers layer = attention_saved(model, compute);
  Numbers wide = dense_saved(model, kept_by_ops(model));
  if (model.experts) {
    const Numbers chosen = experts_saved(model, kept_by_ops(model));
    if (chosen.count > wide.count) wide = chosen;
  }
  return plus(layer, wide);
}

}  // namespace assay
