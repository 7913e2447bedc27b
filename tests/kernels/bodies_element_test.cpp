// Streams, pointwise ops, casts and AdamW by every team, against plain FP64.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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
// One, less than a vector, around one, and enough for several threads with a tail.
const std::vector<std::int64_t> counts = {1, 2, 31, 33, 1000, 20011};

class Bodies : public testing::TestWithParam<Runner> {};
INSTANTIATE_TEST_SUITE_P(All, Bodies, testing::ValuesIn(runners()));

double gelu(double x) {
  const double pi = 3.14159265358979323846;
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
}
double silu(double x) { return x / (1 + std::exp(-x)); }
// The slope of f, by the five-point formula: an error of about 1e-12 for these functions.
template <class Function>
double slope(Function f, double x) {
  const double h = 1e-3;
  return (f(x - 2 * h) - 8 * f(x - h) + 8 * f(x + h) - f(x + 2 * h)) / (12 * h);
}

TEST_P(Bodies, StreamsGiveExactlyWhatTheirFormulaGivesOnSmallIntegers) {
  for (const Element element : {Element::fp64, Element::fp32, Element::bf16, Element::fp16}) {
    for (const Store store : {Store::plain, Store::nontemporal}) {
      for (const std::int64_t count : counts) {
        std::vector<double> x, y, copied, scaled, sum, triad, threes;
        double total = 0;
        for (std::int64_t i = 0; i < count; ++i) {  // all results are below 256: exact in bf16
          x.push_back(static_cast<double>(i % 61 - 30));
          y.push_back(static_cast<double>(i % 37 - 18));
          copied.push_back(x.back());
          scaled.push_back(3 * x.back());
          sum.push_back(x.back() + y.back());
          triad.push_back(x.back() + 3 * y.back());
          threes.push_back(3);
          total += x.back();
        }
        const auto run = [&](StreamKind kind, const OperandValues& values) {
          return run_body(GetParam(), Stream{kind, count, {element, Scaling::none}, store}, values).back();
        };
        SCOPED_TRACE(text(element) + " " + std::to_string(count));
        ASSERT_EQ(run(StreamKind::copy, {x}), copied);
        ASSERT_EQ(run(StreamKind::scale, {x}), scaled);
        ASSERT_EQ(run(StreamKind::add, {x, y}), sum);
        ASSERT_EQ(run(StreamKind::triad, {x, y}), triad);
        ASSERT_EQ(run(StreamKind::write, {}), threes);
        ASSERT_EQ(run(StreamKind::read, {x}), std::vector<double>{total});
      }
    }
  }
}

// 2^24 + 2^20 ones: a float that counts one by one stops at 2^24.
TEST(ReadingALongStream, LosesNothing) {
  const std::int64_t count = (1 << 24) + (1 << 20);
  const std::vector<double> ones(static_cast<std::size_t>(count), 1.0);
  const auto after = run_body(runners().back(), Stream{StreamKind::read, count, fp32, Store::plain}, {ones});
  EXPECT_EQ(after[1][0], static_cast<double>(count));
}

// From -40 to 40 in steps of 1/8, held exactly by each format within its range, and the special numbers.
std::vector<double> pointwise_inputs(Element element) {
  std::vector<double> x = {0.0, -0.0, infinity, nan, 1e-6, -1e-6, 3e4, -3e4};
  for (int i = -320; i <= 320; ++i) x.push_back(i / 8.0);
  for (double& value : x) value = rounded(element, value);
  const std::vector<double> more = typical(element, 19001, 3, 2);
  x.insert(x.end(), more.begin(), more.end());
  return x;
}

TEST_P(Bodies, GeluAndItsGradientFollowTheTanhForm) {
  for (const Element element : common) {
    SCOPED_TRACE(text(element));
    const std::vector<double> x = pointwise_inputs(element);
    const auto count = static_cast<std::int64_t>(x.size());
    const std::vector<double> dy = typical(element, count, 4);
    std::vector<double> y, dx;
    for (std::size_t i = 0; i < x.size(); ++i) {
      // At infinity the formulas have infinity times 0; the limits are x and dy.
      y.push_back(std::isinf(x[i]) ? x[i] : gelu(x[i]));
      dx.push_back(std::isinf(x[i]) ? dy[i] : dy[i] * slope(gelu, x[i]));
    }
    const Format format{element, Scaling::none};
    expect_close(run_body(GetParam(), Pointwise{PointwiseKind::gelu, 1, count, format}, {x})[1], y, element, 1e-6,
                 1e-6);
    expect_close(run_body(GetParam(), Pointwise{PointwiseKind::gelu_backward, 1, count, format}, {dy, x})[2], dx,
                 element, 2e-6, 5e-6);
  }
}

