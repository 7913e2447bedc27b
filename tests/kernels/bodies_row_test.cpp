// Softmax, cross-entropy, norms and column sums by every team, against plain FP64.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/number.h"
#include "tests/kernels/body_runner.h"

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr Format fp32{Element::fp32, Scaling::none};
const std::vector<Element> common = {Element::fp32, Element::bf16, Element::fp16};

struct Shape {
  std::int64_t rows;
  std::int64_t columns;
};
// One column, fewer than a vector, around one, tails, and enough for several threads.
const std::vector<Shape> shapes = {{1, 1}, {3, 2}, {2, 31}, {5, 33}, {3, 64}, {13, 1000}, {70, 129}};

class Rows : public testing::TestWithParam<Runner> {};
INSTANTIATE_TEST_SUITE_P(All, Rows, testing::ValuesIn(runners()));

std::vector<double> row_of(const std::vector<double>& matrix, std::size_t row, std::size_t columns) {
  return {matrix.begin() + static_cast<std::ptrdiff_t>(row * columns),
          matrix.begin() + static_cast<std::ptrdiff_t>((row + 1) * columns)};
}

double log_of_sum(const std::vector<double>& row, std::size_t visible) {
  const double largest = *std::max_element(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(visible));
  double sum = 0;
  for (std::size_t i = 0; i < visible; ++i) sum += std::exp(row[i] - largest);
  return largest + std::log(sum);
}

std::vector<double> softmax(const std::vector<double>& x, std::size_t rows, std::size_t columns, std::size_t period) {
  std::vector<double> y;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::vector<double> values = row_of(x, row, columns);
    const std::size_t visible = period == 0 ? columns : row % period + columns - period + 1;
    const double normaliser = log_of_sum(values, visible);
    for (std::size_t i = 0; i < columns; ++i) y.push_back(i < visible ? std::exp(values[i] - normaliser) : 0);
  }
  return y;
}

std::size_t unsign(std::int64_t value) { return static_cast<std::size_t>(value); }

TEST_P(Rows, SoftmaxAndItsGradient) {
  for (const Element element : common) {
    for (const auto& [rows, columns] : shapes) {
      for (const std::int64_t period : {std::int64_t{0}, std::min<std::int64_t>(columns, 7), columns}) {
        SCOPED_TRACE(text(element) + " " + std::to_string(rows) + " x " + std::to_string(columns) + " period " +
                     std::to_string(period));
        const std::vector<double> x = typical(element, rows * columns, 20, 4);
        const std::vector<double> want = softmax(x, unsign(rows), unsign(columns), unsign(period));
        const Format format{element, Scaling::none};
        const auto y = run_body(GetParam(), Softmax{Direction::forward, rows, columns, format, period}, {x})[1];
        expect_close(y, want, element, 4e-6, 1e-37);

        const std::vector<double> dy = typical(element, rows * columns, 21);
        std::vector<double> dx;
        for (std::size_t row = 0; row < unsign(rows); ++row) {
          double dot = 0;
          for (std::size_t i = row * unsign(columns); i < (row + 1) * unsign(columns); ++i) dot += dy[i] * y[i];
          for (std::size_t i = row * unsign(columns); i < (row + 1) * unsign(columns); ++i) {
            dx.push_back(y[i] * (dy[i] - dot));
          }
        }
        expect_close(run_body(GetParam(), Softmax{Direction::backward, rows, columns, format, period}, {dy, y})[2], dx,
                     element, 1e-6, 2e-6);
      }
    }
  }
}

// Logits of 1000 overflow exp() if the largest is not taken off first; e^-200 is 0 beside 1.
TEST_P(Rows, SoftmaxOfLargeLogitsIsFinite) {
  const std::vector<double> x = {1000, 1000, 800, -1000, -1000, -1000, -1000, -1000};
  const auto y = run_body(GetParam(), Softmax{Direction::forward, 2, 4, fp32, 0}, {x})[1];
  EXPECT_EQ(y, (std::vector<double>{0.5, 0.5, 0, 0, 0.25, 0.25, 0.25, 0.25}));
}

