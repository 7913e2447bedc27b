// Conversions of every 8- and 16-bit pattern, against independent readings of the formats.
// SPDX-License-Identifier: Apache-2.0
#include "core/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace assay {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<Element> small_floats() {
  return {Element::bf16,          Element::fp16,          Element::fp8_e4m3, Element::fp8_e5m2,
          Element::fp8_e4m3_fnuz, Element::fp8_e5m2_fnuz, Element::fp4_e2m1};
}

std::uint64_t patterns(Element element) { return std::uint64_t{1} << static_cast<unsigned>(bits(element)); }

// The value of a finite pattern by the textbook formula, with std::ldexp.
double by_formula(Element element, std::uint64_t pattern) {
  const FloatLayout layout = float_layout(element);
  const auto mantissa_bits = static_cast<unsigned>(layout.mantissa_bits);
  const auto exponent_bits = static_cast<unsigned>(layout.exponent_bits);
  const double mantissa = static_cast<double>(pattern & ((1U << mantissa_bits) - 1));
  const auto exponent = static_cast<int>((pattern >> mantissa_bits) & ((1U << exponent_bits) - 1));
  const bool negative = ((pattern >> (mantissa_bits + exponent_bits)) & 1U) != 0;
  const double size = exponent == 0
                          ? std::ldexp(mantissa, 1 - layout.bias - layout.mantissa_bits)
                          : std::ldexp(1 + std::ldexp(mantissa, -layout.mantissa_bits), exponent - layout.bias);
  return negative ? -size : size;
}

TEST(Number, EveryFinitePatternIsWhatTheFormulaSays) {
  for (Element element : small_floats()) {
    for (std::uint64_t pattern = 0; pattern < patterns(element); ++pattern) {
      const double value = decode(element, pattern);
      if (std::isfinite(value)) {
        ASSERT_EQ(value, by_formula(element, pattern)) << text(element) << " " << pattern;
      }
    }
  }
}

TEST(Number, EveryPatternSurvivesThereAndBack) {
  for (Element element : small_floats()) {
    for (std::uint64_t pattern = 0; pattern < patterns(element); ++pattern) {
      const double value = decode(element, pattern);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode(element, encode(element, value)))) << text(element) << " " << pattern;
      } else if (std::isinf(value) && element == Element::fp8_e5m2) {
        EXPECT_EQ(decode(element, encode(element, value)), std::copysign(57344, value));  // saturates
      } else {
        ASSERT_EQ(encode(element, value), pattern) << text(element);
      }
    }
  }
}

TEST(Number, SpecialPatternsAreWhereTheSpecificationsPutThem) {
  EXPECT_TRUE(std::isnan(decode(Element::fp8_e4m3, 0x7F)));
  EXPECT_TRUE(std::isnan(decode(Element::fp8_e4m3, 0xFF)));
  EXPECT_EQ(decode(Element::fp8_e4m3, 0x7E), 448);
  EXPECT_EQ(decode(Element::fp8_e5m2, 0x7C), infinity);
  EXPECT_EQ(decode(Element::fp8_e5m2, 0xFC), -infinity);
  EXPECT_TRUE(std::isnan(decode(Element::fp8_e5m2, 0x7D)));
  EXPECT_TRUE(std::isnan(decode(Element::fp8_e4m3_fnuz, 0x80)));
  EXPECT_TRUE(std::isnan(decode(Element::fp8_e5m2_fnuz, 0x80)));
  EXPECT_EQ(decode(Element::fp8_e4m3_fnuz, 0x7F), 240);
  EXPECT_EQ(decode(Element::fp16, 0x7C00), infinity);
  EXPECT_EQ(decode(Element::bf16, 0xFF80), -infinity);
  EXPECT_TRUE(std::isnan(decode(Element::ue8m0, 0xFF)));
  EXPECT_EQ(decode(Element::ue8m0, 127), 1);
  EXPECT_EQ(decode(Element::ue8m0, 0), std::ldexp(1.0, -127));
}

TEST(Number, RoundsToTheNearerNeighbourAndTiesToEven) {
  for (Element element : small_floats()) {
    const std::uint64_t top = largest_finite_bits(float_layout(element));
    for (std::uint64_t pattern = 0; pattern < top; ++pattern) {
      const double low = decode(element, pattern);
      const double high = decode(element, pattern + 1);
      const double middle = low + (high - low) / 2;  // exact: a double has many more bits
      ASSERT_EQ(encode(element, middle), pattern % 2 == 0 ? pattern : pattern + 1) << text(element) << " " << middle;
      ASSERT_EQ(encode(element, std::nextafter(middle, low)), pattern) << text(element);
      ASSERT_EQ(encode(element, std::nextafter(middle, high)), pattern + 1) << text(element);
    }
  }
}

