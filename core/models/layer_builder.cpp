// The way there: weights, products, norms, attention and feed-forward.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/layer_builder.h"

#include <cmath>
#include <utility>

namespace assay {
namespace {

constexpr Format fp32{Element::fp32, Scaling::none};
constexpr double small = 0.02;  // biases beside activations of about 1

Format stored(Format format) {
  return format.element == Element::tf32 ? Format{Element::fp32, format.scaling} : format;
}

double inverse_root(std::int64_t count) { return 1 / std::sqrt(static_cast<double>(count)); }

}  // namespace

LayerBuilder::LayerBuilder(const ModelSpec& model, const StepSetup& setup, std::string name,
                           std::optional<KeyCache> cache)
    : model_(model),
      setup_(setup),
      compute_(stored(setup.compute)),
      multiply_(setup.compute),
      build_(std::move(name), compute_),
      cache_(cache),
      tokens_(checked_multiply(setup.batch, setup.length)),
      queries_(checked_multiply(model.heads, model.head_size)),
      packed_(checked_multiply(checked_add(model.heads, checked_multiply(2, model.kv_heads)), model.head_size)) {}

Parameter LayerBuilder::parameter(const std::string& name, Shape shape, Initial initial, double magnitude,
                                  bool learns) {
  Parameter made;
  made.stream = streams_++;
  made.weight = build_.persistent(name, compute_, std::move(shape), Category::weight, initial, magnitude);
  build_.set_stream(made.weight, made.stream);
  if (learns && setup_.backward) {
    made.gradient = build_.like(made.weight, name + ".gradient", compute_, Category::gradient, true, Initial::zero);
    trained_.push_back(made);
  }
  return made;
}

Linear LayerBuilder::linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias, double magnitude) {
  Linear made;
  made.name = name;
  made.in = in;
  made.out = out;
  if (setup_.fp8 && !setup_.backward) {  // kept as it is multiplied
    const Format kept{forward_fp8(setup_.fnuz), Scaling::tensor};
    made.narrow = build_.persistent(name + ".weight", kept, {in, out}, Category::weight, Initial::pattern);
    made.scale = build_.persistent(name + ".weight.scale", fp32, {1}, Category::weight, Initial::constant, magnitude);
  } else {
    made.weight = parameter(name + ".weight", {in, out}, Initial::pattern, magnitude, !adapts());
  }
  if (bias) made.bias = parameter(name + ".bias", {out}, Initial::pattern, small, !adapts());
  if (adapts()) {
    made.down = parameter(name + ".adapter_down", {in, setup_.lora_rank}, Initial::pattern, inverse_root(in), true);
    made.up = parameter(name + ".adapter_up", {setup_.lora_rank, out}, Initial::pattern, small, true);
  }
  return made;
}

NormLayer LayerBuilder::norm(const std::string& name) {
  NormLayer made;
  made.name = name;
  made.weight = parameter(name + ".weight", {model_.hidden}, Initial::one, 0, !adapts());
  if (model_.norm == NormStyle::layer) {
    made.bias = parameter(name + ".bias", {model_.hidden}, Initial::pattern, small, !adapts());
  }
  return made;
}

// Weights of variance 1 / in keep what they make about as large as what they take; what is added to the residual is
// smaller the more layers add to it (Radford et al. 2019, section 2.3).
LayerWeights LayerBuilder::layer(std::int64_t number) {
  const std::string name = "layer" + std::to_string(number) + ".";
  const std::int64_t wide = checked_multiply(model_.mlp == MlpKind::gated ? 2 : 1, model_.feed_forward);
  const double residual = inverse_root(2 * model_.layers);
  LayerWeights made;
  made.norm1 = norm(name + "attention.norm");
  made.qkv = linear(name + "attention.qkv", model_.hidden, packed_, model_.attention_bias, inverse_root(model_.hidden));
  made.projection =
      linear(name + "attention.output", queries_, model_.hidden, model_.output_bias, residual * inverse_root(queries_));
  made.norm2 = norm(name + "feed_forward.norm");
  made.up = linear(name + "feed_forward.up", model_.hidden, wide, model_.mlp_bias, inverse_root(model_.hidden));
  made.down = linear(name + "feed_forward.down", model_.feed_forward, model_.hidden, model_.mlp_bias,
                     residual * inverse_root(model_.feed_forward));
  const bool windowed =
      model_.window && (model_.window_every == 1 || number % model_.window_every != model_.window_every - 1);
  if (windowed && *model_.window < setup_.length) made.window = model_.window;
  return made;
}

