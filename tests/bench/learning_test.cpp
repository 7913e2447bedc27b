// A small model learns real text on the CPU plug-in: the same curve in every precision, and another one where a term is
// missing or a scale is wrong. SPDX-License-Identifier: Apache-2.0
#include "bench/learning.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <variant>

#include "core/error.h"
#include "core/loader.h"

namespace assay {
namespace {

constexpr int steps = 80;
constexpr int compared = 20;  // of the last losses
constexpr std::uint64_t seed = 17;

class Learning : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const LoadedPlugin loaded = load_plugin(std::filesystem::path(ASSAY_BINARY_DIR) / "plugins", "cpu");
    if (loaded.plugin == nullptr) throw Error(loaded.reason);
    backend_ = loaded.plugin->create_backend().release();
  }
  void SetUp() override {
    try {
      text_ = licence_text();
    } catch (const Unsupported& missing) {
      GTEST_SKIP() << missing.what();
    }
  }

  std::vector<double> curve(const TrainingStep& step, int threads = 0, int count = steps, std::uint64_t chosen = seed) {
    Preparation preparation;
    preparation.threads = threads;
    for (const Step& each : step.work.steps) {
      const Support support = backend_->supports(each.op, 0);
      if (!support.yes) throw Unsupported(support.reason);
    }
    return learn(step, *backend_->prepare(step.work, 0, preparation), text_, count, chosen);
  }

  std::vector<double> curve(const std::string& precision) {
    return curve(training_step(byte_model(), byte_setup(precision)));
  }

  // Exact arithmetic, as the others are compared with; computed once.
  double fp32_loss() {
    static const double loss = mean_of_last(curve("fp32"), compared);
    return loss;
  }

  std::string text_;
  static Backend* backend_;
};
Backend* Learning::backend_ = nullptr;

// Half a per cent: what the roundings of 16 bits change after 80 steps is a tenth of that; a loss that is off by a
// missing term or scale is off by far more.
constexpr double band = 0.005;
constexpr double fp8_band = 0.03;  // three bits of mantissa

TEST_F(Learning, BringsTheLossOfFp32WellBelowThatOfGuessing) {
  const std::vector<double> losses = curve("fp32");
  EXPECT_NEAR(losses.front(), std::log(256.0), 1.2);  // 5.5 nats: any byte is as likely
  EXPECT_LT(mean_of_last(losses, compared), 3.0);
}

TEST_F(Learning, FollowsFp32InBf16) {
  try {
    EXPECT_NEAR(mean_of_last(curve("bf16"), compared) / fp32_loss(), 1, band);
  } catch (const Unsupported& missing) {
    GTEST_SKIP() << missing.what();
  }
}

TEST_F(Learning, FollowsFp32InFp16WithALossScale) {
  EXPECT_NEAR(mean_of_last(curve("fp16"), compared) / fp32_loss(), 1, band);
}

TEST_F(Learning, FollowsFp32InFp8) {
  try {
    EXPECT_NEAR(mean_of_last(curve("fp8"), compared) / fp32_loss(), 1, fp8_band);
  } catch (const Unsupported& missing) {
    GTEST_SKIP() << missing.what();
  }
}

TEST_F(Learning, FollowsFp32WithPlainAttentionRecomputingMicroBatchesAndNarrowMoments) {
  StepSetup setup = byte_setup("fp32");
  setup.attention = StepAttention::plain;
  EXPECT_NEAR(mean_of_last(curve(training_step(byte_model(), setup)), compared) / fp32_loss(), 1, band);
  setup = byte_setup("fp32");
  setup.recompute = StepRecompute::full;
  EXPECT_NEAR(mean_of_last(curve(training_step(byte_model(), setup)), compared) / fp32_loss(), 1, band);
  setup = byte_setup("fp32");
  setup.batch = 4;
  setup.micro_batches = 2;  // other text in each step, and the same number of bytes
  EXPECT_NEAR(mean_of_last(curve(training_step(byte_model(), setup)), compared) / fp32_loss(), 1, 0.03);
  setup = byte_setup("fp32");
  setup.optimizer = StepOptimizer::adamw8;
  EXPECT_NEAR(mean_of_last(curve(training_step(byte_model(), setup)), compared) / fp32_loss(), 1, 0.03);
}

TEST_F(Learning, LeavesTheBandWhereATermIsSkipped) {
  TrainingStep step = training_step(byte_model(), byte_setup("fp32"));
  int cut = 0;
  for (Step& each : step.work.steps) {
    // The gradient that comes along the residual is lost in one norm.
    auto* norm = std::get_if<Norm>(&each.op);
    if (norm == nullptr || !norm->accumulate || cut > 0) continue;
    norm->accumulate = false;
    ++cut;
  }
  ASSERT_EQ(cut, 1);
  EXPECT_GT(std::abs(mean_of_last(curve(step), compared) / fp32_loss() - 1), 2 * band);
}

TEST_F(Learning, LeavesTheBandWhereAScaleIsWrong) {
  TrainingStep step = training_step(byte_model(), byte_setup("fp32"));
  for (Step& each : step.work.steps) {
    auto* attention = std::get_if<Attention>(&each.op);
    // The way back sees only the last key of each query: as if the scale of the scores were lost.
    if (attention != nullptr && attention->direction == Direction::backward) attention->window = 1;
  }
  EXPECT_GT(std::abs(mean_of_last(curve(step), compared) / fp32_loss() - 1), 2 * band);
  try {
    TrainingStep narrow = training_step(byte_model(), byte_setup("fp8"));
    for (Step& each : narrow.work.steps) {
      auto* gemm = std::get_if<Gemm>(&each.op);
      if (gemm != nullptr && gemm->scales && each.phase == "forward") gemm->alpha = 0.25;
    }
    EXPECT_GT(std::abs(mean_of_last(curve(narrow), compared) / fp32_loss() - 1), fp8_band);
  } catch (const Unsupported& missing) {
    GTEST_SKIP() << missing.what();
  }
}

TEST_F(Learning, GivesTheSameLossForTheSameSeedAndAnotherForAnother) {
  const TrainingStep step = training_step(byte_model(), byte_setup("fp32"));
  const std::vector<double> once = curve(step, 1, 8);
  EXPECT_EQ(once, curve(step, 1, 8));
  EXPECT_NE(once, curve(step, 1, 8, seed + 1));
}

TEST_F(Learning, DoesNotDependOnTheNumberOfThreadsBeyondRounding) {
  const TrainingStep step = training_step(byte_model(), byte_setup("fp32"));
  const std::vector<double> one = curve(step, 1, 12);
  const std::vector<double> all = curve(step, 0, 12);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(all[i], one[i], 1e-4 * one[i]) << "step " << i;
}

TEST_F(Learning, LearnsByAdaptersAlone) {
  StepSetup setup = byte_setup("fp32");
  setup.lora_rank = 8;
  const std::vector<double> losses = curve(training_step(byte_model(), setup));
  EXPECT_LT(mean_of_last(losses, compared), losses.front() - 0.3);
}

}  // namespace
}  // namespace assay
