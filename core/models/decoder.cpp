// The steps of one decoder block: attention and feed-forward, each with a norm before and a residual behind it, and the
// same way back. SPDX-License-Identifier: Apache-2.0
#include "core/models/decoder.h"

#include <cmath>
#include <optional>

#include "core/checked.h"
#include "core/models/decoder_checks.h"
#include "core/models/work_builder.h"

namespace assay {
namespace {

constexpr Format fp32{Element::fp32, Scaling::none};

// A matrix product with weights [in, out], and a bias where the model has one.
struct Linear {
  std::string name;
  std::int64_t in = 0, out = 0;
  int weight = -1;
  std::optional<int> bias;
  int input = -1;   // [tokens, in]
  int output = -1;  // [tokens, out]
};

struct NormLayer {
  std::string name;
  int weight = -1;
  std::optional<int> bias;
  int input = -1, output = -1, statistics = -1;
};

struct Attention {
  int table = -1;
  int query = -1, key = -1, value = -1;
  int probabilities = -1;
};

class Block {
 public:
  Block(const ModelSpec& model, const BlockSetup& setup)
      : model_(model),
        setup_(setup),
        build_(name(), setup.compute),
        tokens_(checked_multiply(setup.batch, setup.length)),
        queries_(checked_multiply(model.heads, model.head_size)),
        packed_(checked_multiply(checked_add(model.heads, checked_multiply(2, model.kv_heads)), model.head_size)) {}

  Work work() {
    build_.set_phase("forward");
    forward();
    if (setup_.backward) {
      build_.set_phase("backward");
      backward();
    }
    if (setup_.optimizer) {
      build_.set_phase("optimizer");
      optimize();
    }
    return build_.finish();
  }

 private:
  struct Trained {
    int weight;
    int gradient;
  };

  std::string name() const {
    return model_.name + " block batch=" + std::to_string(setup_.batch) + " length=" + std::to_string(setup_.length) +
           " " + text(setup_.compute) + (setup_.backward ? " forward+backward" : " forward") +
           (setup_.optimizer ? "+optimizer" : "");
  }

  // -- tensors --------------------------------------------------------------------------------------------------------

  int parameter(const std::string& name, Shape shape, Initial initial, double magnitude) {
    return build_.persistent(name, setup_.compute, std::move(shape), Category::weight, initial, magnitude);
  }

  // Weights of variance 1 / in keep what they make about as large as what they take.
  Linear linear(const std::string& name, std::int64_t in, std::int64_t out, bool bias) {
    Linear layer;
    layer.name = name;
    layer.in = in;
    layer.out = out;
    layer.weight = parameter(name + ".weight", {in, out}, Initial::pattern, 1 / std::sqrt(static_cast<double>(in)));
    if (bias) layer.bias = parameter(name + ".bias", {out}, Initial::pattern, small);
    return layer;
  }

  int gradient_of(int weight) {
    const std::string name = build_.at(weight).name + ".gradient";
    const int gradient = build_.like(weight, name, setup_.compute, Category::gradient, true, Initial::zero);
    trained_.push_back({weight, gradient});
    return gradient;
  }

  int matrix(const std::string& name, std::int64_t columns) { return build_.activation(name, {tokens_, columns}); }

  // -- ops ------------------------------------------------------------------------------------------------------------

  Gemm gemm(std::int64_t m, std::int64_t n, std::int64_t k) const {
    Gemm op;
    op.m = m;
    op.n = n;
    op.k = k;
    op.a = op.b = op.d = setup_.compute;
    op.accumulate = setup_.compute.element == Element::fp64 ? Element::fp64 : Element::fp32;
    return op;
  }

  // One product for each group of query heads that share keys: their rows follow each other.
  Gemm group_gemm(std::int64_t m, std::int64_t n, std::int64_t k) const {
    Gemm op = gemm(m, n, k);
    op.batch = setup_.batch * model_.kv_heads;
    return op;
  }