TEST_P(Bodies, GeluOfHugeNumbersIsTheNumberOrZero) {
  const std::vector<double> x = {1e20, -1e20, 3e38, -3e38};
  const std::vector<double> dy = {2, 2, 2, 2};
  std::vector<double> rounded_x;
  for (const double value : x) rounded_x.push_back(rounded(Element::fp32, value));
  const auto y = run_body(GetParam(), Pointwise{PointwiseKind::gelu, 1, 4, fp32}, {rounded_x})[1];
  EXPECT_EQ(y, (std::vector<double>{rounded_x[0], 0, rounded_x[2], 0}));
  const auto dx = run_body(GetParam(), Pointwise{PointwiseKind::gelu_backward, 1, 4, fp32}, {dy, rounded_x})[2];
  EXPECT_EQ(dx, (std::vector<double>{2, 0, 2, 0}));
}

TEST_P(Bodies, SwigluAndItsGradientsTakeGateAndUpFromEachRow) {
  for (const Element element : common) {
    for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 33}, {1, 1000}, {31, 2}, {7, 2003}}) {
      SCOPED_TRACE(text(element) + " " + std::to_string(rows) + " x " + std::to_string(columns));
      const std::vector<double> gate_up = typical(element, 2LL * rows * columns, 5, 3);
      const std::vector<double> dy = typical(element, 1LL * rows * columns, 6);
      std::vector<double> y;
      std::vector<double> gradient(gate_up.size());
      for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(columns); ++i) {
          const std::size_t gate_at = row * 2 * static_cast<std::size_t>(columns) + i;
          const std::size_t up_at = gate_at + static_cast<std::size_t>(columns);
          const double d = dy[row * static_cast<std::size_t>(columns) + i];
          y.push_back(silu(gate_up[gate_at]) * gate_up[up_at]);
          gradient[gate_at] = d * gate_up[up_at] * slope(silu, gate_up[gate_at]);
          gradient[up_at] = d * silu(gate_up[gate_at]);
        }
      }
      const Format format{element, Scaling::none};
      expect_close(run_body(GetParam(), Pointwise{PointwiseKind::swiglu, rows, columns, format}, {gate_up})[1], y,
                   element, 1e-6, 1e-6);
      expect_close(
          run_body(GetParam(), Pointwise{PointwiseKind::swiglu_backward, rows, columns, format}, {dy, gate_up})[2],
          gradient, element, 2e-6, 1e-5);
    }
  }
}

TEST_P(Bodies, AddIsOneRounding) {
  for (const Element element : common) {
    for (const std::int64_t count : counts) {
      const std::vector<double> a = typical(element, count, 7);
      const std::vector<double> b = typical(element, count, 8, 100);
      std::vector<double> want;
      // Two floats are added exactly in a double, so this rounds once; bf16 and fp16 sums pass through fp32 first.
      for (std::size_t i = 0; i < a.size(); ++i) {
        want.push_back(rounded(element, rounded(Element::fp32, a[i] + b[i])));
      }
      const Pointwise op{PointwiseKind::add, 1, count, {element, Scaling::none}};
      ASSERT_EQ(run_body(GetParam(), op, {a, b})[2], want) << text(element) << " " << count;
    }
  }
}

const std::vector<Element> castable = {Element::fp32,          Element::bf16,     Element::fp16,
                                       Element::fp8_e4m3,      Element::fp8_e5m2, Element::fp8_e4m3_fnuz,
                                       Element::fp8_e5m2_fnuz, Element::int8};

bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || a == b; }

// Numbers of all sizes and the special ones, as far as the element holds them.
std::vector<double> cast_inputs(Element element) {
  std::vector<double> x = {0.0, -0.0, infinity, -infinity, nan,   448,   464,   465,
                           240, 248,  57344,    65504,     65520, 127.5, -128.5};
  for (int power = -30; power <= 18; ++power) {
    for (const double mantissa : {1.0, 1.0625, 1.125, 1.1875, 1.25, 1.5, 1.75, 1.9375, 1.999}) {
      x.push_back(std::ldexp(mantissa, power));
      x.push_back(-std::ldexp(mantissa, power));
    }
  }
  for (double& value : x) value = rounded(element, value);
  const std::vector<double> more = typical(element, 5003, 9, 50);
  x.insert(x.end(), more.begin(), more.end());
  return x;
}

