// Bit patterns to numbers and back, the same on host and device: nearest-even, saturation where GPUs saturate, NaN
// kept. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "core/format.h"
#include "core/portable.h"

namespace assay {

// The layout of a floating-point element: sign, exponent, mantissa, from the highest bit down.
struct FloatLayout {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool infinity;   // the highest exponent is kept for infinities and NaNs, as in IEEE 754
  bool nan_alone;  // FNUZ: the only special pattern is NaN, where minus zero would be
  bool has_nan;
  bool saturates;  // out-of-range values, infinities too, become the largest finite one
};

// For the floating-point elements; ue8m0 and the integers have none and get fp32's. tf32 is kept in memory as fp32.
PORTABLE constexpr FloatLayout float_layout(Element element) {
  switch (element) {
    case Element::fp64:
      return {11, 52, 1023, true, false, true, false};
    case Element::bf16:
      return {8, 7, 127, true, false, true, false};
    case Element::fp16:
      return {5, 10, 15, true, false, true, false};
    case Element::fp8_e4m3:
      return {4, 3, 7, false, false, true, true};
    case Element::fp8_e5m2:
      return {5, 2, 15, true, false, true, true};
    case Element::fp8_e4m3_fnuz:
      return {4, 3, 8, false, true, true, true};
    case Element::fp8_e5m2_fnuz:
      return {5, 2, 16, false, true, true, true};
    case Element::fp4_e2m1:
      return {2, 1, 1, false, false, false, true};
    case Element::fp32:
    case Element::tf32:
    case Element::int8:
    case Element::int32:
    case Element::int64:
    case Element::ue8m0:
      break;
  }
  return {8, 23, 127, true, false, true, false};
}

PORTABLE inline std::uint64_t double_bits(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

PORTABLE inline double double_from_bits(std::uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// 2^exponent for exponents a double holds as a normal number.
PORTABLE inline double power_of_two(int exponent) {
  return double_from_bits(static_cast<std::uint64_t>(exponent + 1023) << 52U);
}

// The largest pattern that is a finite number, sign apart.
PORTABLE constexpr std::uint64_t largest_finite_bits(FloatLayout layout) {
  const std::uint64_t all =
      (std::uint64_t{1} << static_cast<unsigned>(layout.exponent_bits + layout.mantissa_bits)) - 1;
  if (layout.infinity) return all - (std::uint64_t{1} << static_cast<unsigned>(layout.mantissa_bits));
  if (layout.nan_alone || !layout.has_nan) return all;
  return all - 1;  // OCP E4M3: all ones is NaN
}

// Shifts right by `shift` (1 to 63), rounding to nearest, ties to even.
PORTABLE inline std::uint64_t shift_right_nearest_even(std::uint64_t value, int shift) {
  if (shift > 63) return 0;
  const auto by = static_cast<unsigned>(shift);
  const std::uint64_t kept = value >> by;
  const std::uint64_t rest = value & ((std::uint64_t{1} << by) - 1);
  const std::uint64_t half = std::uint64_t{1} << (by - 1);
  return kept + ((rest > half || (rest == half && (kept & 1U) != 0)) ? 1 : 0);
}

PORTABLE inline std::uint64_t encode_float(FloatLayout layout, double value) {
  const std::uint64_t source = double_bits(value);
  const auto magnitude_bits = static_cast<unsigned>(layout.exponent_bits + layout.mantissa_bits);
  const std::uint64_t sign = (source >> 63U) << magnitude_bits;
  const auto exponent = static_cast<int>((source >> 52U) & 0x7FFU);
  const std::uint64_t fraction = source & 0xFFFFFFFFFFFFFU;
  const std::uint64_t top = largest_finite_bits(layout);

  if (exponent == 0x7FF && fraction != 0) {
    if (layout.nan_alone) return std::uint64_t{1} << magnitude_bits;
    if (!layout.has_nan) return top;  // E2M1 has no NaN; GPUs give the largest number
    if (!layout.infinity) return sign | (top + 1);
    // A quiet NaN: the highest mantissa bit.
    const std::uint64_t quiet = std::uint64_t{1} << static_cast<unsigned>(layout.mantissa_bits - 1);
    return sign | ((top + 1) | quiet);
  }
  std::uint64_t rounded = 0;
  if (exponent == 0x7FF) {
    rounded = top + 1;
  } else if (exponent != 0) {  // a double's subnormals are far below every other element's; fp64 takes its own way
    const std::uint64_t significand = fraction | (std::uint64_t{1} << 52U);
    const int target = exponent - 1023 + layout.bias;  // biased exponent in the element
    const int shift = 52 - layout.mantissa_bits + (target < 1 ? 1 - target : 0);
    const std::uint64_t mantissa = shift_right_nearest_even(significand, shift);
    // A carry out of the mantissa moves into the exponent by itself; subnormals have exponent field 0.
    rounded = target < 1
                  ? mantissa
                  : (static_cast<std::uint64_t>(target - 1) << static_cast<unsigned>(layout.mantissa_bits)) + mantissa;
  }
  if (rounded > top) rounded = layout.saturates ? top : top + 1;
  if (layout.nan_alone && rounded == 0) return 0;  // no minus zero
  return sign | rounded;
}

PORTABLE inline double decode_float(FloatLayout layout, std::uint64_t bits) {
  const auto magnitude_bits = static_cast<unsigned>(layout.exponent_bits + layout.mantissa_bits);
  const std::uint64_t magnitude = bits & ((std::uint64_t{1} << magnitude_bits) - 1);
  const bool negative = ((bits >> magnitude_bits) & 1U) != 0;
  const std::uint64_t sign = negative ? std::uint64_t{1} << 63U : 0;
  const std::uint64_t top = largest_finite_bits(layout);
  if (layout.nan_alone && negative && magnitude == 0) return double_from_bits(0x7FF8000000000000U);
  if (magnitude > top) {
    const bool infinite = layout.infinity && magnitude == top + 1;
    return double_from_bits(sign | (infinite ? 0x7FF0000000000000U : 0x7FF8000000000000U));
  }
  const std::uint64_t exponent = magnitude >> static_cast<unsigned>(layout.mantissa_bits);
  const std::uint64_t mantissa = magnitude & ((std::uint64_t{1} << static_cast<unsigned>(layout.mantissa_bits)) - 1);
  const double whole = static_cast<double>(
      mantissa + (exponent != 0 ? std::uint64_t{1} << static_cast<unsigned>(layout.mantissa_bits) : 0));
  const int scale = (exponent != 0 ? static_cast<int>(exponent) : 1) - layout.bias - layout.mantissa_bits;
  const double value = whole * power_of_two(scale);
  return negative ? -value : value;
}

// Nearest-even and clamped; NaN is 0.
PORTABLE inline std::int64_t encode_integer(double value, double lowest, double highest, std::int64_t lowest_integer,
                                            std::int64_t highest_integer) {
  if (value != value) return 0;
  if (value <= lowest) return lowest_integer;
  if (value >= highest) return highest_integer;
  const bool whole_already = value >= 4503599627370496.0 || value <= -4503599627370496.0;  // 2^52
  if (whole_already) return static_cast<std::int64_t>(value);
  auto below = static_cast<std::int64_t>(value);
  if (static_cast<double>(below) > value) --below;  // the cast truncates towards zero
  const double rest = value - static_cast<double>(below);
  if (rest > 0.5 || (rest == 0.5 && (below & 1) != 0)) ++below;
  return below;
}

// Rounds `value` to the element and returns its bits in the low end of the word. Out-of-range values become infinity in
// fp64, fp32, tf32, bf16 and fp16, and the largest finite value (infinities too) in the 8- and 4-bit elements. Integers
// round to nearest even and clamp; NaN becomes 0 for them, and the largest number for E2M1, which has no NaN. ue8m0
// rounds up to a power of two, so that what it scales cannot overflow.
PORTABLE inline std::uint64_t encode(Element element, double value) {
  switch (element) {
    case Element::fp64:
      return double_bits(value);
    case Element::int8:
      return static_cast<std::uint64_t>(encode_integer(value, -128, 127, -128, 127)) & 0xFFU;
    case Element::int32:
      return static_cast<std::uint64_t>(
                 encode_integer(value, -2147483648.0, 2147483647.0, -2147483648LL, 2147483647LL)) &
             0xFFFFFFFFU;
    case Element::int64:
      return static_cast<std::uint64_t>(
          encode_integer(value, -9223372036854775808.0, 9223372036854775808.0, INT64_MIN, INT64_MAX));
    case Element::ue8m0: {
      if (!(value >= 0)) return 0xFF;  // negative or NaN
      const std::uint64_t bits = double_bits(value);
      const int exponent = static_cast<int>(bits >> 52U) - 1023 + ((bits & 0xFFFFFFFFFFFFFU) != 0 ? 1 : 0);
      if (exponent < -127) return 0;
      if (exponent > 127) return 0xFE;
      return static_cast<std::uint64_t>(exponent + 127);
    }
    case Element::fp32:
    case Element::tf32:
    case Element::bf16:
    case Element::fp16:
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::fp4_e2m1:
      break;
  }
  return encode_float(float_layout(element), value);
}

// The number that the bits stand for, exactly (int64 beyond 2^53 is rounded to a double).
PORTABLE inline double decode(Element element, std::uint64_t bits) {
  switch (element) {
    case Element::fp64:
      return double_from_bits(bits);
    case Element::int8:
      return static_cast<double>(static_cast<std::int8_t>(bits & 0xFFU));
    case Element::int32:
      return static_cast<double>(static_cast<std::int32_t>(bits & 0xFFFFFFFFU));
    case Element::int64:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    case Element::ue8m0:
      return bits == 0xFF ? double_from_bits(0x7FF8000000000000U) : power_of_two(static_cast<int>(bits & 0xFFU) - 127);
    case Element::fp32:
    case Element::tf32:
    case Element::bf16:
    case Element::fp16:
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::fp4_e2m1:
      break;
  }
  return decode_float(float_layout(element), bits);
}

// What keeping `value` in the element makes of it. tf32 here is the product's own precision, 10 mantissa bits, not what
// memory holds.
PORTABLE inline double rounded(Element element, double value) {
  if (element == Element::tf32) {
    constexpr FloatLayout tf32{8, 10, 127, true, false, true, false};
    return decode_float(tf32, encode_float(tf32, value));
  }
  return decode(element, encode(element, value));
}

}  // namespace assay