  std::int64_t group_rows() const { return model_.heads / model_.kv_heads * setup_.length; }
  double score_scale() const { return 1 / std::sqrt(static_cast<double>(model_.head_size)); }
  NormKind norm_kind() const { return model_.norm == NormStyle::rms ? NormKind::rms : NormKind::layer; }
  bool rotates() const { return model_.position == PositionKind::rotary; }

  Rope rope(Direction direction) const {
    return {direction,       setup_.batch,     setup_.length,  model_.heads,
            model_.kv_heads, model_.head_size, setup_.compute, rotates()};
  }
  Softmax softmax(Direction direction) const {
    const std::int64_t rows = setup_.batch * model_.heads * setup_.length;
    return {direction, rows, setup_.length, setup_.compute, setup_.length};
  }
  Heads heads(Direction direction) const {
    return {direction, setup_.batch, setup_.length, model_.heads, model_.head_size, setup_.compute};
  }
  Norm norm(Direction direction) const {
    return {norm_kind(), direction, tokens_, model_.hidden, setup_.compute, direction == Direction::backward};
  }
  Pointwise activation(Direction direction) const {
    const bool forward = direction == Direction::forward;
    if (model_.mlp == MlpKind::gated) {
      return {forward ? PointwiseKind::swiglu : PointwiseKind::swiglu_backward, tokens_, model_.feed_forward,
              setup_.compute};
    }
    return {forward ? PointwiseKind::gelu : PointwiseKind::gelu_backward, 1,
            checked_multiply(tokens_, model_.feed_forward), setup_.compute};
  }

  // -- forward --------------------------------------------------------------------------------------------------------

  int apply(Linear& layer, int input, const std::string& output) {
    layer.input = input;
    layer.output = matrix(output, layer.out);
    Gemm op = gemm(tokens_, layer.out, layer.in);
    op.bias = layer.bias.has_value();
    std::vector<int> operands{input, layer.weight};
    if (layer.bias) operands.push_back(*layer.bias);
    operands.push_back(layer.output);
    build_.step(op, operands);
    return layer.output;
  }

  NormLayer apply_norm(const std::string& name, int input) {
    NormLayer layer;
    layer.name = name;
    layer.input = input;
    layer.weight = parameter(name + ".weight", {model_.hidden}, Initial::one, 0);
    if (norm_kind() == NormKind::layer) {
      layer.bias = parameter(name + ".bias", {model_.hidden}, Initial::pattern, small);
    }
    layer.output = matrix(name + ".output", model_.hidden);
    layer.statistics = build_.activation(name + ".statistics", {tokens_, 2}, fp32);
    std::vector<int> operands{input, layer.weight};
    if (layer.bias) operands.push_back(*layer.bias);
    operands.insert(operands.end(), {layer.output, layer.statistics});
    build_.step(norm(Direction::forward), operands);
    return layer;
  }

  // From packed projections to the heads' merged results.
  int attend(int packed) {
    const Shape keys{setup_.batch, model_.kv_heads, setup_.length, model_.head_size};
    const Shape queries{setup_.batch, model_.heads, setup_.length, model_.head_size};
    const Shape scores{setup_.batch, model_.heads, setup_.length, setup_.length};
    attention_.query = build_.activation("attention.query", queries);
    attention_.key = build_.activation("attention.key", keys);
    attention_.value = build_.activation("attention.value", keys);
    std::vector<int> operands{packed};
    if (rotates()) {
      attention_.table = build_.persistent("attention.rotations", fp32, {setup_.length, model_.head_size},
                                           Category::input, Initial::rope_table);
      operands.push_back(attention_.table);
    }
    operands.insert(operands.end(), {attention_.query, attention_.key, attention_.value});
    build_.step(rope(Direction::forward), operands);

    const int raw = build_.activation("attention.scores", scores);
    Gemm score = group_gemm(group_rows(), setup_.length, model_.head_size);
    score.transpose_b = true;
    score.alpha = score_scale();
    build_.step(score, {attention_.query, attention_.key, raw});

    attention_.probabilities = build_.activation("attention.probabilities", scores);
    build_.step(softmax(Direction::forward), {raw, attention_.probabilities});

    const int context = build_.activation("attention.context", queries);
    build_.step(group_gemm(group_rows(), model_.head_size, setup_.length),
                {attention_.probabilities, attention_.value, context});

    const int merged = matrix("attention.merged", queries_);
    build_.step(heads(Direction::forward), {context, merged});
    return merged;
  }

