// Single results worked by hand, and tolerances that let right results pass and wrong ones not.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/fill.h"
#include "core/interpreter.h"
#include "core/number.h"
#include "core/op.h"

namespace assay {
namespace {

// An op with its operands before it runs.
struct Example {
  Op op;
  std::vector<std::vector<double>> before;

  Reader reader() const {
    return [this](int operand, std::int64_t index) {
      return before.at(static_cast<std::size_t>(operand)).at(static_cast<std::size_t>(index));
    };
  }
  double expected(int operand, std::int64_t index) const { return assay::expected(op, operand, index, reader()); }
  double tolerance(int operand, std::int64_t index) const { return assay::tolerance(op, operand, index, reader()); }
};

Example example(const char* canonical, std::vector<std::vector<double>> before) {
  return {parse_op(canonical), std::move(before)};
}

TEST(Expected, ProductOfTwoSmallMatrices) {
  // [1 2; 3 4] [5 6; 7 8] = [19 22; 43 50]
  const Example plain = example("gemm m=2 n=2 k=2", {{1, 2, 3, 4}, {5, 6, 7, 8}, {0, 0, 0, 0}});
  EXPECT_EQ(plain.expected(2, 0), 19);
  EXPECT_EQ(plain.expected(2, 1), 22);
  EXPECT_EQ(plain.expected(2, 2), 43);
  EXPECT_EQ(plain.expected(2, 3), 50);
}

TEST(Expected, ProductsWithTransposes) {
  // A^T with A [k=3, m=2] = [1 2; 3 4; 5 6] is [1 3 5; 2 4 6]; B [k=3, n=1] = [1 10 100]: 531, 642
  EXPECT_EQ(example("gemm m=2 n=1 k=3 transpose_a=true", {{1, 2, 3, 4, 5, 6}, {1, 10, 100}, {0, 0}}).expected(2, 0),
            531);
  EXPECT_EQ(example("gemm m=2 n=1 k=3 transpose_a=true", {{1, 2, 3, 4, 5, 6}, {1, 10, 100}, {0, 0}}).expected(2, 1),
            642);
  // B [n=2, k=3] transposed: [1 10 100] . [1 2 3] = 321, . [4 5 6] = 654
  const Example b = example("gemm m=1 n=2 k=3 transpose_b=true", {{1, 10, 100}, {1, 2, 3, 4, 5, 6}, {0, 0}});
  EXPECT_EQ(b.expected(2, 0), 321);
  EXPECT_EQ(b.expected(2, 1), 654);
}

TEST(Expected, ProductsWithBatchAlphaBetaBiasAndActivation) {
  // batches of 1 x 1 x 2: (1 2).(3 4) = 11, (5 6).(7 8) = 83; half of it, plus D, plus the bias
  const Example all = example("gemm batch=2 m=1 n=1 k=2 beta=1 bias=true alpha=0.5",
                              {{1, 2, 5, 6}, {3, 4, 7, 8}, {1000}, {10000, 20000}});
  EXPECT_EQ(all.expected(3, 0), 5.5 + 1000 + 10000);
  EXPECT_EQ(all.expected(3, 1), 41.5 + 1000 + 20000);
  EXPECT_EQ(example("gemm m=1 n=2 k=1 activation=relu", {{2}, {3, -3}, {0, 0}}).expected(2, 0), 6);
  EXPECT_EQ(example("gemm m=1 n=2 k=1 activation=relu", {{2}, {3, -3}, {0, 0}}).expected(2, 1), 0);
}

TEST(Expected, StreamsUseAFactorOfThree) {
  EXPECT_EQ(example("stream kind=copy count=2", {{1, 2}, {0, 0}}).expected(1, 1), 2);
  EXPECT_EQ(example("stream kind=scale count=2", {{1, 2}, {0, 0}}).expected(1, 1), 6);
  EXPECT_EQ(example("stream kind=add count=2", {{1, 2}, {10, 20}, {0, 0}}).expected(2, 1), 22);
  EXPECT_EQ(example("stream count=2", {{1, 2}, {10, 20}, {0, 0}}).expected(2, 1), 62);
  EXPECT_EQ(example("stream kind=read count=3", {{1, 2, 4}, {0}}).expected(1, 0), 7);
  EXPECT_EQ(example("stream kind=write count=2", {{0, 0}}).expected(0, 1), 3);
}

TEST(Expected, TransfersMoveBothWays) {
  const Example both = example("transfer bytes=2 both_ways=true", {{1, 2}, {0, 0}, {3, 4}, {0, 0}});
  EXPECT_EQ(both.expected(1, 1), 2);
  EXPECT_EQ(both.expected(3, 0), 3);
}

TEST(Expected, GeluOfOne) {
  // u = 0.7978845608 x 1.044715 = 0.8335625019, tanh(u) = 0.6823838449, y = 0.5 x 1.6823838449 = 0.8411919906
  // (PyTorch documents gelu(1, approximate="tanh") as 0.8412)
  EXPECT_NEAR(example("pointwise columns=1", {{1}, {0}}).expected(1, 0), 0.841191990608, 1e-9);
  EXPECT_EQ(example("pointwise columns=1", {{0}, {0}}).expected(1, 0), 0);
}

TEST(Expected, SwigluOfOneRow) {
  // sigmoid(0) = 1/2, so silu(0) = 0; silu(ln 3) = ln 3 x 3/4
  const double ln3 = std::log(3.0);
  const Example two = example("pointwise kind=swiglu columns=2", {{0, ln3, 5, 8}, {0, 0}});
  EXPECT_EQ(two.expected(1, 0), 0);
  EXPECT_NEAR(two.expected(1, 1), 6 * ln3, 1e-15);
}

TEST(Expected, CastDividesByTheScale) {
  EXPECT_EQ(example("cast count=2 to=fp8_e4m3.tensor", {{6, 8}, {2}, {0, 0}}).expected(2, 1), 4);
  EXPECT_EQ(example("cast count=2 to=bf16", {{6, 8}, {0, 0}}).expected(1, 0), 6);
}

TEST(Expected, AdamWStep) {
  // learning rate 0.5, corrections 0.1 and 0.05, gradient 2 x 3 = 6; from zero moments first = 0.6, second = 1.8;
  // 0.6 / 0.1 = 6, sqrt(1.8 / 0.05) = 6, so the step is 1 (less 6 / (6 + 1e-8)); master 10 - 0.5 (1 + 0.1 x 10) = 9
  const Example step =
      example("adamw count=1 weight=bf16", {{0.5, 0.1, 0.05, 3, 0, 0, 0, 0}, {2}, {10}, {0}, {0}, {0}});
  EXPECT_NEAR(step.expected(3, 0), 0.6, 1e-15);
  EXPECT_NEAR(step.expected(4, 0), 1.8, 1e-14);
  EXPECT_NEAR(step.expected(2, 0), 9, 1e-8);
  EXPECT_EQ(step.expected(5, 0), step.expected(2, 0));
}

TEST(Expected, AdamWSkipsWhereTheFlagSaysSo) {
  const Example skip =
      example("adamw count=1 weight=bf16", {{0.5, 0.1, 0.05, 3, 1, 0, 0, 0}, {2}, {10}, {7}, {8}, {0}});
  EXPECT_EQ(skip.expected(2, 0), 10);
  EXPECT_EQ(skip.expected(3, 0), 7);
  EXPECT_EQ(skip.expected(4, 0), 8);
  EXPECT_EQ(skip.expected(5, 0), 10);
}

TEST(Expected, SoftmaxOfLogarithms) {
  // exp gives 1, 2, 5: eighths
  const std::vector<double> row{0, std::log(2.0), std::log(5.0)};
  const Example whole = example("softmax rows=1 columns=3", {row, {0, 0, 0}});
  EXPECT_NEAR(whole.expected(1, 0), 0.125, 1e-15);
  EXPECT_NEAR(whole.expected(1, 2), 0.625, 1e-15);
  // two queries over three keys: the first sees two, 1/3 and 2/3, and nothing beyond
  std::vector<double> rows = row;
  rows.insert(rows.end(), row.begin(), row.end());
  const Example causal = example("softmax rows=2 columns=3 period=2", {rows, {0, 0, 0, 0, 0, 0}});
  EXPECT_NEAR(causal.expected(1, 0), 1.0 / 3, 1e-15);
  EXPECT_NEAR(causal.expected(1, 1), 2.0 / 3, 1e-15);
  EXPECT_EQ(causal.expected(1, 2), 0);
  EXPECT_NEAR(causal.expected(1, 5), 0.625, 1e-15);
}

TEST(Expected, SoftmaxBackwardSubtractsTheMean) {
  // sum(dy y) = 0.25 x 4 + 0.75 x 8 = 7; dx = 0.25 (4 - 7), 0.75 (8 - 7)
  const Example back = example("softmax direction=backward rows=1 columns=2", {{4, 8}, {0.25, 0.75}, {0, 0}});
  EXPECT_EQ(back.expected(2, 0), -0.75);
  EXPECT_EQ(back.expected(2, 1), 0.75);
}

TEST(Expected, NormsOfOneRow) {
  // (3, 4): mean of squares 12.5
  const double rms = 1 / std::sqrt(12.5 + 1e-5);
  const Example root = example("norm rows=1 columns=2", {{3, 4}, {1, 10}, {0, 0}, {0, 0}});
  EXPECT_NEAR(root.expected(2, 0), 3 * rms, 1e-15);
  EXPECT_NEAR(root.expected(2, 1), 40 * rms, 1e-14);
  EXPECT_EQ(root.expected(3, 0), 0);
  EXPECT_NEAR(root.expected(3, 1), rms, 1e-16);
  // (1, 3): mean 2, variance 1
  const double deviation = 1 / std::sqrt(1 + 1e-5);
  const Example layer = example("norm kind=layer rows=1 columns=2", {{1, 3}, {1, 10}, {100, 200}, {0, 0}, {0, 0}});
  EXPECT_NEAR(layer.expected(3, 0), 100 - deviation, 1e-13);
  EXPECT_NEAR(layer.expected(3, 1), 200 + 10 * deviation, 1e-13);
  EXPECT_EQ(layer.expected(4, 0), 2);
  EXPECT_NEAR(layer.expected(4, 1), deviation, 1e-16);
}

TEST(Expected, NormBackwardBelievesTheStatistics) {
  // rms, 1/deviation 2: h = (2, 4), e = weight dy = (3, 5), mean(e h) = (6 + 20) / 2 = 13;
  // dx = 2 (3 - 2 x 13), 2 (5 - 4 x 13) = -46, -94; added to 100, 200
  const Example root =
      example("norm direction=backward rows=1 columns=2 accumulate=true", {{3, 1}, {1, 2}, {1, 5}, {0, 2}, {100, 200}});
  EXPECT_EQ(root.expected(4, 0), 54);
  EXPECT_EQ(root.expected(4, 1), 106);
  // layer, mean 1, 1/deviation 2: h = (0, 2), e = (3, 5), mean(e) = 4, mean(e h) = 5;
  // dx = 2 (3 - 4 - 0), 2 (5 - 4 - 2 x 5)
  const Example layer =
      example("norm kind=layer direction=backward rows=1 columns=2", {{3, 1}, {1, 2}, {1, 5}, {1, 2}, {0, 0}});
  EXPECT_EQ(layer.expected(4, 0), -2);
  EXPECT_EQ(layer.expected(4, 1), -18);
}

TEST(Expected, GradientsDownTheColumns) {
  // rows (1, 2) and (3, 4); means 1 and 2, 1/deviations 2 and 3: h = (0, 2) and (3, 6); dy = (10, 20) and (30, 40)
  const Example norm = example("norm_weights kind=layer rows=2 columns=2",
                               {{10, 20, 30, 40}, {1, 2, 3, 4}, {1, 2, 2, 3}, {0, 0}, {0, 0}});
  EXPECT_EQ(norm.expected(3, 0), 90);
  EXPECT_EQ(norm.expected(3, 1), 40 + 240);
  EXPECT_EQ(norm.expected(4, 1), 60);
  EXPECT_EQ(example("column_sum rows=2 columns=2", {{1, 2, 3, 4}, {0, 0}}).expected(1, 1), 6);
}

TEST(Expected, CrossEntropyOfLogarithms) {
  // probabilities 1/8, 2/8, 5/8, target 1: loss ln 4; two rows share the gradient: (1/8, -6/8, 5/8) / 2
  const double l2 = std::log(2.0);
  const double l5 = std::log(5.0);
  const Example loss =
      example("cross_entropy rows=2 columns=3", {{0, l2, l5, 0, 0, 0}, {1, 0}, {0, 0}, {0, 0, 0, 0, 0, 0}});
  EXPECT_NEAR(loss.expected(2, 0), 2 * l2, 1e-15);
  EXPECT_NEAR(loss.expected(2, 1), std::log(3.0), 1e-15);
  EXPECT_NEAR(loss.expected(3, 0), 0.0625, 1e-15);
  EXPECT_NEAR(loss.expected(3, 1), -0.375, 1e-15);
  EXPECT_NEAR(loss.expected(3, 3), -1.0 / 3, 1e-15);
}

TEST(Expected, EmbeddingLooksUpAndAddsUp) {
  const Example forward =
      example("embedding rows=2 vocabulary=3 columns=2", {{2, 0}, {1, 2, 3, 4, 5, 6}, {0, 0, 0, 0}});
  EXPECT_EQ(forward.expected(2, 0), 5);
  EXPECT_EQ(forward.expected(2, 3), 2);
  // token 1 twice: 10 + 30, 20 + 40 on top of what is there
  const Example back = example("embedding direction=backward rows=2 vocabulary=3 columns=2",
                               {{1, 1}, {10, 20, 30, 40}, {1, 2, 3, 4, 5, 6}});
  EXPECT_EQ(back.expected(2, 2), 43);
  EXPECT_EQ(back.expected(2, 3), 64);
  EXPECT_EQ(back.expected(2, 0), 1);
}

TEST(Expected, TokensOutsideTheTableAreRefused) {
  const Example wrong = example("embedding rows=1 vocabulary=3 columns=1", {{3}, {1, 2, 3}, {0}});
  EXPECT_THROW(wrong.expected(2, 0), Error);
  const Example target = example("cross_entropy rows=1 columns=2", {{0, 0}, {-1}, {0}, {0, 0}});
  EXPECT_THROW(target.expected(2, 0), Error);
}

TEST(Expected, RopeSplitsAndTurnsHalves) {
  // one batch, two positions, one head of four; cosines (3, 5), sines (7, 11) at position 1, no turn at position 0
  std::vector<double> packed;
  for (int i = 1; i <= 24; ++i) packed.push_back(i);
  const std::vector<double> table{1, 1, 0, 0, 3, 5, 7, 11};
  const Example rope = example("rope batch=1 length=2 heads=1 kv_heads=1 head_size=4",
                               {packed, table, std::vector<double>(8), std::vector<double>(8), std::vector<double>(8)});
  EXPECT_EQ(rope.expected(2, 0), 1);  // q at position 0 as it was: 1 2 3 4
  EXPECT_EQ(rope.expected(2, 3), 4);
  EXPECT_EQ(rope.expected(3, 0), 5);   // k behind it
  EXPECT_EQ(rope.expected(4, 2), 11);  // v: 9 10 11 12
  // q at position 1 is 13 14 15 16: 13 x 3 - 15 x 7, 14 x 5 - 16 x 11, 15 x 3 + 13 x 7, 16 x 5 + 14 x 11
  EXPECT_EQ(rope.expected(2, 4), -66);
  EXPECT_EQ(rope.expected(2, 5), -106);
  EXPECT_EQ(rope.expected(2, 6), 136);
  EXPECT_EQ(rope.expected(2, 7), 234);
  EXPECT_EQ(rope.expected(4, 4), 21);  // v never turns
}

TEST(Expected, HeadsMergeByToken) {
  // x [1, 2 heads, 3 positions, 1]: (1 2 3) and (4 5 6); y [3, 2]: 1 4, 2 5, 3 6
  const Example merge = example("heads batch=1 length=3 heads=2 head_size=1", {{1, 2, 3, 4, 5, 6}, {0, 0, 0, 0, 0, 0}});
  EXPECT_EQ(merge.expected(1, 1), 4);
  EXPECT_EQ(merge.expected(1, 2), 2);
  const Example split = example("heads direction=backward batch=1 length=3 heads=2 head_size=1",
                                {{1, 4, 2, 5, 3, 6}, {0, 0, 0, 0, 0, 0}});
  EXPECT_EQ(split.expected(1, 1), 2);
  EXPECT_EQ(split.expected(1, 3), 4);
}

TEST(Expected, RefusesWhatTheOpDoesNotWrite) {
  const Example copy = example("stream kind=copy count=2", {{1, 2}, {0, 0}});
  EXPECT_THROW(copy.expected(0, 0), Error);
  EXPECT_THROW(copy.expected(2, 0), Error);
  EXPECT_THROW(copy.expected(1, 2), Error);
  EXPECT_THROW(copy.expected(1, -1), Error);
  EXPECT_THROW(example("launch", {}).expected(0, 0), Error);
  EXPECT_THROW(example("chase bytes=64", {{0}}).expected(0, 0), Error);
}

TEST(Tolerance, OfACopyIsOneRounding) {
  // bf16 has 8 significant bits: half a unit in the last place of 3 is 3 x 2^-8 at most; the arithmetic adds nothing
  const Example copy = example("stream kind=copy count=1 format=bf16", {{3}, {0}});
  EXPECT_NEAR(copy.tolerance(1, 0), 3.0 / 256, 1e-12);
}

TEST(Tolerance, OfALongProductIsFarBelowTheSumOfMagnitudesAndAboveOneRounding) {
  // 4096 products of magnitude 1: the sum of magnitudes is 4096, 16 sqrt(4096) = 1024 roundoffs of it are
  // 1024 x 4096 / 2^24 = 0.25; products and signs add little, and the result is 0, so storing adds nothing
  std::vector<double> a(4096), b(4096, 1.0);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = i % 2 == 0 ? 1 : -1;
  const Example product = example("gemm m=1 n=1 k=4096", {a, b, {0}});
  EXPECT_GT(product.tolerance(2, 0), 0.24);
  EXPECT_LT(product.tolerance(2, 0), 0.26);
}

// Numbers of about 1, as fp32 holds them.
std::vector<double> numbers(std::int64_t count, std::uint64_t seed) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < count; ++i) {
    result.push_back(rounded(Element::fp32, normal_like(seed, static_cast<std::uint64_t>(i))));
  }
  return result;
}

