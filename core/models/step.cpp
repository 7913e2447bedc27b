// Whole training steps: from the embedding to the loss, back, and the optimizer.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/step.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/checked.h"
#include "core/models/layer_builder.h"
#include "core/models/step_checks.h"

namespace assay {
namespace {

constexpr Format fp32{Element::fp32, Scaling::none};
constexpr Format int32{Element::int32, Scaling::none};

std::string describe(const ModelSpec& model, const StepSetup& setup) {
  std::string name = model.name + " step batch=" + std::to_string(setup.batch) +
                     " length=" + std::to_string(setup.length) + " " + text(setup.compute);
  if (setup.fp8) name += setup.fnuz ? " fp8_fnuz" : " fp8";
  if (setup.micro_batches > 1) name += " micro_batches=" + std::to_string(setup.micro_batches);
  if (setup.recompute != StepRecompute::none) name += " recompute=" + text(setup.recompute);
  if (setup.lora_rank > 0) name += " lora=" + std::to_string(setup.lora_rank);
  return name + " attention=" + text(setup.attention) + " optimizer=" + text(setup.optimizer);
}

class StepBuilder {
 public:
  StepBuilder(const ModelSpec& model, const StepSetup& setup)
      : model_(model), setup_(setup), layers_(model, setup, describe(model, setup)), build_(layers_.build()) {}

  TrainingStep step() {
    make_weights();
    if (setup_.optimizer != StepOptimizer::none) make_scalars();
    for (std::int64_t number = 0; number < setup_.micro_batches; ++number) micro_batch(number);
    if (setup_.optimizer != StepOptimizer::none) {
      build_.set_phase("optimizer");
      optimize();
    }
    made_.work = build_.finish();
    return std::move(made_);
  }

 private:
  void make_weights() {
    const double magnitude = 1 / std::sqrt(static_cast<double>(model_.hidden));
    const bool learns = !layers_.adapts();
    table_ =
        layers_.parameter("embedding.weight", {model_.vocabulary, model_.hidden}, Initial::pattern, magnitude, learns);
    if (model_.position == PositionKind::learned) {
      positions_ =
          layers_.parameter("positions.weight", {model_.positions, model_.hidden}, Initial::pattern, magnitude, learns);
    }
    for (std::int64_t i = 0; i < model_.layers; ++i) weights_.push_back(layers_.layer(i));
    if (model_.final_norm) final_norm_ = layers_.norm("final.norm");
    if (!model_.tied_embeddings) {
      head_ = layers_.parameter("head.weight", {model_.hidden, model_.vocabulary}, Initial::pattern, magnitude, learns);
    }
  }

  void make_scalars() {
    made_.scalars = build_.persistent("optimizer.scalars", fp32, {8}, Category::optimizer, Initial::training_scalars,
                                      setup_.loss_scaling ? setup_.loss_scale : 1);
    made_.total = build_.persistent("gradient.squares", fp32, {1}, Category::optimizer, Initial::zero);
  }

  void micro_batch(std::int64_t number) {
    layers_.set_micro_batch(number);
    prefix_ = number == 0 ? "" : "micro_batch" + std::to_string(number) + ".";
    build_.set_phase("forward");
    const int tokens = build_.indices(prefix_ + "tokens", {setup_.batch, setup_.length}, model_.vocabulary);
    const int targets = build_.indices(prefix_ + "targets", {setup_.batch, setup_.length}, model_.vocabulary);
    made_.tokens.push_back(tokens);
    made_.targets.push_back(targets);

    int x = embed(tokens);
    std::vector<LayerUse> uses;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      uses.push_back(layers_.apply(weights_[i], x, "layer" + std::to_string(i) + "."));
      x = uses.back().output;
    }
    NormUse last;
    last.output = x;
    if (final_norm_) last = layers_.apply(*final_norm_, x);
    const int logits = build_.activation(prefix_ + "logits", {layers_.tokens(), model_.vocabulary});
    build_.step(head(false), {last.output, head_weight(), logits});
    const int slopes = loss(logits, targets);
    if (!setup_.backward) return;

    build_.set_phase("backward");
    const int residual = back_head(last, slopes);
    for (std::size_t i = weights_.size(); i-- > 0;) layers_.back(weights_[i], uses[i], residual);
    back_embed(tokens, residual);
  }