  void add(int a, int b, int sum) {
    const std::int64_t count = checked_multiply(tokens_, model_.hidden);
    build_.step(Pointwise{PointwiseKind::add, 1, count, setup_.compute}, {a, b, sum});
  }

  void forward() {
    const std::int64_t wide = checked_multiply(model_.mlp == MlpKind::gated ? 2 : 1, model_.feed_forward);
    const int input =
        build_.persistent("input", setup_.compute, {tokens_, model_.hidden}, Category::input, Initial::pattern);
    norm1_ = apply_norm("attention.norm", input);
    qkv_ = linear("attention.qkv", model_.hidden, packed_, model_.attention_bias);
    const int merged = attend(apply(qkv_, norm1_.output, "attention.packed"));
    projection_ = linear("attention.output", queries_, model_.hidden, model_.output_bias);
    const int attended = apply(projection_, merged, "attention.output");
    const int residual = matrix("attention.residual", model_.hidden);
    add(input, attended, residual);

    norm2_ = apply_norm("feed_forward.norm", residual);
    up_ = linear("feed_forward.up", model_.hidden, wide, model_.mlp_bias);
    apply(up_, norm2_.output, "feed_forward.raised");
    const int hidden = matrix("feed_forward.hidden", model_.feed_forward);
    build_.step(activation(Direction::forward), {up_.output, hidden});
    down_ = linear("feed_forward.down", model_.feed_forward, model_.hidden, model_.mlp_bias);
    const int lowered = apply(down_, hidden, "feed_forward.lowered");
    const int output =
        build_.persistent("output", setup_.compute, {tokens_, model_.hidden}, Category::activation, Initial::zero);
    add(residual, lowered, output);
  }

  // -- backward -------------------------------------------------------------------------------------------------------

  // Gradients of the layer's weight and bias, and returns that of its input.
  int back(const Linear& layer, int gradient, const std::string& name) {
    Gemm weight = gemm(layer.in, layer.out, tokens_);
    weight.transpose_a = true;
    build_.step(weight, {layer.input, gradient, gradient_of(layer.weight)});
    if (layer.bias) {
      build_.step(ColumnSum{tokens_, layer.out, setup_.compute}, {gradient, gradient_of(*layer.bias)});
    }
    const int result = matrix(name, layer.in);
    Gemm input = gemm(tokens_, layer.in, layer.out);
    input.transpose_b = true;
    build_.step(input, {gradient, layer.weight, result});
    return result;
  }

  // Adds what comes back through the norm to the gradient that came along the residual.
  void back_norm(const NormLayer& layer, int gradient, int residual_gradient) {
    std::vector<int> operands{gradient, layer.input, layer.statistics, gradient_of(layer.weight)};
    if (layer.bias) operands.push_back(gradient_of(*layer.bias));
    build_.step(NormWeights{norm_kind(), tokens_, model_.hidden, setup_.compute}, operands);
    build_.step(norm(Direction::backward), {gradient, layer.input, layer.weight, layer.statistics, residual_gradient});
  }

  // A tensor for the gradient of an activation, of the same shape.
  int back_of(int tensor) {
    return build_.like(tensor, build_.at(tensor).name + ".gradient", setup_.compute, Category::activation, false,
                       Initial::pattern);
  }