// -- ops --------------------------------------------------------------------------------------------------------------

Gemm LayerBuilder::gemm(std::int64_t m, std::int64_t n, std::int64_t k) const {
  Gemm op;
  op.m = m;
  op.n = n;
  op.k = k;
  op.a = op.b = multiply_;
  op.d = compute_;
  op.accumulate = compute_.element == Element::fp64 ? Element::fp64 : Element::fp32;
  return op;
}

// One product for each group of query heads that share keys: their rows follow each other.
Gemm LayerBuilder::group_gemm(std::int64_t m, std::int64_t n, std::int64_t k) const {
  Gemm op = gemm(m, n, k);
  op.batch = setup_.batch * model_.kv_heads;
  return op;
}

Attention LayerBuilder::fused(Direction direction, const LayerWeights& weights) const {
  Attention op;
  op.direction = direction;
  op.batch = setup_.batch;
  op.query_length = op.key_length = setup_.length;
  if (cache_ && cache_->position > 0) op.key_length = cache_->capacity;
  op.heads = model_.heads;
  op.kv_heads = model_.kv_heads;
  op.head_size = op.value_size = model_.head_size;
  op.format = op.cache = compute_;
  if (cache_ && cache_->position > 0) op.cache = cache_->format;
  op.causal = true;
  op.window = weights.window.value_or(0);
  return op;
}

Pointwise LayerBuilder::activation(Direction direction) const {
  const bool forward = direction == Direction::forward;
  if (model_.mlp == MlpKind::gated) {
    return {forward ? PointwiseKind::swiglu : PointwiseKind::swiglu_backward, tokens_, model_.feed_forward, compute_};
  }
  return {forward ? PointwiseKind::gelu : PointwiseKind::gelu_backward, 1,
          checked_multiply(tokens_, model_.feed_forward), compute_};
}

Norm LayerBuilder::norm_op(Direction direction, bool accumulate) const {
  return {model_.norm == NormStyle::rms ? NormKind::rms : NormKind::layer,
          direction,
          tokens_,
          model_.hidden,
          compute_,
          accumulate};
}

Rope LayerBuilder::rope(Direction direction) const {
  return {direction,       setup_.batch,     setup_.length, model_.heads,
          model_.kv_heads, model_.head_size, compute_,      model_.position == PositionKind::rotary};
}

Softmax LayerBuilder::softmax(Direction direction) const {
  return {direction, setup_.batch * model_.heads * setup_.length, setup_.length, compute_, setup_.length};
}

Heads LayerBuilder::heads(Direction direction) const {
  return {direction, setup_.batch, setup_.length, model_.heads, model_.head_size, compute_};
}

// -- there ------------------------------------------------------------------------------------------------------------

int LayerBuilder::matrix(const std::string& name, std::int64_t columns) {
  return build_.activation(prefix() + layer_name_ + name, {tokens_, columns});
}

int LayerBuilder::like(int tensor, const std::string& name) {
  return build_.like(tensor, prefix() + layer_name_ + name, build_.at(tensor).format, Category::activation, false,
                     Initial::pattern);
}

LayerBuilder::Narrow LayerBuilder::narrow(int tensor, Element element) {
  const Tensor wide = build_.at(tensor);
  const Format to{element, Scaling::tensor};
  const std::int64_t count = elements(wide);
  const int scale = build_.activation(wide.name + ".scale", {1}, fp32);
  build_.step(TensorScale{count, compute_, to}, {tensor, scale});
  const int made = build_.activation(wide.name + "." + text(element), wide.shape, to);
  build_.step(Cast{count, compute_, to}, {tensor, scale, made});
  return {made, scale};
}

LinearUse LayerBuilder::take(Linear& linear, int input) {
  LinearUse use;
  use.input = input;
  if (!setup_.fp8) return use;
  const Narrow made = narrow(input, forward_fp8(setup_.fnuz));
  use.narrow = made.tensor;
  use.scale = made.scale;
  if (linear.narrow < 0) {
    const Narrow weight = narrow(linear.weight.weight, forward_fp8(setup_.fnuz));
    linear.narrow = weight.tensor;
    linear.scale = weight.scale;
  }
  return use;
}