  int embed(int tokens) {
    const int words = build_.activation(prefix_ + "embedding", {layers_.tokens(), model_.hidden});
    build_.step(embedding(Direction::forward, model_.vocabulary), {tokens, table_.weight, words});
    if (positions_.weight < 0) return words;
    if (position_indices_ < 0) {
      position_indices_ =
          build_.persistent("positions", int32, {setup_.batch, setup_.length}, Category::input, Initial::position);
    }
    const int places = build_.activation(prefix_ + "embedding.positions", {layers_.tokens(), model_.hidden});
    build_.step(embedding(Direction::forward, model_.positions), {position_indices_, positions_.weight, places});
    return layers_.add(words, places, "embedding.sum");
  }

  Embedding embedding(Direction direction, std::int64_t vocabulary) const {
    return {direction, layers_.tokens(), vocabulary, model_.hidden, build_.compute()};
  }

  void back_embed(int tokens, int residual) {
    const auto scatter = [&](const Parameter& table, int indices, std::int64_t rows, bool begun) {
      if (table.gradient < 0) return;
      const std::int64_t count = checked_multiply(rows, model_.hidden);
      if (!begun) build_.step(Pointwise{PointwiseKind::zero, 1, count, build_.compute()}, {table.gradient});
      build_.step(embedding(Direction::backward, rows), {indices, residual, table.gradient});
    };
    scatter(table_, tokens, model_.vocabulary, layers_.adds() || model_.tied_embeddings);
    if (positions_.weight >= 0) scatter(positions_, position_indices_, model_.positions, layers_.adds());
  }

  int head_weight() const { return model_.tied_embeddings ? table_.weight : head_.weight; }

  // Logits from what comes in, or the gradient of that from the gradient of the logits.
  Gemm head(bool back) const {
    Gemm op = back ? layers_.gemm(layers_.tokens(), model_.hidden, model_.vocabulary)
                   : layers_.gemm(layers_.tokens(), model_.vocabulary, model_.hidden);
    op.transpose_b =
        model_.tied_embeddings != back;  // the table is [vocabulary, hidden], a head of its own the other way
    return op;
  }

  int loss(int logits, int targets) {
    const bool last_use = !setup_.backward;
    const int losses =
        build_.persistent(prefix_ + "losses", fp32, {setup_.batch, setup_.length}, Category::activation, Initial::zero);
    made_.losses.push_back(losses);
    const int slopes = build_.activation(prefix_ + "logits.gradient", {layers_.tokens(), model_.vocabulary});
    CrossEntropy op;
    op.rows = layers_.tokens();
    op.columns = model_.vocabulary;
    op.format = build_.compute();
    op.parts = setup_.micro_batches;
    op.scaled = setup_.loss_scaling && !last_use;
    std::vector<int> operands{logits, targets, losses, slopes};
    if (op.scaled) operands.push_back(made_.scalars);
    build_.step(op, operands);
    return slopes;
  }

  // Gradients of the head and the last norm; the tensor that gathers the residual's gradient.
  int back_head(const NormUse& last, int slopes) {
    const int gradient = model_.tied_embeddings ? table_.gradient : head_.gradient;
    if (gradient >= 0) {
      const bool tied = model_.tied_embeddings;
      Gemm op = tied ? layers_.gemm(model_.vocabulary, model_.hidden, layers_.tokens())
                     : layers_.gemm(model_.hidden, model_.vocabulary, layers_.tokens());
      op.transpose_a = true;
      op.beta = layers_.adds() ? 1 : 0;
      build_.step(op, {tied ? slopes : last.output, tied ? last.output : slopes, gradient});
    }
    const int output = build_.activation(prefix_ + "final.gradient", {layers_.tokens(), model_.hidden});
    build_.step(head(true), {slopes, head_weight(), output});
    if (!final_norm_) return output;
    const int residual = build_.activation(prefix_ + "residual.gradient", {layers_.tokens(), model_.hidden});
    layers_.back(*final_norm_, last, output, residual, false);
    return residual;
  }

  // -- optimizer ------------------------------------------------------------------------------------------------------

  void optimize() {
    bool begun = false;
    for (const Parameter& parameter : layers_.trained()) {
      const Tensor& gradient = build_.at(parameter.gradient);
      build_.step(SumSquares{elements(gradient), gradient.format, begun}, {parameter.gradient, made_.total});
      begun = true;
    }
    AdamControl control;
    control.rate = setup_.learning_rate;
    control.clip = setup_.clip;
    control.warmup = setup_.warmup;
    control.interval = setup_.loss_scaling ? setup_.scale_interval : 0;
    build_.step(control, {made_.total, made_.scalars});
    for (const Parameter& parameter : layers_.trained()) update(parameter);
  }