  // From the gradient of the merged heads to that of the packed projections.
  int back_attend(int merged_gradient) {
    const std::int64_t length = setup_.length;
    const std::int64_t head = model_.head_size;
    const int context =
        build_.activation("attention.context.gradient", {setup_.batch, model_.heads, setup_.length, model_.head_size});
    build_.step(heads(Direction::backward), {merged_gradient, context});

    const int probabilities = back_of(attention_.probabilities);
    Gemm by_value = group_gemm(group_rows(), length, head);
    by_value.transpose_b = true;
    build_.step(by_value, {context, attention_.value, probabilities});

    const int value = back_of(attention_.value);
    Gemm to_value = group_gemm(length, head, group_rows());
    to_value.transpose_a = true;
    build_.step(to_value, {attention_.probabilities, context, value});

    const int scores = build_.like(attention_.probabilities, "attention.scores.gradient", setup_.compute,
                                   Category::activation, false, Initial::pattern);
    build_.step(softmax(Direction::backward), {probabilities, attention_.probabilities, scores});

    const int query = back_of(attention_.query);
    Gemm to_query = group_gemm(group_rows(), head, length);
    to_query.alpha = score_scale();
    build_.step(to_query, {scores, attention_.key, query});

    const int key = back_of(attention_.key);
    Gemm to_key = group_gemm(length, head, group_rows());
    to_key.transpose_a = true;
    to_key.alpha = score_scale();
    build_.step(to_key, {scores, attention_.query, key});

    const int packed = matrix("attention.packed.gradient", packed_);
    std::vector<int> operands{query, key, value};
    if (rotates()) operands.push_back(attention_.table);
    operands.push_back(packed);
    build_.step(rope(Direction::backward), operands);
    return packed;
  }

  void backward() {
    const Shape shape{tokens_, model_.hidden};
    const int output = build_.persistent("output.gradient", setup_.compute, shape, Category::input, Initial::pattern);
    const int residual =
        build_.persistent("input.gradient", setup_.compute, shape, Category::activation, Initial::zero);
    // The residual's gradient is gathered in one place; what came in must stay, or a second execution would differ.
    const std::int64_t count = checked_multiply(tokens_, model_.hidden);
    build_.step(Stream{StreamKind::copy, count, setup_.compute, Store::plain}, {output, residual});

    const int hidden = back(down_, output, "feed_forward.hidden.gradient");
    const int raised = back_of(up_.output);
    build_.step(activation(Direction::backward), {hidden, up_.output, raised});
    back_norm(norm2_, back(up_, raised, "feed_forward.norm.gradient"), residual);

    const int packed = back_attend(back(projection_, residual, "attention.merged.gradient"));
    back_norm(norm1_, back(qkv_, packed, "attention.norm.gradient"), residual);
  }

  // -- optimizer ------------------------------------------------------------------------------------------------------

  void optimize() {
    const int scalars = build_.persistent("optimizer.scalars", fp32, {8}, Category::optimizer, Initial::adam_scalars);
    for (const Trained& trained : trained_) {
      const Tensor weight = build_.at(trained.weight);
      const bool own_master = weight.format != fp32;
      const int master = own_master ? build_.like(trained.weight, weight.name + ".master", fp32, Category::optimizer,
                                                  true, weight.initial)
                                    : trained.weight;
      const int first =
          build_.like(trained.weight, weight.name + ".first_moment", fp32, Category::optimizer, true, Initial::zero);
      const int second =
          build_.like(trained.weight, weight.name + ".second_moment", fp32, Category::optimizer, true, Initial::zero);
      std::vector<int> operands{scalars, trained.gradient, master, first, second};
      if (own_master) operands.push_back(trained.weight);
      build_.step(AdamW{elements(weight), weight.format, build_.at(trained.gradient).format}, operands);
    }
  }

  static constexpr double small = 0.1;  // biases beside activations of about 1

  const ModelSpec& model_;
  const BlockSetup& setup_;
  WorkBuilder build_;
  std::int64_t tokens_;
  std::int64_t queries_;  // heads times head size
  std::int64_t packed_;   // the same for queries, keys and values together
  NormLayer norm1_, norm2_;
  Linear qkv_, projection_, up_, down_;
  Attention attention_;
  std::vector<Trained> trained_;
};

}  // namespace

Work decoder_block(const ModelSpec& model, const BlockSetup& setup) {
  check_block(model, setup);
  return Block(model, setup).work();
}

}  // namespace assay
