// Whole training steps: gradients against central differences of the loss, what recomputing, micro-batches and adapters
// must not change, and what the optimizer makes of gradients.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "core/error.h"
#include "core/interpreter.h"
#include "tests/core/step_models.h"

namespace assay {
namespace {

using test::tiny_gpt2;
using test::tiny_llama;
using ::testing::HasSubstr;

constexpr Format fp32{Element::fp32, Scaling::none};
constexpr Format fp64{Element::fp64, Scaling::none};

StepSetup gradients_only() {
  StepSetup setup;
  setup.batch = 2;
  setup.length = 3;
  setup.compute = fp64;
  setup.optimizer = StepOptimizer::none;
  return setup;
}

std::size_t find(const Work& work, const std::string& name) {
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    if (work.tensors[i].name == name) return i;
  }
  throw Error("no tensor " + name);
}

// The mean of all losses of a step.
double mean_loss(const TrainingStep& step, const Values& values) {
  double sum = 0;
  double count = 0;
  for (const int tensor : step.losses) {
    for (const double loss : values[static_cast<std::size_t>(tensor)]) {
      sum += loss;
      ++count;
    }
  }
  return sum / count;
}

Values after(const TrainingStep& step, Values values) {
  interpret(step.work, values, false);
  return values;
}

// Every element of every gradient of a step against central differences of the mean loss: step^2 times a third
// derivative, and 1e-16 / step, are about 1e-9.
void expect_right_gradients(const ModelSpec& model, const StepSetup& setup, int least) {
  SCOPED_TRACE(text(setup.attention) + " attention, recompute " + text(setup.recompute));
  const TrainingStep step = training_step(model, setup);
  const Values before = initial_values(step.work, Pattern::typical, 11);
  const Values made = after(step, before);
  int compared = 0;
  for (std::size_t i = 0; i < step.work.tensors.size(); ++i) {
    if (step.work.tensors[i].category != Category::gradient) continue;
    const std::string& name = step.work.tensors[i].name;
    const std::size_t weight = find(step.work, name.substr(0, name.size() - std::string(".gradient").size()));
    constexpr double width = 1e-5;
    for (std::size_t j = 0; j < before[weight].size(); ++j) {
      Values moved = before;
      moved[weight][j] = before[weight][j] + width;
      const double above = mean_loss(step, after(step, moved));
      moved[weight][j] = before[weight][j] - width;
      const double difference = (above - mean_loss(step, after(step, moved))) / (2 * width);
      ASSERT_NEAR(made[i][j], difference, 1e-7 * (1 + std::abs(difference))) << name << "[" << j << "]";
      ++compared;
    }
  }
  EXPECT_GE(compared, least);
}

TEST(Step, HasTheGradientsOfItsLossLikeLlama) {
  // embedding 42, head 42, last norm 6; a layer: norms 12, qkv 6 x 16, output 8 x 6, up 6 x 10, down 5 x 6
  expect_right_gradients(tiny_llama(), gradients_only(), 90 + 2 * (12 + 96 + 48 + 60 + 30));
}

TEST(Step, HasTheGradientsOfItsLossLikeGpt2) {
  // embedding 54, positions 24, last norm 12; a layer: norms 24, qkv 6 x 18 + 18, output 6 x 6 + 6, up 49, down 48
  expect_right_gradients(tiny_gpt2(), gradients_only(), 90 + 2 * (24 + 126 + 42 + 49 + 48));
}

TEST(Step, HasTheGradientsOfItsLossWithPlainAttention) {
  StepSetup setup = gradients_only();
  setup.attention = StepAttention::plain;
  expect_right_gradients(tiny_gpt2(), setup, 600);
}

TEST(Step, HasTheGradientsOfItsLossWithAWindowInEveryOtherLayer) {
  ModelSpec model = tiny_llama();
  model.window = 2;
  model.window_every = 2;
  expect_right_gradients(model, gradients_only(), 500);
}

TEST(Step, HasTheGradientsOfItsLossForAdaptersAlone) {
  StepSetup setup = gradients_only();
  setup.lora_rank = 2;
  // a layer: (6 + 16) x 2, (8 + 6) x 2, (6 + 10) x 2, (5 + 6) x 2
  expect_right_gradients(tiny_llama(), setup, 2 * (44 + 28 + 32 + 22));
  const TrainingStep step = training_step(tiny_llama(), setup);
  int learning = 0;
  for (const Tensor& tensor : step.work.tensors) learning += tensor.category == Category::gradient ? 1 : 0;
  EXPECT_EQ(learning, 16);  // two layers of four products with two adapters each
}

// Every gradient by name.
std::map<std::string, std::vector<double>> gradients_of(const ModelSpec& model, const StepSetup& setup) {
  const TrainingStep step = training_step(model, setup);
  const Values values = after(step, initial_values(step.work, Pattern::typical, 11));
  std::map<std::string, std::vector<double>> result;
  for (std::size_t i = 0; i < step.work.tensors.size(); ++i) {
    if (step.work.tensors[i].category == Category::gradient) result[step.work.tensors[i].name] = values[i];
  }
  return result;
}

void expect_same(const std::map<std::string, std::vector<double>>& got,
                 const std::map<std::string, std::vector<double>>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, values] : want) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(got.at(name).at(i), values[i], 1e-12 * (1 + std::abs(values[i]))) << name << "[" << i << "]";
    }
  }
}