TEST_P(Bodies, CastsRoundAsTheCoreEncodes) {
  for (const Element from : castable) {
    const std::vector<double> x = cast_inputs(from);
    const auto count = static_cast<std::int64_t>(x.size());
    for (const Element to : castable) {
      const Cast op{count, {from, Scaling::none}, {to, Scaling::none}};
      const auto y = run_body(GetParam(), op, {x})[1];
      for (std::size_t i = 0; i < x.size(); ++i) {
        ASSERT_TRUE(same(y[i], rounded(to, x[i])))
            << x[i] << " from " << text(from) << " to " << text(to) << " became " << y[i];
      }
    }
  }
}

// A scale of 4 is exact; so is what comes of it, whether it is divided or multiplied by 1/4.
TEST_P(Bodies, ScaledCastsDivideByTheScale) {
  for (const Element to : {Element::fp8_e4m3, Element::fp8_e5m2, Element::int8}) {
    const std::vector<double> x = cast_inputs(Element::fp32);
    const auto count = static_cast<std::int64_t>(x.size());
    const auto y = run_body(GetParam(), Cast{count, fp32, {to, Scaling::tensor}}, {x, {4.0}})[2];
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(same(y[i], rounded(to, x[i] / 4))) << x[i] << " to " << text(to) << " became " << y[i];
    }
  }
}

struct AdamNumbers {
  double rate = 1e-3, first_correction = 0.271, second_correction = 0.1426, scale = 0.5, skip = 0;
  std::vector<double> scalars() const {
    std::vector<double> all = {rate, first_correction, second_correction, scale, skip, nan, nan, nan};
    for (double& value : all) value = rounded(Element::fp32, value);
    return all;
  }
};

// The formula of core/ops/pointwise.h. beta1^3 = 0.729 and beta2^3 = 0.857375 give the corrections above for t = 3.
TEST_P(Bodies, AdamwTakesOneStep) {
  for (const Element gradient : common) {
    for (const Element weight : common) {
      for (const std::int64_t count : {1, 33, 20011}) {
        SCOPED_TRACE(text(gradient) + " " + text(weight) + " " + std::to_string(count));
        const AdamNumbers numbers;
        const std::vector<double> s = numbers.scalars();
        const std::vector<double> g = typical(gradient, count, 10);
        const std::vector<double> master = typical(Element::fp32, count, 11);
        const std::vector<double> first = typical(Element::fp32, count, 12);
        std::vector<double> second = typical(Element::fp32, count, 13);
        for (double& value : second) value = std::abs(value);
        std::vector<double> want_master, want_first, want_second;
        for (std::size_t i = 0; i < g.size(); ++i) {
          const double scaled = g[i] * s[3];
          want_first.push_back(0.9 * first[i] + 0.1 * scaled);
          want_second.push_back(0.95 * second[i] + 0.05 * scaled * scaled);
          const double direction = want_first[i] / s[1] / (std::sqrt(want_second[i] / s[2]) + 1e-8);
          want_master.push_back(master[i] - s[0] * (direction + 0.1 * master[i]));
        }
        const auto after = run_body(GetParam(), AdamW{count, {weight, Scaling::none}, {gradient, Scaling::none}},
                                    {s, g, master, first, second});
        expect_close(after[2], want_master, Element::fp32, 1e-6, 1e-6);
        expect_close(after[3], want_first, Element::fp32, 2e-7, 5e-7);
        expect_close(after[4], want_second, Element::fp32, 1e-6, 0);
        if (weight != Element::fp32) {
          for (std::size_t i = 0; i < g.size(); ++i) ASSERT_EQ(after[5][i], rounded(weight, after[2][i]));
        }
      }
    }
  }
}

TEST_P(Bodies, AdamwThatIsSkippedChangesNothingAndStillWritesTheWeight) {
  AdamNumbers numbers;
  numbers.skip = 1;
  const std::vector<double> master = typical(Element::fp32, 100, 11);
  const std::vector<double> first = typical(Element::fp32, 100, 12);
  const std::vector<double> second(100, 0.25);
  const std::vector<double> overflowed(100, infinity);  // why a step is skipped
  const auto after = run_body(GetParam(), AdamW{100, {Element::bf16, Scaling::none}, fp32},
                              {numbers.scalars(), overflowed, master, first, second});
  EXPECT_EQ(after[2], master);
  EXPECT_EQ(after[3], first);
  EXPECT_EQ(after[4], second);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(after[5][i], rounded(Element::bf16, master[i]));
}

}  // namespace
}  // namespace assay
