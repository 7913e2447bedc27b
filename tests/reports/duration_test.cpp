// The work of a model as ops, counted by hand, and the sum of their prices.
// SPDX-License-Identifier: Apache-2.0
#include "reports/duration.h"

#include <gtest/gtest.h>

#include "reports/workload.h"
#include "tests/reports/made_up_run.h"

namespace assay {
namespace {

Workload workload_of(const ModelSpec& model, Purpose purpose, std::int64_t context) {
  Workload workload = default_workload(purpose);
  workload.context = context;
  return resolve(workload, model);
}

double product_flops(const std::vector<PartOp>& ops) {
  double sum = 0;
  for (const PartOp& op : ops)
    if (std::holds_alternative<Gemm>(op.op)) sum += cost(op.op).flops * op.count;
  return sum;
}

// Llama-3-8B, 4096 tokens: matrices 2 x 4096 x 6,979,321,856; attention 32 layers x 32 heads x 2 products of
// 2 x 4096^2 x 128; head 2 x 4096 x 128,256, of one token or of all.
constexpr double matrices = 2.0 * 4096 * 6'979'321'856.0;
constexpr double attention = 32.0 * 32 * 2 * (2.0 * 4096 * 4096 * 128);
constexpr double head = 2.0 * 4096 * 128'256;

TEST(PromptOps, OfLlama3HaveTheFlopsOfItsMatricesAndAttention) {
  const ModelSpec model = find_model("llama-3-8b");
  EXPECT_DOUBLE_EQ(product_flops(prompt_ops(model, workload_of(model, Purpose::inference, 4096))),
                   matrices + attention + head);
}

TEST(StepOps, OfLlama3HaveThreeTimesTheFlopsOfTheForwardPass) {
  const ModelSpec model = find_model("llama-3-8b");
  Workload workload = workload_of(model, Purpose::training, 4096);
  const double forward = matrices + attention + 4096 * head;
  EXPECT_NEAR(product_flops(step_ops(model, workload)) / (3 * forward), 1.0, 1e-12);
  workload.recompute = Recompute::full;  // everything but the head once more
  EXPECT_NEAR(product_flops(step_ops(model, workload)) / (3 * forward + matrices + attention), 1.0, 1e-12);
  workload.recompute = Recompute::selective;  // attention once more
  EXPECT_NEAR(product_flops(step_ops(model, workload)) / (3 * forward + attention), 1.0, 1e-12);
}

TEST(StepOps, WithLoraLeaveOutTheGradientsOfFrozenWeights) {
  const ModelSpec model = find_model("llama-3-8b");
  Workload workload = workload_of(model, Purpose::training, 4096);
  workload.tuning = Tuning::lora;
  // Forward and the inputs' gradients of all weights, all three of attention, and adapters: fused q, k, v and gate, up
  // count as one matrix each: (4096 + 6144) + 8192 + (4096 + 28672) + 18432 = 69,632 x 16 x 32 layers, 3 x 2 x 4096.
  const double adapters = 3 * 2.0 * 4096 * 16 * 32 * 69'632;
  EXPECT_NEAR(product_flops(step_ops(model, workload)) / (2 * (matrices + 4096 * head) + 3 * attention + adapters), 1.0,
              1e-12);
  double trained = 0;
  for (const PartOp& op : step_ops(model, workload))
    if (const auto* adamw = std::get_if<AdamW>(&op.op)) trained += static_cast<double>(adamw->count) * op.count;
  EXPECT_EQ(trained, 41'943'040);
}

TEST(PromptOps, OfMixtralSpreadTheTokensOverItsExperts) {
  // 4096 tokens choose 2 of 8: every expert gets 1024. Feed-forward: 2 x 4096 x 2 x 3 x 4096 x 14336 x 32 layers.
  const ModelSpec model = find_model("mixtral-8x7b");
  double flops = 0;
  for (const PartOp& op : prompt_ops(model, workload_of(model, Purpose::inference, 4096))) {
    const auto* gemm = std::get_if<Gemm>(&op.op);
    if (op.part == "feed-forward" && gemm->n != 8) flops += cost(op.op).flops * op.count;
  }
  EXPECT_NEAR(flops / (2.0 * 4096 * 2 * 3 * 4096 * 14336 * 32), 1.0, 1e-9);
}

TEST(TokenOps, ReadTheCacheAndTheActiveWeightsOnce) {
  // The second operand of the products: cache 4096 x 131,072 bytes, layers' matrices 2 x 6,979,321,856, head
  // 2 x 525,336,576.
  const ModelSpec model = find_model("llama-3-8b");
  double cache = 0, weights = 0;
  for (const PartOp& op : token_ops(model, workload_of(model, Purpose::inference, 4096))) {
    const auto* gemm = std::get_if<Gemm>(&op.op);
    if (gemm == nullptr) continue;
    const double bytes = static_cast<double>(gemm->batch * gemm->n * gemm->k) * 2 * op.count;
    (op.part == "attention" ? cache : weights) += bytes;
  }
  EXPECT_EQ(cache, 4096.0 * 131'072);
  EXPECT_EQ(weights, 2 * (6'979'321'856.0 + 525'336'576.0));
}

TEST(TokenOps, OfLatentAttentionReadTheLatentRows) {
  // DeepSeek-V3: scores read 576 numbers a token, values 512 of them again, in 61 layers.
  const ModelSpec model = find_model("deepseek-v3");
  double numbers = 0;
  for (const PartOp& op : token_ops(model, workload_of(model, Purpose::inference, 1000))) {
    const auto* gemm = std::get_if<Gemm>(&op.op);
    if (gemm != nullptr && op.part == "attention")
      numbers += static_cast<double>(gemm->batch * gemm->n * gemm->k) * op.count;
  }
  EXPECT_EQ(numbers, 61.0 * 1000 * (576 + 512));
}

TEST(PromptOps, LookNoFurtherThanTheWindow) {
  const ModelSpec model = find_model("mistral-7b-v0.1");
  std::int64_t widest = 0;
  for (const PartOp& op : prompt_ops(model, workload_of(model, Purpose::inference, 10'000)))
    if (const auto* softmax = std::get_if<Softmax>(&op.op)) widest = std::max(widest, softmax->columns);
  EXPECT_EQ(widest, 4096);
}

TEST(Duration, IsTheSumOfItsParts) {
  const ModelSpec model = find_model("llama-3-8b");
  const Rates rates({measured_run()}, "cpu:0");
  for (const Purpose purpose : {Purpose::inference, Purpose::training}) {
    const Workload workload = workload_of(model, purpose, 4096);
    const Duration time =
        duration(purpose == Purpose::training ? step_ops(model, workload) : prompt_ops(model, workload), rates);
    ASSERT_TRUE(time.judged());
    double seconds = 0, known = 0;
    for (const PartTime& part : time.parts) {
      seconds += part.seconds;
      EXPECT_LE(part.lower, part.seconds * 1.000001) << part.part;
      EXPECT_GE(part.upper, part.seconds) << part.part;
    }
    for (const auto& [origin, sum] : time.by_origin) known += sum;
    EXPECT_NEAR(time.seconds, seconds, 1e-9 * seconds);
    EXPECT_NEAR(time.seconds, known, 1e-9 * seconds);
    // Not faster than all flops at the peak of 1 TFLOP/s.
    EXPECT_GT(time.seconds, time.flops / 1.05e12);
  }
}

TEST(Duration, OfATokenIsTheBytesOverTheBandwidth) {
  const ModelSpec model = find_model("llama-3-8b");
  const Duration time =
      duration(token_ops(model, workload_of(model, Purpose::inference, 4096)), Rates({measured_run()}, "cpu:0"));
  // 2 x 7,504,658,432 + 536,870,912 bytes at 100 GB/s: 0.1555 s, and a little for everything else.
  EXPECT_GT(time.seconds, 0.1555);
  EXPECT_LT(time.seconds, 0.1555 * 1.05);
}

TEST(Duration, WithoutRatesIsNotJudgedAndSaysWhy) {
  const ModelSpec model = find_model("gpt2");
  const Duration time =
      duration(prompt_ops(model, workload_of(model, Purpose::inference, 100)), Rates({made_up_run()}, "cpu:0"));
  EXPECT_FALSE(time.judged());
  EXPECT_EQ(time.unpriced_share(), 1);
  EXPECT_FALSE(time.unpriced.empty());
}

TEST(Duration, OfEveryModelCanBeWorkedOut) {
  const Rates rates({measured_run()}, "cpu:0");
  for (const ModelSpec& model : builtin_models()) {
    if (model.kind == ModelKind::convolution) continue;
    for (const Tuning tuning : {Tuning::full, Tuning::lora}) {
      Workload workload = default_workload(Purpose::training);
      workload.tuning = tuning;
      EXPECT_TRUE(duration(step_ops(model, resolve(workload, model)), rates).judged()) << model.name;
    }
    const Workload workload = resolve(default_workload(Purpose::inference), model);
    EXPECT_TRUE(duration(prompt_ops(model, workload), rates).judged()) << model.name;
    EXPECT_TRUE(duration(token_ops(model, workload), rates).judged()) << model.name;
  }
}

}  // namespace
}  // namespace assay