TEST(Tolerance, LetsSumsInSinglePrecisionPassAndAMissingTermNot) {
  constexpr std::int64_t length = 5000;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Example product = example("gemm m=1 n=1 k=5000", {numbers(length, seed), numbers(length, seed + 100), {0}});
    float forward = 0;
    for (std::size_t i = 0; i < length; ++i) {
      forward += static_cast<float>(product.before[0][i]) * static_cast<float>(product.before[1][i]);
    }
    const double wanted = product.expected(2, 0);
    EXPECT_LE(std::abs(forward - wanted), product.tolerance(2, 0));
    EXPECT_GT(std::abs(wanted), 0);
    // An average term is 0.64 large.
    EXPECT_LT(product.tolerance(2, 0), 0.32);
  }
}

TEST(Tolerance, LetsANormInSinglePrecisionPassAndOneWithoutItsMeanNot) {
  constexpr std::size_t columns = 4096;
  std::vector<double> x = numbers(columns, 1);
  for (double& value : x) value = rounded(Element::fp32, value + 0.25);
  const Example norm = example("norm kind=layer rows=1 columns=4096",
                               {x, std::vector<double>(columns, 1.0), std::vector<double>(columns), {}, {}});
  float sum = 0;
  for (const double value : x) sum += static_cast<float>(value);
  const float mean = sum / static_cast<float>(columns);
  float squares = 0;
  for (const double value : x) {
    const float off = static_cast<float>(value) - mean;
    squares += off * off;
  }
  const float inverse = 1 / std::sqrt(squares / static_cast<float>(columns) + 1e-5F);
  for (const std::size_t i : {std::size_t{0}, std::size_t{7}, columns - 1}) {
    const auto index = static_cast<std::int64_t>(i);
    const double wanted = norm.expected(3, index);
    EXPECT_LE(std::abs((static_cast<float>(x[i]) - mean) * inverse - wanted), norm.tolerance(3, index));
    EXPECT_GT(std::abs(static_cast<float>(x[i]) * inverse - wanted), norm.tolerance(3, index));
  }
}