TEST(Number, OutOfRangeSaturatesInEightAndFourBitsAndIsInfiniteElsewhere) {
  for (Element element : small_floats()) {
    const bool saturates = float_layout(element).saturates;
    for (double value : {1e300, infinity}) {
      EXPECT_EQ(decode(element, encode(element, value)), saturates ? largest(element) : infinity) << text(element);
      EXPECT_EQ(decode(element, encode(element, -value)), saturates ? -largest(element) : -infinity) << text(element);
    }
  }
  // Halfway between the largest fp16 (65504) and the next step (65536) rounds to even, which is infinity.
  EXPECT_EQ(decode(Element::fp16, encode(Element::fp16, 65520)), infinity);
  EXPECT_EQ(decode(Element::fp16, encode(Element::fp16, 65519.99)), 65504);
}

TEST(Number, FnuzHasNoMinusZero) {
  EXPECT_EQ(encode(Element::fp8_e4m3_fnuz, -0.0), 0U);
  EXPECT_EQ(encode(Element::fp8_e5m2_fnuz, -1e-30), 0U);
  EXPECT_EQ(encode(Element::fp8_e4m3, -0.0), 0x80U);
}

TEST(Number, SinglePrecisionIsWhatTheProcessorConverts) {
  std::uint64_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const double value = double_from_bits(state);
    if (std::isnan(value)) continue;
    const auto single = static_cast<float>(value);
    std::uint32_t expected = 0;
    std::memcpy(&expected, &single, sizeof expected);
    ASSERT_EQ(encode(Element::fp32, value), expected) << value;
    ASSERT_EQ(decode(Element::fp32, expected), static_cast<double>(single));
  }
  // Subnormal floats: 3 x 2^-149 and the tie between 1 and 2 steps.
  EXPECT_EQ(encode(Element::fp32, std::ldexp(3.0, -149)), 3U);
  EXPECT_EQ(encode(Element::fp32, std::ldexp(1.5, -149)), 2U);
  EXPECT_EQ(encode(Element::fp32, std::ldexp(1.0, -151)), 0U);
}

TEST(Number, IntegersRoundToEvenClampAndTakeNaNAsZero) {
  EXPECT_EQ(decode(Element::int8, encode(Element::int8, 2.5)), 2);
  EXPECT_EQ(decode(Element::int8, encode(Element::int8, 3.5)), 4);
  EXPECT_EQ(decode(Element::int8, encode(Element::int8, -2.5)), -2);
  EXPECT_EQ(decode(Element::int8, encode(Element::int8, -0.75)), -1);
  EXPECT_EQ(decode(Element::int8, encode(Element::int8, 1000)), 127);
  EXPECT_EQ(decode(Element::int8, encode(Element::int8, -1000)), -128);
  EXPECT_EQ(decode(Element::int8, encode(Element::int8, std::nan(""))), 0);
  EXPECT_EQ(decode(Element::int32, encode(Element::int32, 1e300)), 2147483647);
  EXPECT_EQ(decode(Element::int64, encode(Element::int64, 1e300)), 9223372036854775807.0);
  for (int i = -128; i < 128; ++i) EXPECT_EQ(decode(Element::int8, encode(Element::int8, i)), i);
}

TEST(Number, ScalesRoundUpToAPowerOfTwo) {
  EXPECT_EQ(decode(Element::ue8m0, encode(Element::ue8m0, 1.0)), 1);
  EXPECT_EQ(decode(Element::ue8m0, encode(Element::ue8m0, 1.01)), 2);
  EXPECT_EQ(decode(Element::ue8m0, encode(Element::ue8m0, 0.0)), std::ldexp(1.0, -127));
  EXPECT_TRUE(std::isnan(decode(Element::ue8m0, encode(Element::ue8m0, -1.0))));
}

TEST(Number, Tf32ProductsKeepTenMantissaBitsAndMemoryKeepsTwentyThree) {
  const double value = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -20);
  EXPECT_EQ(rounded(Element::tf32, value), 1 + std::ldexp(1.0, -10));
  EXPECT_EQ(decode(Element::tf32, encode(Element::tf32, value)), value);
}

}  // namespace
}  // namespace assay