TEST(Step, ComputesTheSameWhateverIsComputedAgain) {
  for (const ModelSpec& model : {tiny_llama(), tiny_gpt2()}) {
    for (const StepAttention attention : {StepAttention::plain, StepAttention::fused}) {
      for (const std::int64_t rank : {0, 2}) {
        StepSetup setup = gradients_only();
        setup.attention = attention;
        setup.lora_rank = rank;
        // The tokens are numbers of their tensors' own index, which does not change: inputs come before activations
        // that are made again.
        const auto plain = gradients_of(model, setup);
        for (const StepRecompute recompute : {StepRecompute::selective, StepRecompute::full}) {
          setup.recompute = recompute;
          expect_same(gradients_of(model, setup), plain);
        }
      }
    }
  }
}

TEST(Step, KeepsLessWhereItComputesAgain) {
  ModelSpec model = tiny_gpt2();
  model.layers = 6;
  StepSetup setup = gradients_only();
  setup.length = 4;
  setup.batch = 8;
  const auto peak = [&](StepRecompute recompute) {
    setup.recompute = recompute;
    return plan(training_step(model, setup).work, 64).live_peak;
  };
  const std::int64_t none = peak(StepRecompute::none);
  const std::int64_t selective = peak(StepRecompute::selective);
  const std::int64_t full = peak(StepRecompute::full);
  EXPECT_LT(selective, none);
  EXPECT_LT(full, selective);
}

TEST(Step, AddsUpTheGradientsOfMicroBatches) {
  for (const ModelSpec& model : {tiny_llama(), tiny_gpt2()}) {
    StepSetup setup = gradients_only();
    setup.batch = 1;
    setup.micro_batches = 3;
    expect_right_gradients(model, setup, 500);
  }
}

// -- with an optimizer
// --------------------------------------------------------------------------------------------------

StepSetup learning() {
  StepSetup setup = gradients_only();
  setup.compute = fp32;
  setup.optimizer = StepOptimizer::adamw;
  return setup;
}

TEST(Step, ClipsByTheNormOfAllGradientsAndMovesEveryWeight) {
  StepSetup setup = learning();
  setup.clip = 0.01;
  setup.learning_rate = 0.125;
  const TrainingStep step = training_step(tiny_gpt2(), setup);
  const Values before = initial_values(step.work, Pattern::typical, 3);
  const Values made = after(step, before);
  double squares = 0;
  for (std::size_t i = 0; i < step.work.tensors.size(); ++i) {
    if (step.work.tensors[i].category != Category::gradient) continue;
    for (const double g : made[i]) squares += g * g;
  }
  EXPECT_NEAR(made[static_cast<std::size_t>(step.total)][0], squares, 1e-12 * squares);
  const std::vector<double>& scalars = made[static_cast<std::size_t>(step.scalars)];
  EXPECT_NEAR(scalars[0], 0.125, 1e-12);
  EXPECT_NEAR(scalars[1], 0.1, 1e-12);   // 1 - 0.9
  EXPECT_NEAR(scalars[2], 0.05, 1e-12);  // 1 - 0.95
  EXPECT_NEAR(scalars[3], 0.01 / std::sqrt(squares), 1e-9);
  EXPECT_EQ(scalars[4], 0);
  EXPECT_EQ(scalars[7], 1);
  // One weight by hand: g clipped; first / 0.1 = g, second / 0.05 = g^2, so that the step is g / (|g| + 1e-8).
  const std::size_t weight = find(step.work, "layer1.feed_forward.up.weight");
  const double g = made[find(step.work, "layer1.feed_forward.up.weight.gradient")][5] * scalars[3];
  const double old = before[weight][5];
  EXPECT_NEAR(made[weight][5], old - 0.125 * (g / (std::abs(g) + 1e-8) + 0.1 * old), 1e-9);
}