int LayerBuilder::apply(Linear& linear, LinearUse& use, const std::string& output) {
  const int made = matrix(output, linear.out);
  Gemm op = gemm(tokens_, linear.out, linear.in);
  op.bias = linear.bias.has_value();
  std::vector<int> operands{use.input, linear.weight.weight};
  if (setup_.fp8) {
    op.a = op.b = {forward_fp8(setup_.fnuz), Scaling::tensor};
    op.scales = true;
    operands = {use.narrow, linear.narrow, use.scale, linear.scale};
  }
  if (linear.bias) operands.push_back(linear.bias->weight);
  operands.push_back(made);
  build_.step(op, operands);
  if (linear.down) {
    use.adapted = matrix(output + ".adapted", setup_.lora_rank);
    build_.step(gemm(tokens_, setup_.lora_rank, linear.in), {use.input, linear.down->weight, use.adapted});
    Gemm up = gemm(tokens_, linear.out, setup_.lora_rank);
    up.beta = 1;
    build_.step(up, {use.adapted, linear.up->weight, made});
  }
  return made;
}

NormUse LayerBuilder::apply(const NormLayer& layer, int input) {
  NormUse use;
  use.input = input;
  use.output = matrix(layer.name + ".output", model_.hidden);
  use.statistics = build_.activation(prefix() + layer_name_ + layer.name + ".statistics", {tokens_, 2}, fp32);
  std::vector<int> operands{input, layer.weight.weight};
  if (layer.bias) operands.push_back(layer.bias->weight);
  operands.insert(operands.end(), {use.output, use.statistics});
  build_.step(norm_op(Direction::forward, false), operands);
  return use;
}

int LayerBuilder::add(int a, int b, const std::string& name) {
  const int sum = matrix(name, model_.hidden);
  build_.step(Pointwise{PointwiseKind::add, 1, checked_multiply(tokens_, model_.hidden), compute_}, {a, b, sum});
  return sum;
}

// Scores and their softmax, from queries and keys.
int LayerBuilder::scores(const AttentionUse& use) {
  const Shape shape{setup_.batch, model_.heads, setup_.length, setup_.length};
  const int raw = build_.activation(prefix() + layer_name_ + "attention.scores", shape);
  Gemm product = group_gemm(model_.heads / model_.kv_heads * setup_.length, setup_.length, model_.head_size);
  product.transpose_b = true;
  product.alpha = inverse_root(model_.head_size);
  build_.step(product, {use.query, use.key, raw});
  const int probabilities = build_.activation(prefix() + layer_name_ + "attention.probabilities", shape);
  build_.step(softmax(Direction::forward), {raw, probabilities});
  return probabilities;
}

// Appends keys and values to their caches; behind a prompt those take their place.
void LayerBuilder::remember(AttentionUse& use) {
  for (int* const tensor : {&use.key, &use.value}) {
    const int cache = build_.persistent(build_.at(*tensor).name + ".cache", cache_->format,
                                        {setup_.batch, model_.kv_heads, cache_->capacity, model_.head_size},
                                        Category::kv_cache, Initial::pattern);
    build_.step(CacheAppend{setup_.batch, model_.kv_heads, setup_.length, cache_->capacity, cache_->position,
                            model_.head_size, compute_, cache_->format},
                {*tensor, cache});
    if (cache_->position > 0) *tensor = cache;
  }
}

int LayerBuilder::attend(const LayerWeights& weights, int packed, AttentionUse& use) {
  const Shape keys{setup_.batch, model_.kv_heads, setup_.length, model_.head_size};
  const Shape queries{setup_.batch, model_.heads, setup_.length, model_.head_size};
  const std::string name = prefix() + layer_name_ + "attention.";
  use.query = build_.activation(name + "query", queries);
  use.key = build_.activation(name + "key", keys);
  use.value = build_.activation(name + "value", keys);
  std::vector<int> operands{packed};
  if (model_.position == PositionKind::rotary) {
    if (table_ < 0) {
      table_ =
          build_.persistent("rotations", fp32, {setup_.length, model_.head_size}, Category::input, Initial::rope_table);
      if (cache_) build_.set_bound(table_, cache_->position);
    }
    operands.push_back(table_);
  }
  operands.insert(operands.end(), {use.query, use.key, use.value});
  build_.step(rope(Direction::forward), operands);

  if (cache_) remember(use);
  use.context = build_.activation(name + "context", queries);
  if (setup_.attention == StepAttention::fused) {
    use.logsumexp = build_.activation(name + "logsumexp", {setup_.batch, model_.heads, setup_.length}, fp32);
    build_.step(fused(Direction::forward, weights), {use.query, use.key, use.value, use.context, use.logsumexp});
  } else {
    use.probabilities = scores(use);
    build_.step(group_gemm(model_.heads / model_.kv_heads * setup_.length, model_.head_size, setup_.length),
                {use.probabilities, use.value, use.context});
  }
  const int merged = matrix("attention.merged", queries_);
  build_.step(heads(Direction::forward), {use.context, merged});
  return merged;
}

