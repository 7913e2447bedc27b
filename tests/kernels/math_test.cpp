// The bodies' own exponential and friends against the C library in double precision, by dense sweeps.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay::bodies {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// Calls f for floats from `low` to `high` of one sign, about a million of them, evenly spread over the bit patterns.
template <class Function>
void sweep(float low, float high, Function f) {
  const std::uint32_t first = bits_of(std::abs(low) < std::abs(high) ? low : high);
  const std::uint32_t last = bits_of(std::abs(low) < std::abs(high) ? high : low);
  const std::uint32_t step = (last - first) / 1000003 + 1;
  for (std::uint64_t bits = first; bits <= last; bits += step) f(float_of(static_cast<std::uint32_t>(bits)));
}

template <class Own, class Library>
void expect_relative(float low, float high, double bound, Own own, Library library) {
  sweep(low, high, [&](float x) {
    const double want = library(static_cast<double>(x));
    ASSERT_LE(std::abs(static_cast<double>(own(x)) - want), bound * std::abs(want)) << "at " << x;
  });
}

double sigmoid_in_double(double x) { return 1 / (1 + std::exp(-x)); }

TEST(Math, ExponentialIsWithinItsBound) {
  const auto library = [](double x) { return std::exp(x); };
  expect_relative(0.0f, 88.37f, 2.5e-7, exponential, library);
  expect_relative(-0.0f, -87.3f, 2.5e-7, exponential, library);
}

TEST(Math, ExponentialHasLimits) {
  EXPECT_EQ(exponential(0.0f), 1.0f);
  EXPECT_EQ(exponential(infinity), infinity);
  EXPECT_EQ(exponential(88.8f), infinity);
  EXPECT_EQ(exponential(-87.7f), 0.0f);
  EXPECT_EQ(exponential(3e38f), infinity);
  EXPECT_EQ(exponential(-infinity), 0.0f);
  EXPECT_EQ(exponential(-3e38f), 0.0f);
  EXPECT_TRUE(std::isnan(exponential(nan)));
  sweep(-87.3f, -200.0f, [](float x) {
    ASSERT_NEAR(static_cast<double>(exponential(x)), std::exp(static_cast<double>(x)), 2e-38) << "at " << x;
  });
}

TEST(Math, PowerOfTwoIsWithinItsBoundAndHasLimits) {
  const auto library = [](double x) { return std::exp2(x); };
  expect_relative(0.0f, 127.5f, 2e-7, power_of_two, library);
  expect_relative(-0.0f, -126.0f, 2e-7, power_of_two, library);
  for (int whole = -126; whole < 128; ++whole)
    EXPECT_EQ(power_of_two(static_cast<float>(whole)), std::ldexp(1.0f, whole));
  EXPECT_EQ(power_of_two(128.0f), infinity);
  EXPECT_EQ(power_of_two(infinity), infinity);
  EXPECT_EQ(power_of_two(-127.5f), 0.0f);
  EXPECT_EQ(power_of_two(-infinity), 0.0f);
  EXPECT_TRUE(std::isnan(power_of_two(nan)));
  sweep(-126.0f, -200.0f, [](float x) {
    ASSERT_NEAR(static_cast<double>(power_of_two(x)), std::exp2(static_cast<double>(x)), 2e-38) << "at " << x;
  });
}

TEST(Math, SigmoidIsWithinItsBound) {
  expect_relative(0.0f, infinity, 3.5e-7, sigmoid, sigmoid_in_double);
  expect_relative(-0.0f, -87.3f, 3.5e-7, sigmoid, sigmoid_in_double);
  sweep(-87.3f, -infinity, [](float x) { ASSERT_LE(sigmoid(x), 2e-38f) << "at " << x; });
  EXPECT_TRUE(std::isnan(sigmoid(nan)));
}

TEST(Math, HyperbolicTangentIsWithinItsBound) {
  const auto library = [](double x) { return std::tanh(x); };
  expect_relative(0.0f, infinity, 3e-7, hyperbolic_tangent, library);
  expect_relative(-0.0f, -infinity, 3e-7, hyperbolic_tangent, library);
  EXPECT_TRUE(std::isnan(hyperbolic_tangent(nan)));
}

TEST(Math, LogarithmIsWithinItsBound) {
  const auto library = [](double x) { return std::log(x); };
  expect_relative(std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max(), 2e-7, logarithm,
                  library);
  expect_relative(0.7f, 1.5f, 2e-7, logarithm, library);  // dense about 1, where it passes through 0
}

TEST(Math, LogarithmHasLimits) {
  EXPECT_EQ(logarithm(1.0f), 0.0f);
  EXPECT_EQ(logarithm(0.0f), -infinity);
  EXPECT_EQ(logarithm(-0.0f), -infinity);
  EXPECT_EQ(logarithm(infinity), infinity);
  EXPECT_TRUE(std::isnan(logarithm(-1.0f)));
  EXPECT_TRUE(std::isnan(logarithm(-infinity)));
  EXPECT_TRUE(std::isnan(logarithm(nan)));
}

TEST(Math, ReciprocalRootIsWithinItsBound) {
  expect_relative(std::numeric_limits<float>::min(), std::numeric_limits<float>::max(), 1.2e-7, reciprocal_root,
                  [](double x) { return 1 / std::sqrt(x); });
  EXPECT_EQ(reciprocal_root(4.0f), 0.5f);
  EXPECT_EQ(reciprocal_root(0.0f), infinity);
  EXPECT_EQ(reciprocal_root(infinity), 0.0f);
  EXPECT_TRUE(std::isnan(reciprocal_root(-1.0f)));
}

}  // namespace
}  // namespace assay::bodies