  int state(const Tensor& weight, const std::string& name, Format format, Shape shape, Initial initial) {
    return build_.persistent(weight.name + "." + name, format, std::move(shape), Category::optimizer, initial);
  }

  void update(const Parameter& parameter) {
    const Tensor weight = build_.at(parameter.weight);
    const Format gradient = build_.at(parameter.gradient).format;
    const bool own_master = weight.format != fp32;
    int master = parameter.weight;
    if (own_master) {
      master = build_.like(parameter.weight, weight.name + ".master", fp32, Category::optimizer, true, weight.initial);
      build_.set_stream(master, parameter.stream);
    }
    const std::int64_t count = elements(weight);
    std::vector<int> operands{made_.scalars, parameter.gradient, master};
    if (setup_.optimizer == StepOptimizer::adamw8) {
      constexpr Format moment{Element::fp8_e4m3, Scaling::none};
      const Shape groups{(count + 127) / 128};
      for (const char* name : {"first_moment", "second_moment"}) {
        operands.push_back(state(weight, name, moment, weight.shape, Initial::zero));
        operands.push_back(state(weight, std::string(name) + ".scales", fp32, groups, Initial::one));
      }
      if (own_master) operands.push_back(parameter.weight);
      build_.step(AdamW8{count, weight.format, gradient}, operands);
      return;
    }
    operands.push_back(state(weight, "first_moment", fp32, weight.shape, Initial::zero));
    operands.push_back(state(weight, "second_moment", fp32, weight.shape, Initial::zero));
    if (own_master) operands.push_back(parameter.weight);
    build_.step(AdamW{count, weight.format, gradient}, operands);
  }

  const ModelSpec& model_;
  const StepSetup& setup_;
  LayerBuilder layers_;
  WorkBuilder& build_;
  TrainingStep made_;
  Parameter table_, positions_, head_;
  std::vector<LayerWeights> weights_;
  std::optional<NormLayer> final_norm_;
  int position_indices_ = -1;
  std::string prefix_;
};

}  // namespace

std::string text(StepAttention attention) { return attention == StepAttention::plain ? "plain" : "fused"; }

std::string text(StepRecompute recompute) {
  switch (recompute) {
    case StepRecompute::none:
      return "none";
    case StepRecompute::selective:
      return "selective";
    case StepRecompute::full:
      return "full";
  }
  return "invalid";
}

std::string text(StepOptimizer optimizer) {
  switch (optimizer) {
    case StepOptimizer::none:
      return "none";
    case StepOptimizer::adamw:
      return "adamw";
    case StepOptimizer::adamw8:
      return "adamw8";
  }
  return "invalid";
}

TrainingStep training_step(const ModelSpec& model, const StepSetup& setup) {
  check_step(model, setup);
  return StepBuilder(model, setup).step();
}

std::vector<GradientBucket> gradient_buckets(const Work& work, std::int64_t least_bytes) {
  std::map<int, int> last_write;  // by tensor
  for (std::size_t i = 0; i < work.steps.size(); ++i) {
    const std::vector<Operand> all = operands(work.steps[i].op);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const int tensor = work.steps[i].operands[k];
      const bool gradient = work.tensors[static_cast<std::size_t>(tensor)].category == Category::gradient;
      if (gradient && all[k].access != Access::read) last_write[tensor] = static_cast<int>(i);
    }
  }
  std::vector<std::pair<int, int>> order;  // step, tensor
  for (const auto& [tensor, step] : last_write) order.emplace_back(step, tensor);
  std::sort(order.begin(), order.end());
  std::vector<GradientBucket> buckets;
  for (const auto& [step, tensor] : order) {
    if (buckets.empty() || buckets.back().bytes >= least_bytes) buckets.emplace_back();
    GradientBucket& bucket = buckets.back();
    bucket.tensors.push_back(tensor);
    bucket.bytes = checked_add(bucket.bytes, bytes(work.tensors[static_cast<std::size_t>(tensor)]));
    bucket.complete_after = step;
  }
  return buckets;
}

}  // namespace assay