TEST_P(Rows, SoftmaxGivesMaskedColumnsNothing) {
  const std::vector<double> x = {-infinity, 1, -infinity, 1};
  const auto y = run_body(GetParam(), Softmax{Direction::forward, 1, 4, fp32, 0}, {x})[1];
  EXPECT_EQ(y, (std::vector<double>{0, 0.5, 0, 0.5}));
}

TEST_P(Rows, NanStaysInItsRow) {
  std::vector<double> x(3 * 50, 1.0);
  x[50 + 17] = nan;
  x[100 + 49] = infinity;  // infinity minus infinity
  const auto y = run_body(GetParam(), Softmax{Direction::forward, 3, 50, fp32, 0}, {x})[1];
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_NEAR(y[i], 0.02, 1e-8);
    EXPECT_TRUE(std::isnan(y[50 + i]));
    EXPECT_TRUE(std::isnan(y[100 + i]) || i != 49);
  }
  const std::vector<double> ones(50, 1.0);
  const auto norm = run_body(GetParam(), Norm{NormKind::rms, Direction::forward, 3, 50, fp32, false}, {x, ones});
  EXPECT_NEAR(norm[2][0], 1 / std::sqrt(1 + 1e-5), 1e-6);
  EXPECT_TRUE(std::isnan(norm[2][50]));
}

TEST_P(Rows, SoftmaxOfAVocabularyIsAccurate) {
  const std::int64_t columns = 32003;
  // A single float that adds up 32003 terms one by one is off by up to 32003 / 2^24; lanes are far better.
  const double relative = GetParam().name == "serial" ? 2e-3 : 1e-5;
  for (const Element element : {Element::fp32, Element::bf16}) {
    const std::vector<double> x = typical(element, 2 * columns, 22, 5);
    const auto y = run_body(GetParam(), Softmax{Direction::forward, 2, columns, {element, Scaling::none}, 0}, {x})[1];
    expect_close(y, softmax(x, 2, unsign(columns), 0), element, relative, 1e-37);
  }
}

TEST_P(Rows, CrossEntropyGivesLossAndGradient) {
  for (const Element element : common) {
    for (const auto& [rows, columns] : shapes) {
      SCOPED_TRACE(text(element) + " " + std::to_string(rows) + " x " + std::to_string(columns));
      const std::vector<double> logits = typical(element, rows * columns, 23, 4);
      std::vector<double> targets, losses;
      std::vector<double> gradient = softmax(logits, unsign(rows), unsign(columns), 0);
      for (std::size_t row = 0; row < unsign(rows); ++row) {
        const std::size_t target = (row * 7 + unsign(columns) - 1) % unsign(columns);
        targets.push_back(static_cast<double>(target));
        losses.push_back(log_of_sum(row_of(logits, row, unsign(columns)), unsign(columns)) -
                         logits[row * unsign(columns) + target]);
        gradient[row * unsign(columns) + target] -= 1;
      }
      for (double& value : gradient) value /= static_cast<double>(rows);
      const auto after = run_body(GetParam(), CrossEntropy{rows, columns, {element, Scaling::none}}, {logits, targets});
      expect_close(after[2], losses, Element::fp32, 1e-6, 3e-6);
      expect_close(after[3], gradient, element, 4e-6, 3e-7);
    }
  }
}

// Equal logits: the loss is ln(columns) and the gradient (1/4 - 1)/2 at the target, (1/4)/2 elsewhere, all exact.
TEST_P(Rows, CrossEntropyOfEqualLogitsIsTheLogarithmOfTheirNumber) {
  const std::vector<double> logits = {7, 7, 7, 7, -900, -900, -900, -900};
  const auto after = run_body(GetParam(), CrossEntropy{2, 4, fp32}, {logits, {0, 3}});
  EXPECT_NEAR(after[2][0], std::log(4.0), 2e-7);
  EXPECT_NEAR(after[2][1], std::log(4.0), 2e-7);
  EXPECT_EQ(after[3], (std::vector<double>{-0.375, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, -0.375}));
}