TEST(Tolerance, OfATf32ProductAllowsForTheBitsItDrops) {
  const Example product = example("gemm m=1 n=1 k=1 a=tf32 b=tf32", {{1.0009765}, {1}, {0}});
  EXPECT_GT(product.tolerance(2, 0), 1.0 / 1024);
  const Example full = example("gemm m=1 n=1 k=1", {{1.0009765}, {1}, {0}});
  EXPECT_LT(full.tolerance(2, 0), 1e-6);
}

TEST(Tolerance, OfIntegersLetsOnlyTheLastRoundingGo) {
  const Example product = example("gemm m=1 n=1 k=2 a=int8 b=int8 d=int32 accumulate=int32", {{3, 4}, {5, 6}, {0}});
  EXPECT_LE(product.tolerance(2, 0), 0.5);
}

TEST(Tolerance, BeyondTheLargestNumberSaturates) {
  // 500 does not fit into E4M3 (448): what saturates is 52 off
  const Example cast = example("cast count=1 to=fp8_e4m3", {{500}, {0}});
  EXPECT_GE(cast.tolerance(1, 0), 52);
  EXPECT_LT(cast.tolerance(1, 0), 100);
  // fp16 has an infinity
  EXPECT_TRUE(std::isinf(example("cast count=1 to=fp16", {{70000}, {0}}).tolerance(1, 0)));
}

TEST(Tolerance, OfSmallNumbersIsHalfTheSmallestStep) {
  // The smallest E4M3 number is 2^-9: 0.001 becomes 2^-9 = 0.00195 or 0, up to 2^-10 away
  const Example cast = example("cast count=1 to=fp8_e4m3", {{0.001}, {0}});
  EXPECT_GE(cast.tolerance(1, 0), std::abs(rounded(Element::fp8_e4m3, 0.001) - 0.001));
  EXPECT_NEAR(cast.tolerance(1, 0), 1.0 / 1024, 1e-9);
}

TEST(Tolerance, IsNeverNotANumber) {
  const Example nothing = example("adamw count=1", {{0, 0, 0, 0, 0, 0, 0, 0}, {0}, {0}, {0}, {0}});
  EXPECT_FALSE(std::isnan(nothing.tolerance(2, 0)));
  const Example huge = example("norm rows=1 columns=2", {{1e200, -1e200}, {1, 1}, {0, 0}, {0, 0}});
  EXPECT_FALSE(std::isnan(huge.tolerance(2, 0)));
}

}  // namespace
}  // namespace assay
