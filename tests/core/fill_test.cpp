// What tensors are filled with: distribution, bounds and bit-exact reproducibility.
// SPDX-License-Identifier: Apache-2.0
#include "core/fill.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "core/number.h"

namespace assay {
namespace {

TEST(Fill, NamesReadBack) {
  for (Pattern pattern :
       {Pattern::exact, Pattern::typical, Pattern::integer, Pattern::constant, Pattern::probe, Pattern::zero}) {
    EXPECT_EQ(parse_pattern(text(pattern)), pattern);
  }
  EXPECT_EQ(parse_pattern("random"), std::nullopt);
}

TEST(Fill, ExactValuesAreAllTheIntegersWithinTheMagnitudeAboutEquallyOften) {
  std::map<double, int> seen;
  for (std::int64_t i = 0; i < 70000; ++i) ++seen[fill_value(Pattern::exact, 5, i, 3)];
  ASSERT_EQ(seen.size(), 7U);  // -3 .. 3
  for (const auto& [value, count] : seen) {
    EXPECT_EQ(value, std::round(value));
    EXPECT_LE(std::abs(value), 3);
    EXPECT_NEAR(count, 10000, 500);  // five standard deviations of a binomial: sqrt(70000 * 1/7 * 6/7) = 93
  }
}

TEST(Fill, TypicalValuesHaveMeanZeroDeviationOneAndFullMantissas) {
  double sum = 0;
  double squares = 0;
  constexpr int count = 200000;
  std::set<std::uint64_t> low_bits;
  for (int i = 0; i < count; ++i) {
    const double value = fill_value(Pattern::typical, 7, i, 1);
    ASSERT_LE(std::abs(value), 3.4642);  // 2 / sqrt(4 / 12)
    sum += value;
    squares += value * value;
    low_bits.insert(encode(Element::fp32, value) & 0xFFU);
  }
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));            // five standard errors
  EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(1.7 / count));  // variance of x^2 is kurtosis 2.7 - 1
  EXPECT_EQ(low_bits.size(), 256U);                             // every low byte of the mantissa occurs
}

TEST(Fill, TypicalValuesScaleWithTheMagnitude) {
  EXPECT_EQ(fill_value(Pattern::typical, 7, 11, 0.5), 0.5 * fill_value(Pattern::typical, 7, 11, 1));
}

TEST(Fill, SeedsAndIndicesGiveDifferentValues) {
  std::set<double> values;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (std::int64_t i = 0; i < 200; ++i) values.insert(fill_value(Pattern::typical, seed, i, 1));
  }
  EXPECT_EQ(values.size(), 10000U);
}

// SplitMix64 (Steele, Lea, Flood 2014) started at 0 gives 0xE220A8397B1DCDAF first, as published; mix(0, 0) is that.
TEST(Fill, MixesAsSplitMixDoes) { EXPECT_EQ(mix(0, 0), 0xE220A8397B1DCDAFU); }

// Cut or rounded to the mantissa of a shorter format, a probe value always gets smaller, by the bits that are always
// set (2^-5, 2^-9, 2^-12 and 2^-25 of the leading power of two) at least.
TEST(Fill, ProbeValuesShrinkInEveryShorterFormat) {
  int large = 0;
  for (std::int64_t i = 0; i < 64000; ++i) {
    const double value = fill_value(Pattern::probe, 3, i, 1);
    const bool is_large = value >= 1;
    const double unit = is_large ? 1 : 0.015625;  // 1 or 2^-6
    ASSERT_GE(value, unit);
    ASSERT_LT(value, 2 * unit);
    ASSERT_GE(value - rounded(Element::fp32, value), std::ldexp(unit, -25));
    ASSERT_GE(value - rounded(Element::tf32, value), std::ldexp(unit, -12));
    ASSERT_GE(value - rounded(Element::fp16, value), std::ldexp(unit, -12));
    ASSERT_GE(value - rounded(Element::bf16, value), std::ldexp(unit, -9));
    ASSERT_GE(value - rounded(Element::fp8_e4m3, value), std::ldexp(unit, -5));
    large += is_large ? 1 : 0;
  }
  EXPECT_NEAR(large, 1000, 160);  // one in 64; five standard deviations of a binomial: sqrt(64000 / 64 * 63 / 64) = 31
}

TEST(Fill, ConstantAndZeroAreWhatTheySay) {
  EXPECT_EQ(fill_value(Pattern::constant, 1, 2, 0.25), 0.25);
  EXPECT_EQ(fill_value(Pattern::zero, 1, 2, 0.25), 0);
}

}  // namespace
}  // namespace assay