struct Moments {
  double mean = 0;
  double inverse = 0;
};
Moments moments(const std::vector<double>& row, NormKind kind) {
  Moments m;
  const auto n = static_cast<double>(row.size());
  if (kind == NormKind::layer) {
    for (const double value : row) m.mean += value / n;
  }
  double variance = 0;
  for (const double value : row) variance += (value - m.mean) * (value - m.mean) / n;
  m.inverse = 1 / std::sqrt(variance + 1e-5);
  return m;
}

TEST_P(Rows, NormsForward) {
  for (const NormKind kind : {NormKind::rms, NormKind::layer}) {
    for (const Element element : common) {
      for (const auto& [rows, columns] : shapes) {
        SCOPED_TRACE(text(element) + " " + std::to_string(rows) + " x " + std::to_string(columns));
        const std::vector<double> x = typical(element, rows * columns, 24, 2);
        const std::vector<double> weight = typical(element, columns, 25);
        const std::vector<double> bias = typical(element, columns, 26);
        std::vector<double> y, statistics;
        for (std::size_t row = 0; row < unsign(rows); ++row) {
          const std::vector<double> values = row_of(x, row, unsign(columns));
          const Moments m = moments(values, kind);
          statistics.push_back(m.mean);
          statistics.push_back(m.inverse);
          for (std::size_t i = 0; i < values.size(); ++i) {
            y.push_back(weight[i] * (values[i] - m.mean) * m.inverse + (kind == NormKind::layer ? bias[i] : 0));
          }
        }
        const Norm op{kind, Direction::forward, rows, columns, {element, Scaling::none}, false};
        const bool layer = kind == NormKind::layer;
        const auto after = run_body(GetParam(), op, layer ? OperandValues{x, weight, bias} : OperandValues{x, weight});
        // A single column is all mean: what is left of it is rounding, times 1/sqrt(epsilon) = 316.
        const double absolute = columns == 1 ? 1e-3 : 1e-5;
        expect_close(after[layer ? 3 : 2], y, element, 4e-6, absolute);
        expect_close(after[layer ? 4 : 3], statistics, Element::fp32, 4e-6, 1e-6);
      }
    }
  }
}

// Variance by the difference of two sums would be lost: 4096^2 + 1 is 4096^2 in float.
TEST_P(Rows, LayerNormKeepsASmallVarianceBesideALargeMean) {
  std::vector<double> x;
  for (int i = 0; i < 64; ++i) x.push_back(i % 2 == 0 ? 4095 : 4097);
  const auto after = run_body(GetParam(), Norm{NormKind::layer, Direction::forward, 1, 64, fp32, false},
                              {x, std::vector<double>(64, 1.0), std::vector<double>(64, 0.0)});
  EXPECT_EQ(after[4][0], 4096);
  EXPECT_NEAR(after[4][1], 1 / std::sqrt(1 + 1e-5), 2e-7);
  EXPECT_NEAR(after[3][0], -1 / std::sqrt(1 + 1e-5), 2e-7);
}

TEST_P(Rows, NormOfZeroesIsZero) {
  const std::vector<double> zeroes(100, 0.0);
  const std::vector<double> ones(100, 1.0);
  const auto after = run_body(GetParam(), Norm{NormKind::rms, Direction::forward, 1, 100, fp32, false}, {zeroes, ones});
  EXPECT_EQ(after[2], zeroes);
  EXPECT_NEAR(after[3][1], 316.2277660, 1e-4);  // 1 / sqrt(1e-5)
}

struct NormGradientCase {
  NormKind kind;
  bool accumulate;
};