TEST(Step, ScalesTheLossAndSkipsAStepThatOverflows) {
  StepSetup setup = learning();
  setup.compute = {Element::fp16, Scaling::none};
  setup.loss_scaling = true;
  setup.loss_scale = 1024;
  const TrainingStep step = training_step(tiny_gpt2(), setup);
  const Values before = initial_values(step.work, Pattern::typical, 3);
  Values made = before;
  interpret(step.work, made, true);
  const auto scalars = static_cast<std::size_t>(step.scalars);
  EXPECT_EQ(made[scalars][4], 0);
  EXPECT_EQ(made[scalars][5], 1024);
  EXPECT_EQ(made[scalars][6], 1);
  // The same without a scale: gradients 1024 times smaller, the norm's square 2^20 times.
  setup.loss_scaling = false;
  const TrainingStep plain_step = training_step(tiny_gpt2(), setup);
  Values plain = initial_values(plain_step.work, Pattern::typical, 3);
  interpret(plain_step.work, plain, true);
  const std::size_t gradient = find(step.work, "layer0.attention.qkv.weight.gradient");
  const std::size_t plain_gradient = find(plain_step.work, "layer0.attention.qkv.weight.gradient");
  double most = 0;
  for (const double g : plain[plain_gradient]) most = std::max(most, std::abs(g));
  for (std::size_t i = 0; i < made[gradient].size(); ++i) {
    EXPECT_NEAR(made[gradient][i] / 1024, plain[plain_gradient][i], most * 0.02);
  }

  // A loss scale that no gradient survives: nothing moves, and the scale is halved.
  Values over = before;
  over[scalars][5] = 16777216;
  const std::size_t table = find(step.work, "embedding.weight.master");
  over[find(step.work, "layer0.attention.norm.weight")][0] = 60000;  // makes large gradients
  const std::vector<double> old = over[table];
  interpret(step.work, over, true);
  EXPECT_EQ(over[scalars][4], 1);
  EXPECT_EQ(over[scalars][5], 8388608);
  EXPECT_EQ(over[scalars][7], 0);
  EXPECT_EQ(over[table], old);
}

TEST(Step, BeginsWithMastersThatAreItsWeights) {
  StepSetup setup = learning();
  setup.compute = {Element::bf16, Scaling::none};
  const TrainingStep step = training_step(tiny_llama(), setup);
  const Values values = initial_values(step.work, Pattern::typical, 3);
  const std::vector<double>& weight = values[find(step.work, "layer1.attention.qkv.weight")];
  const std::vector<double>& master = values[find(step.work, "layer1.attention.qkv.weight.master")];
  double different = 0;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    EXPECT_NEAR(weight[i], master[i], std::abs(master[i]) / 256);
    different += weight[i] != master[i] ? 1 : 0;
  }
  EXPECT_GT(different, 0);  // masters are not rounded
}

// -- buckets and refusals
// -------------------------------------------------------------------------------------------------

TEST(Step, GivesGradientsInBucketsInTheOrderInWhichTheyAreComplete) {
  const TrainingStep step = training_step(tiny_llama(), learning());
  const std::vector<GradientBucket> buckets = gradient_buckets(step.work, 500);
  ASSERT_GT(buckets.size(), 2U);
  std::set<int> seen;
  int last = -1;
  for (const GradientBucket& bucket : buckets) {
    EXPECT_GE(bucket.complete_after, last);
    last = bucket.complete_after;
    EXPECT_TRUE(bucket.bytes >= 500 || &bucket == &buckets.back());
    for (const int tensor : bucket.tensors) EXPECT_TRUE(seen.insert(tensor).second);
    EXPECT_EQ(step.work.steps[static_cast<std::size_t>(bucket.complete_after)].phase, "backward");
  }
  // embedding, head, last norm; two layers of two norms and four products
  EXPECT_EQ(seen.size(), 3U + 2 * 6);
  const auto head = static_cast<int>(find(step.work, "head.weight.gradient"));
  EXPECT_EQ(buckets.front().tensors.front(), head);  // the first that the way back makes
}

TEST(Step, CountsSixFlopsAParameterAndTokenInItsLayers) {
  ModelSpec model = tiny_llama();
  const TrainingStep step = training_step(model, learning());
  double products = 0;
  for (const Step& each : step.work.steps) {
    if (std::holds_alternative<Gemm>(each.op)) products += cost(each.op).flops;
  }
  // weights in products: two layers of 96 + 48 + 60 + 30, and the head of 42; 6 tokens
  EXPECT_EQ(products, 6.0 * (2 * 234 + 42) * 6);
}

std::string refusal(const ModelSpec& model, const StepSetup& setup) {
  try {
    training_step(model, setup);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Step, SaysWhyItIsNotPossible) {
  StepSetup setup = learning();
  setup.length = 5;
  EXPECT_THAT(refusal(tiny_gpt2(), setup), HasSubstr("4 positions are fewer than the length of 5"));
  setup = learning();
  setup.compute = fp64;
  EXPECT_THAT(refusal(tiny_gpt2(), setup), HasSubstr("masters are fp32"));
  setup = learning();
  setup.micro_batches = 0;
  EXPECT_THAT(refusal(tiny_gpt2(), setup), HasSubstr("micro_batches is 0"));
  setup = learning();
  ModelSpec windowed = tiny_llama();
  windowed.window = 2;
  setup.attention = StepAttention::plain;
  EXPECT_THAT(refusal(windowed, setup), HasSubstr("window"));
}

}  // namespace
}  // namespace assay
