// Prompts and tokens through the layers of core/models/layer_builder.h.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/inference.h"

#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/models/layer_builder.h"
#include "core/models/step_checks.h"

namespace assay {
namespace {

constexpr Format fp32{Element::fp32, Scaling::none};
constexpr Format int32{Element::int32, Scaling::none};

// What the layers are told.
StepSetup step_setup(const InferenceSetup& setup, std::int64_t length) {
  StepSetup step;
  step.batch = setup.batch;
  step.length = length;
  step.compute = setup.compute;
  step.fp8 = setup.fp8;
  step.fnuz = setup.fnuz;
  step.attention = StepAttention::fused;
  step.backward = false;
  step.optimizer = StepOptimizer::none;
  return step;
}

class Serving {
 public:
  Serving(const ModelSpec& model, const InferenceSetup& setup, const StepSetup& step, std::string name)
      : model_(model),
        setup_(setup),
        step_(step),
        layers_(model, step, std::move(name), KeyCache{setup.context, setup.context - step.length, setup.cache}),
        build_(layers_.build()) {}

  Work work(const std::string& phase) {
    build_.set_phase(phase);
    const double magnitude = 1 / std::sqrt(static_cast<double>(model_.hidden));
    const auto table =
        layers_.parameter("embedding.weight", {model_.vocabulary, model_.hidden}, Initial::pattern, magnitude, false);
    int x = embed(table.weight, magnitude);
    for (std::int64_t i = 0; i < model_.layers; ++i) {
      LayerWeights weights = layers_.layer(i);
      x = layers_.apply(weights, x, "layer" + std::to_string(i) + ".").output;
    }
    x = last_tokens(x);
    if (model_.final_norm) x = norm(x);
    const int logits = build_.persistent("logits", build_.compute(), {setup_.batch, model_.vocabulary},
                                         Category::activation, Initial::zero);
    Gemm head = layers_.gemm(setup_.batch, model_.vocabulary, model_.hidden);
    int weight = table.weight;
    if (model_.tied_embeddings) {
      head.transpose_b = true;
    } else {
      weight = layers_.parameter("head.weight", {model_.hidden, model_.vocabulary}, Initial::pattern, magnitude, false)
                   .weight;
    }
    build_.step(head, {x, weight, logits});
    return build_.finish();
  }

 private:
  int indices(const std::string& name, Shape shape, Initial initial, std::int64_t bound) {
    const int made = build_.persistent(name, int32, std::move(shape), Category::input, initial);
    build_.set_bound(made, bound);
    return made;
  }

  int rows_of(int table, std::int64_t rows, int chosen, std::int64_t count, const std::string& name) {
    const int made = build_.activation(name, {count, model_.hidden});
    build_.step(Embedding{Direction::forward, count, rows, model_.hidden, build_.compute()}, {chosen, table, made});
    return made;
  }

  int embed(int table, double magnitude) {
    const int tokens = build_.indices("tokens", {setup_.batch, step_.length}, model_.vocabulary);
    const int words = rows_of(table, model_.vocabulary, tokens, layers_.tokens(), "embedding");
    if (model_.position != PositionKind::learned) return words;
    const auto places =
        layers_.parameter("positions.weight", {model_.positions, model_.hidden}, Initial::pattern, magnitude, false);
    const int positions =
        indices("positions", {setup_.batch, step_.length}, Initial::position, setup_.context - step_.length);
    return layers_.add(words,
                       rows_of(places.weight, model_.positions, positions, layers_.tokens(), "embedding.positions"),
                       "embedding.sum");
  }

  // Nobody asks what follows the other tokens of a prompt.
  int last_tokens(int x) {
    if (step_.length == 1) return x;
    const int last = indices("last", {setup_.batch}, Initial::last_position, step_.length);
    return rows_of(x, layers_.tokens(), last, setup_.batch, "final.last");
  }

  int norm(int x) {
    const NormLayer layer = layers_.norm("final.norm");
    const bool layered = model_.norm == NormStyle::layer;
    const int output = build_.activation("final.output", {setup_.batch, model_.hidden});
    const int statistics = build_.activation("final.statistics", {setup_.batch, 2}, fp32);
    std::vector<int> operands{x, layer.weight.weight};
    if (layer.bias) operands.push_back(layer.bias->weight);
    operands.insert(operands.end(), {output, statistics});
    build_.step(Norm{layered ? NormKind::layer : NormKind::rms, Direction::forward, setup_.batch, model_.hidden,
                     build_.compute(), false},
                operands);
    return output;
  }

  const ModelSpec& model_;
  const InferenceSetup& setup_;
  const StepSetup& step_;
  LayerBuilder layers_;
  WorkBuilder& build_;
};

Work serve(const ModelSpec& model, const InferenceSetup& setup, std::int64_t length, const std::string& phase) {
  if (setup.context < 1) throw BadInput("The context of " + model.name + " must be at least one token.");
  const StepSetup step = step_setup(setup, length);
  check_step(model, step);
  if (model.position == PositionKind::learned && setup.context > model.positions) {
    throw BadInput("The " + std::to_string(model.positions) + " positions of " + model.name +
                   " are fewer than the context of " + std::to_string(setup.context) + ".");
  }
  const std::string name = model.name + " " + phase + " batch=" + std::to_string(setup.batch) +
                           " context=" + std::to_string(setup.context) + " " + text(setup.compute) +
                           (setup.fp8 ? (setup.fnuz ? " fp8_fnuz" : " fp8") : "") + " cache=" + text(setup.cache);
  return Serving(model, setup, step, name).work(phase);
}

}  // namespace

Work prefill(const ModelSpec& model, const InferenceSetup& setup) {
  return serve(model, setup, setup.context, "prefill");
}

Work decode(const ModelSpec& model, const InferenceSetup& setup) { return serve(model, setup, 1, "decode"); }

}  // namespace assay