LayerUse LayerBuilder::apply(LayerWeights& weights, int input, const std::string& name, bool whole) {
  layer_name_ = name;
  LayerUse use;
  use.name = name;
  use.input = input;
  use.norm1 = apply(weights.norm1, input);
  use.qkv = take(weights.qkv, use.norm1.output);
  const int merged = attend(weights, apply(weights.qkv, use.qkv, "attention.packed"), use.attention);
  use.projection = take(weights.projection, merged);
  use.residual = add(input, apply(weights.projection, use.projection, "attention.output"), "attention.residual");
  use.norm2 = apply(weights.norm2, use.residual);
  use.up = take(weights.up, use.norm2.output);
  use.raised = apply(weights.up, use.up, "feed_forward.raised");
  const int hidden = matrix("feed_forward.hidden", model_.feed_forward);
  build_.step(activation(Direction::forward), {use.raised, hidden});
  use.down = take(weights.down, hidden);
  if (whole) use.output = add(use.residual, apply(weights.down, use.down, "feed_forward.lowered"), "output");
  return use;
}

// -- computing again
// ----------------------------------------------------------------------------------------------------

// Of a layer whose products are kept: what lies between them.
void LayerBuilder::compute_again(LayerWeights& weights, LayerUse& use) {
  build_.set_phase("recompute");
  const auto normed = [&](const NormLayer& layer, NormUse& norm) {
    const NormUse again = apply(layer, norm.input);
    norm.output = again.output;
    norm.statistics = again.statistics;
  };
  normed(weights.norm1, use.norm1);
  const int adapted = use.qkv.adapted;
  use.qkv = take(weights.qkv, use.norm1.output);
  use.qkv.adapted = adapted;
  if (setup_.attention == StepAttention::plain) use.attention.probabilities = scores(use.attention);
  normed(weights.norm2, use.norm2);
  const int raised = use.up.adapted;
  use.up = take(weights.up, use.norm2.output);
  use.up.adapted = raised;
  const int hidden = matrix("feed_forward.hidden.again", model_.feed_forward);
  build_.step(activation(Direction::forward), {use.raised, hidden});
  const int lowered = use.down.adapted;
  use.down = take(weights.down, hidden);
  use.down.adapted = lowered;
  build_.set_phase("backward");
}

void LayerBuilder::back(LayerWeights& weights, LayerUse use, int residual) {
  layer_name_ = use.name;
  if (setup_.recompute == StepRecompute::selective) compute_again(weights, use);
  if (setup_.recompute == StepRecompute::full) {
    build_.set_phase("recompute");
    use = apply(weights, use.input, use.name + "again.", false);
    if (weights.down.down) {  // what the adapter of the last product made is needed too
      use.down.adapted = matrix("feed_forward.lowered.adapted", setup_.lora_rank);
      build_.step(gemm(tokens_, setup_.lora_rank, weights.down.in),
                  {use.down.input, weights.down.down->weight, use.down.adapted});
    }
    build_.set_phase("backward");
  }
  const int hidden = back(weights.down, use.down, residual, "feed_forward.hidden.gradient");
  const int raised = like(use.raised, "feed_forward.raised.gradient");
  build_.step(activation(Direction::backward), {hidden, use.raised, raised});
  back(weights.norm2, use.norm2, back(weights.up, use.up, raised, "feed_forward.norm.gradient"), residual, true);
  const int merged = back(weights.projection, use.projection, residual, "attention.merged.gradient");
  const int packed = back_attend(weights, use.attention, merged);
  back(weights.norm1, use.norm1, back(weights.qkv, use.qkv, packed, "attention.norm.gradient"), residual, true);
}

}  // namespace assay
