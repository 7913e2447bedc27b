// Every backward op against central differences of its forward op, in FP64 through the interpreter.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/interpreter.h"
#include "core/op.h"

namespace assay {
namespace {

using Vector = std::vector<double>;

// Numbers of about 1 that differ from call to call.
Vector numbers(std::int64_t count, std::uint64_t seed) {
  Vector result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(normal_like(seed, static_cast<std::uint64_t>(i)));
  return result;
}

// Runs one op on copies of its operands.
Values run(const Op& op, Values values) {
  std::vector<Vector*> pointers;
  for (Vector& value : values) pointers.push_back(&value);
  interpret(op, pointers);
  return values;
}
Values run(const std::string& canonical, Values values) { return run(parse_op(canonical), std::move(values)); }

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// d(sum of weights[i] output[i]) / d(input element), for all elements of one input of the op.
Vector slopes(const std::string& canonical, Values values, std::size_t input, std::size_t output,
              const Vector& weights) {
  constexpr double step = 1e-5;
  const Op op = parse_op(canonical);
  Vector result;
  for (double& element : values[input]) {
    const double middle = element;
    element = middle + step;
    const double above = dot(run(op, values)[output], weights);
    element = middle - step;
    const double below = dot(run(op, values)[output], weights);
    element = middle;
    result.push_back((above - below) / (2 * step));
  }
  return result;
}

// Central differences are good to about 1e-9 here: step^2 times a third derivative, and 1e-16 / step.
void expect_near(const Vector& gradient, const Vector& differences) {
  ASSERT_EQ(gradient.size(), differences.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(gradient[i], differences[i], 1e-7 * (1 + std::abs(differences[i]))) << "element " << i;
  }
}

TEST(Gradient, OfGelu) {
  const Vector x = numbers(20, 1);
  const Vector dy = numbers(20, 2);
  const Values back = run("pointwise kind=gelu_backward columns=20", {dy, x, Vector(20)});
  expect_near(back[2], slopes("pointwise columns=20", {x, Vector(20)}, 0, 1, dy));
}

TEST(Gradient, OfSwiglu) {
  const Vector x = numbers(3 * 8, 1);
  const Vector dy = numbers(3 * 4, 2);
  const Values back = run("pointwise kind=swiglu_backward rows=3 columns=4", {dy, x, Vector(24)});
  expect_near(back[2], slopes("pointwise kind=swiglu rows=3 columns=4", {x, Vector(12)}, 0, 1, dy));
}

TEST(Gradient, OfSoftmaxWholeAndCausal) {
  for (const std::string period : {"", " period=3", " period=2"}) {
    const std::string shape = " rows=6 columns=3" + period;
    const Vector x = numbers(18, 1);
    const Vector dy = numbers(18, 2);
    const Vector y = run("softmax" + shape, {x, Vector(18)})[1];
    const Values back = run("softmax direction=backward" + shape, {dy, y, Vector(18)});
    expect_near(back[2], slopes("softmax" + shape, {x, Vector(18)}, 0, 1, dy));
  }
}

TEST(Gradient, OfRmsNormWithRespectToInputAndWeight) {
  const Vector x = numbers(4 * 5, 1);
  const Vector weight = numbers(5, 2);
  const Vector dy = numbers(4 * 5, 3);
  const std::string shape = " rows=4 columns=5";
  const Values before{x, weight, Vector(20), Vector(8)};
  const Values forward = run("norm" + shape, before);
  const Values back = run("norm direction=backward" + shape, {dy, x, weight, forward[3], Vector(20)});
  expect_near(back[4], slopes("norm" + shape, before, 0, 2, dy));
  const Values weights = run("norm_weights" + shape, {dy, x, forward[3], Vector(5)});
  expect_near(weights[3], slopes("norm" + shape, before, 1, 2, dy));
}

TEST(Gradient, OfLayerNormWithRespectToInputWeightAndBias) {
  const Vector x = numbers(4 * 5, 1);
  const Vector weight = numbers(5, 2);
  const Vector bias = numbers(5, 3);
  const Vector dy = numbers(4 * 5, 4);
  const std::string shape = " kind=layer rows=4 columns=5";
  const Values before{x, weight, bias, Vector(20), Vector(8)};
  const std::string forward_text = "norm" + shape;
  const Values forward = run(forward_text, before);
  const Values back =
      run("norm kind=layer direction=backward rows=4 columns=5", {dy, x, weight, forward[4], Vector(20)});
  expect_near(back[4], slopes(forward_text, before, 0, 3, dy));
  const Values weights = run("norm_weights" + shape, {dy, x, forward[4], Vector(5), Vector(5)});
  expect_near(weights[3], slopes(forward_text, before, 1, 3, dy));
  expect_near(weights[4], slopes(forward_text, before, 2, 3, dy));
}

TEST(Gradient, OfANormIsAddedToTheResidualsWhereAsked) {
  const Vector x = numbers(10, 1);
  const Vector weight = numbers(5, 2);
  const Vector dy = numbers(10, 3);
  const Vector there = numbers(10, 4);
  const Vector statistics{0, 1.5, 0, 0.5};
  const Vector alone = run("norm direction=backward rows=2 columns=5", {dy, x, weight, statistics, Vector(10)})[4];
  const Vector added =
      run("norm direction=backward rows=2 columns=5 accumulate=true", {dy, x, weight, statistics, there})[4];
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_DOUBLE_EQ(added[i], alone[i] + there[i]);
}

TEST(Gradient, OfABiasIsTheColumnSum) {
  const Values before{numbers(6, 1), numbers(8, 2), numbers(4, 3), Vector(12)};
  const Vector dy = numbers(12, 4);
  const Values back = run("column_sum rows=3 columns=4", {dy, Vector(4)});
  expect_near(back[1], slopes("gemm m=3 n=4 k=2 bias=true", before, 2, 3, dy));
}

TEST(Gradient, OfAttentionWithRespectToQueriesKeysAndValues) {
  // Two query heads to a key head; 3 queries behind a cache, 5 keys, sizes 3 and 2.
  const std::string shape = " query_length=3 key_length=5 heads=4 kv_heads=2 head_size=3 value_size=2";
  for (const std::string mask : {"", " causal=true", " causal=true window=2"}) {
    SCOPED_TRACE(mask);
    const Values before{numbers(36, 1), numbers(30, 2), numbers(20, 3), Vector(24), Vector(12)};
    const Vector dy = numbers(24, 4);
    const std::string forward_text = "attention" + shape + mask;
    const Values forward = run(forward_text, before);
    const Values back =
        run("attention direction=backward" + shape + mask,
            {dy, before[0], before[1], before[2], forward[3], forward[4], Vector(36), Vector(30), Vector(20)});
    for (std::size_t i = 0; i < 3; ++i) expect_near(back[6 + i], slopes(forward_text, before, i, 3, dy));
  }
}

TEST(Gradient, OfAScaledLossIsScaledAndSharedAmongMicroBatches) {
  const Vector scalars{0, 0, 0, 1, 0, 64, 0, 0};
  const Values before{numbers(3 * 5, 1), {4, 0, 2}, Vector(3), Vector(15)};
  const Vector plain = run("cross_entropy rows=3 columns=5", before)[3];
  const Vector scaled = run("cross_entropy rows=3 columns=5 parts=4 scaled=true",
                            {before[0], before[1], before[2], before[3], scalars})[3];
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(scaled[i], plain[i] * 64 / 4, 1e-12);
}

TEST(Gradient, OfCrossEntropyIsThatOfTheMeanLoss) {
  const Values before{numbers(3 * 5, 1), {4, 0, 2}, Vector(3), Vector(15)};
  const Vector gradient = run("cross_entropy rows=3 columns=5", before)[3];
  expect_near(gradient, slopes("cross_entropy rows=3 columns=5", before, 0, 2, Vector(3, 1.0 / 3)));
}

TEST(Gradient, OfEmbedding) {
  const Vector tokens{2, 0, 2, 3};
  const Vector dy = numbers(4 * 3, 2);
  const Vector back = run("embedding direction=backward rows=4 vocabulary=5 columns=3", {tokens, dy, Vector(15)})[2];
  expect_near(back, slopes("embedding rows=4 vocabulary=5 columns=3", {tokens, numbers(15, 1), Vector(12)}, 1, 2, dy));
}

TEST(Gradient, OfRopeIsTheWayBack) {
  for (const bool rotate : {true, false}) {
    const std::string shape =
        std::string(" batch=2 length=3 heads=4 kv_heads=2 head_size=4") + (rotate ? "" : " rotate=false");
    const std::int64_t packed = 2 * 3 * 8 * 4;
    const Vector dq = numbers(96, 1);
    const Vector dk = numbers(48, 2);
    const Vector dv = numbers(48, 3);
    const Vector table = numbers(12, 4);  // any numbers: backward is the transpose of a linear map
    Values before{numbers(packed, 5)};
    Values gradients{dq, dk, dv};
    if (rotate) {
      before.push_back(table);
      gradients.push_back(table);
    }
    const std::size_t first = before.size();
    for (const int size : {96, 48, 48}) before.emplace_back(size);
    gradients.emplace_back(packed);
    const Vector back = run("rope direction=backward" + shape, gradients).back();
    Vector differences(static_cast<std::size_t>(packed));
    for (std::size_t part = 0; part < 3; ++part) {
      const Vector slope = slopes("rope" + shape, before, 0, first + part, gradients[part]);
      for (std::size_t i = 0; i < slope.size(); ++i) differences[i] += slope[i];
    }
    expect_near(back, differences);
  }
}

TEST(Gradient, OfMergingHeadsIsSplittingThem) {
  const std::string shape = " batch=2 length=3 heads=2 head_size=4";
  const Vector dy = numbers(48, 1);
  const Vector back = run("heads direction=backward" + shape, {dy, Vector(48)})[1];
  expect_near(back, slopes("heads" + shape, {numbers(48, 2), Vector(48)}, 0, 1, dy));
}

TEST(Gradient, OfAProductIsTwoProducts) {
  // D = alpha A B: dA = alpha dD B^T, dB = alpha A^T dD, batch by batch
  const Vector a = numbers(2 * 3 * 5, 1);
  const Vector b = numbers(2 * 5 * 4, 2);
  const Vector dd = numbers(2 * 3 * 4, 3);
  const std::string forward = "gemm batch=2 m=3 n=4 k=5 alpha=0.25";
  const Vector da = run("gemm batch=2 m=3 n=5 k=4 transpose_b=true alpha=0.25", {dd, b, Vector(30)})[2];
  const Vector db = run("gemm batch=2 m=5 n=4 k=3 transpose_a=true alpha=0.25", {a, dd, Vector(40)})[2];
  expect_near(da, slopes(forward, {a, b, Vector(24)}, 0, 2, dd));
  expect_near(db, slopes(forward, {a, b, Vector(24)}, 1, 2, dd));
}

TEST(Gradient, OfAProductThatCameTransposed) {
  // D = A B^T: dA = dD B, dB = dD^T A
  const Vector a = numbers(3 * 5, 1);
  const Vector b = numbers(4 * 5, 2);
  const Vector dd = numbers(3 * 4, 3);
  const std::string forward = "gemm m=3 n=4 k=5 transpose_b=true";
  const Vector da = run("gemm m=3 n=5 k=4", {dd, b, Vector(15)})[2];
  const Vector db = run("gemm m=4 n=5 k=3 transpose_a=true", {dd, a, Vector(20)})[2];
  expect_near(da, slopes(forward, {a, b, Vector(12)}, 0, 2, dd));
  expect_near(db, slopes(forward, {a, b, Vector(12)}, 1, 2, dd));
}

}  // namespace
}  // namespace assay