// Gradients of sum(dy y) by the definition of y, as in core/ops/rows.h.
TEST_P(Rows, NormsBackwardWithAndWithoutAResidual) {
  for (const auto& [kind, accumulate] : {NormGradientCase{NormKind::rms, false},
                                         {NormKind::rms, true},
                                         {NormKind::layer, false},
                                         {NormKind::layer, true}}) {
    for (const Element element : common) {
      for (const auto& [rows, columns] : shapes) {
        SCOPED_TRACE(text(element) + " " + std::to_string(rows) + " x " + std::to_string(columns));
        const std::vector<double> dy = typical(element, rows * columns, 27);
        const std::vector<double> x = typical(element, rows * columns, 28, 2);
        const std::vector<double> weight = typical(element, columns, 29);
        const std::vector<double> residual = typical(element, rows * columns, 30);
        std::vector<double> statistics, dx;
        for (std::size_t row = 0; row < unsign(rows); ++row) {
          const std::vector<double> values = row_of(x, row, unsign(columns));
          const Moments exact = moments(values, kind);
          // As stored: the gradient believes the statistics.
          const Moments m{rounded(Element::fp32, exact.mean), rounded(Element::fp32, exact.inverse)};
          statistics.push_back(m.mean);
          statistics.push_back(m.inverse);
          const auto n = static_cast<double>(columns);
          double mean_e = 0, mean_eh = 0;
          for (std::size_t i = 0; i < values.size(); ++i) {
            const double e = weight[i] * dy[row * unsign(columns) + i];
            mean_e += kind == NormKind::layer ? e / n : 0;
            mean_eh += e * (values[i] - m.mean) * m.inverse / n;
          }
          for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t at = row * unsign(columns) + i;
            const double h = (values[i] - m.mean) * m.inverse;
            dx.push_back((weight[i] * dy[at] - mean_e - h * mean_eh) * m.inverse + (accumulate ? residual[at] : 0));
          }
        }
        const Norm op{kind, Direction::backward, rows, columns, {element, Scaling::none}, accumulate};
        OperandValues values = {dy, x, weight, statistics};
        if (accumulate) values.push_back(residual);
        const double absolute = columns == 1 ? 1e-3 : 2e-5;
        expect_close(run_body(GetParam(), op, values)[4], dx, element, 4e-6, absolute);
      }
    }
  }
}

// Up to 1000 rows: more than one block of rows, and a last pass that is not full.
const std::vector<Shape> tall_shapes = {{1, 1}, {2, 33}, {31, 2}, {33, 1000}, {1000, 65}, {4101, 3}};

TEST_P(Rows, GradientsOfNormWeightsGoDownTheColumns) {
  for (const NormKind kind : {NormKind::rms, NormKind::layer}) {
    for (const Element element : common) {
      for (const auto& [rows, columns] : tall_shapes) {
        SCOPED_TRACE(text(element) + " " + std::to_string(rows) + " x " + std::to_string(columns));
        const std::vector<double> dy = typical(element, rows * columns, 31);
        const std::vector<double> x = typical(element, rows * columns, 32, 2);
        const std::vector<double> statistics = typical(Element::fp32, 2 * rows, 33);
        std::vector<double> dweight(unsign(columns)), dbias(unsign(columns)), sizes(unsign(columns));
        for (std::size_t row = 0; row < unsign(rows); ++row) {
          for (std::size_t i = 0; i < unsign(columns); ++i) {
            const std::size_t at = row * unsign(columns) + i;
            const double term = dy[at] * (x[at] - statistics[2 * row]) * statistics[2 * row + 1];
            dweight[i] += term;
            dbias[i] += dy[at];
            sizes[i] += std::abs(term);
          }
        }
        const NormWeights op{kind, rows, columns, {element, Scaling::none}};
        const auto after = run_body(GetParam(), op, {dy, x, statistics});
        const double absolute = 2e-6 * *std::max_element(sizes.begin(), sizes.end());
        expect_close(after[3], dweight, element, 0, absolute);
        if (kind == NormKind::layer) expect_close(after[4], dbias, element, 0, absolute);
      }
    }
  }
}

// Integers: each sum is below 2^24 and exact in float, whatever the order.
TEST_P(Rows, ColumnSumsAreExactOnIntegers) {
  for (const auto& [rows, columns] : tall_shapes) {
    std::vector<double> x;
    std::vector<double> want(unsign(columns));
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      x.push_back(static_cast<double>(i * 7919 % 201 - 100));
      want[unsign(i % columns)] += x.back();
    }
    ASSERT_EQ(run_body(GetParam(), ColumnSum{rows, columns, fp32}, {x})[1], want);
    for (const Element element : {Element::bf16, Element::fp16}) {
      std::vector<double> stored;
      for (const double value : want) stored.push_back(rounded(element, value));
      ASSERT_EQ(run_body(GetParam(), ColumnSum{rows, columns, {element, Scaling::none}}, {x})[1], stored);
    }
  }
}

}  // namespace
}  // namespace assay
