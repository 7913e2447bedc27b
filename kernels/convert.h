// Narrow number formats as stored, and branch-free ways from them to float and back that a compiler can vectorise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/portable.h"

// Everything in the bodies' headers is `static` or a template over such types: each of the object files that are
// compiled for different instruction sets keeps its own copy, and the linker can never swap one for another.
namespace assay::bodies {

struct Bf16 {
  std::uint16_t bits;
};
struct Fp16 {
  std::uint16_t bits;
};
struct Fp8E4m3 {
  std::uint8_t bits;
};
struct Fp8E5m2 {
  std::uint8_t bits;
};
struct Fp8E4m3Fnuz {
  std::uint8_t bits;
};
struct Fp8E5m2Fnuz {
  std::uint8_t bits;
};
struct Int8 {
  std::int8_t value;
};

static inline PORTABLE std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline PORTABLE float float_of(std::uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// What a format does at its upper end.
enum class Top : std::uint8_t {
  infinity,        // fp16: overflow is infinite
  saturating,      // e5m2: has infinities, but a conversion stops at the largest finite value
  not_a_number,    // e4m3: the last code is NaN, saturating
  minus_zero_nan,  // FNUZ: the code of -0 is NaN, every other is finite, saturating
};

template <class Storage>
struct Layout;  // exponent and mantissa bits, exponent bias, and the top
template <>
struct Layout<Fp16> {
  static constexpr int exponent = 5, mantissa = 10, bias = 15;
  static constexpr Top top = Top::infinity;
};
template <>
struct Layout<Fp8E4m3> {
  static constexpr int exponent = 4, mantissa = 3, bias = 7;
  static constexpr Top top = Top::not_a_number;
};
template <>
struct Layout<Fp8E5m2> {
  static constexpr int exponent = 5, mantissa = 2, bias = 15;
  static constexpr Top top = Top::saturating;
};
template <>
struct Layout<Fp8E4m3Fnuz> {
  static constexpr int exponent = 4, mantissa = 3, bias = 8;
  static constexpr Top top = Top::minus_zero_nan;
};
template <>
struct Layout<Fp8E5m2Fnuz> {
  static constexpr int exponent = 5, mantissa = 2, bias = 16;
  static constexpr Top top = Top::minus_zero_nan;
};

// 2^power, for powers of normal numbers.
static constexpr PORTABLE std::uint32_t bits_of_power(int power) {
  return static_cast<std::uint32_t>(127 + power) << 23;
}

template <class Storage>
static inline PORTABLE float widen(std::uint32_t stored) {
  using L = Layout<Storage>;
  constexpr int digits = L::exponent + L::mantissa;
  constexpr std::uint32_t magnitude_mask = (1u << digits) - 1;
  const std::uint32_t magnitude = stored & magnitude_mask;
  const std::uint32_t sign = (stored >> digits) << 31;
  const std::uint32_t normal = (magnitude << (23 - L::mantissa)) + (static_cast<std::uint32_t>(127 - L::bias) << 23);
  // Below the smallest normal number the code counts steps of one size.
  const std::uint32_t small = bits_of(static_cast<float>(static_cast<std::int32_t>(magnitude)) *
                                      float_of(bits_of_power(1 - L::bias - L::mantissa)));
  std::uint32_t result = magnitude < (1u << L::mantissa) ? small : normal;
  if constexpr (L::top == Top::infinity || L::top == Top::saturating) {
    constexpr std::uint32_t infinity = ((1u << L::exponent) - 1) << L::mantissa;
    result = magnitude >= infinity ? 0x7f800000u | (magnitude << (23 - L::mantissa)) : result;
  } else if constexpr (L::top == Top::not_a_number) {
    result = magnitude == magnitude_mask ? 0x7fc00000u : result;
  } else {
    result = stored == (1u << digits) ? 0x7fc00000u : result;
  }
  return float_of(result | sign);
}

template <class Storage>
static inline PORTABLE std::uint32_t narrow(float value) {
  using L = Layout<Storage>;
  constexpr int digits = L::exponent + L::mantissa;
  constexpr int shift = 23 - L::mantissa;
  constexpr std::uint32_t all_ones = (1u << digits) - 1;
  constexpr bool has_infinity = L::top == Top::infinity || L::top == Top::saturating;
  constexpr std::uint32_t infinity = ((1u << L::exponent) - 1) << L::mantissa;
  constexpr std::uint32_t largest = has_infinity ? infinity - 1 : L::top == Top::not_a_number ? all_ones - 1 : all_ones;
  // Where overflow is infinite, the number after the largest has the code of infinity, and rounding may reach it.
  constexpr std::uint32_t last = L::top == Top::infinity ? infinity : largest;
  constexpr std::uint32_t last_bits = (last << shift) + (static_cast<std::uint32_t>(127 - L::bias) << 23);
  constexpr std::uint32_t smallest_normal = bits_of_power(1 - L::bias);
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const float limit = float_of(last_bits);
  const float size = float_of(magnitude) > limit ? limit : float_of(magnitude);
  // Steps of the format are as large as the last place of 2^(exponent + shift): adding that lets the adder round to
  // whole steps and count them. Below the smallest normal number the steps stay as large as there.
  const std::uint32_t own_power = bits_of(size) & 0x7f800000u;
  const std::uint32_t power = own_power < smallest_normal ? smallest_normal : own_power;
  const std::uint32_t anchor = power + (static_cast<std::uint32_t>(shift) << 23);
  const std::uint32_t steps = bits_of(size + float_of(anchor)) - anchor;
  // A normal number has 2^mantissa steps already at its power of two.
  constexpr std::uint32_t offset = (static_cast<std::uint32_t>(127 - L::bias) << L::mantissa) + (1u << L::mantissa);
  const std::uint32_t code = (power >> shift) + steps - offset;
  const std::uint32_t sign = (bits >> 31) << digits;
  if constexpr (L::top == Top::minus_zero_nan) {
    const std::uint32_t signed_code = code == 0 ? 0u : code | sign;
    return magnitude > 0x7f800000u ? 1u << digits : signed_code;
  } else {
    constexpr std::uint32_t nan = has_infinity ? infinity | (1u << (L::mantissa - 1)) : all_ones;
    return (magnitude > 0x7f800000u ? nan : code) | sign;
  }
}

static inline PORTABLE float to_float(float value) { return value; }
static inline PORTABLE float to_float(Bf16 value) { return float_of(static_cast<std::uint32_t>(value.bits) << 16); }
static inline PORTABLE float to_float(Fp16 value) { return widen<Fp16>(value.bits); }
static inline PORTABLE float to_float(Fp8E4m3 value) { return widen<Fp8E4m3>(value.bits); }
static inline PORTABLE float to_float(Fp8E5m2 value) { return widen<Fp8E5m2>(value.bits); }
static inline PORTABLE float to_float(Fp8E4m3Fnuz value) { return widen<Fp8E4m3Fnuz>(value.bits); }
static inline PORTABLE float to_float(Fp8E5m2Fnuz value) { return widen<Fp8E5m2Fnuz>(value.bits); }
static inline PORTABLE float to_float(Int8 value) { return static_cast<float>(value.value); }

// The nearest bf16 in the high half of the word; the low half is of no meaning.
static inline PORTABLE std::uint32_t bf16_in_high_half(float value) {
  // One NaN of each sign, which rounding leaves alone: one full of ones would be carried into minus zero.
  const std::uint32_t own = bits_of(value);
  const std::uint32_t bits = value != value ? (own & 0x80000000u) | 0x7fc00000u : own;
  return bits + 0x7fffu + ((bits >> 16) & 1u);
}

static inline PORTABLE Bf16 round_to_bf16(float value) {
  return {static_cast<std::uint16_t>(bf16_in_high_half(value) >> 16)};
}

static inline PORTABLE Int8 round_to_int8(float value) {
  const float low = value < -128.0f ? -128.0f : value;
  const float clamped = low > 127.0f ? 127.0f : low;
  // The last place of 1.5 * 2^23 is one, so the adder rounds to whole numbers; the integer is in the low bits.
  const std::int32_t whole = static_cast<std::int32_t>(bits_of(clamped + 12582912.0f) - bits_of(12582912.0f));
  return {static_cast<std::int8_t>(value != value ? 0 : whole)};
}

// Nearest even. Overflow and NaN as in core/number.h, to the bit.
template <class Storage>
static inline PORTABLE Storage from_float(float value) {
  if constexpr (std::is_same_v<Storage, float>) {
    return value;
  } else if constexpr (std::is_same_v<Storage, Bf16>) {
    return round_to_bf16(value);
  } else if constexpr (std::is_same_v<Storage, Int8>) {
    return round_to_int8(value);
  } else if constexpr (std::is_same_v<Storage, Fp16>) {
    return {static_cast<std::uint16_t>(narrow<Fp16>(value))};
  } else {
    return {static_cast<std::uint8_t>(narrow<Storage>(value))};
  }
}

// bf16 to an 8-bit float by 16-bit integers, twice as many to a vector. With the code in steps of 1/256, it grows with
// the bits of the number along a bent line: one step a bit where the smallest subnormal number rounds to 1, and from
// there twice as steep with every power of two up to the normal numbers.
template <class Storage>
static inline PORTABLE std::uint8_t narrow_bf16(std::uint16_t bits) {
  using Word = std::uint16_t;
  using L = Layout<Storage>;
  constexpr int digits = L::exponent + L::mantissa;
  constexpr unsigned all_ones = (1u << digits) - 1;
  constexpr unsigned infinity = ((1u << L::exponent) - 1) << L::mantissa;
  constexpr unsigned largest = L::top == Top::saturating     ? infinity - 1
                               : L::top == Top::not_a_number ? all_ones - 1
                                                             : all_ones;
  constexpr unsigned limit = (largest << (7 - L::mantissa)) + (static_cast<unsigned>(127 - L::bias) << 7);
  // The power of two below the half of the smallest subnormal number, where everything rounds to 0.
  constexpr unsigned base = static_cast<unsigned>(127 - L::bias - L::mantissa - 1) << 7;
  const auto magnitude = static_cast<Word>(bits & 0x7fffu);
  const Word low = magnitude < base ? Word{base} : magnitude;
  const Word size = low > limit ? Word{limit} : low;
  const auto above = static_cast<Word>(size - base);
  Word steps = 0;
  unsigned bent = 0;  // what the bends add beyond their beginnings
  for (int power = L::mantissa + 2; power >= 2; --power) {
    const auto bend = static_cast<Word>(power * 128);
    const Word beyond = above > bend ? above : bend;
    steps = static_cast<Word>(steps + steps + beyond);
    bent = bent + bent + bend;
  }
  const auto scaled = static_cast<Word>(steps + above - bent);
  const auto code = static_cast<Word>(static_cast<Word>(scaled + 127 + ((scaled >> 8) & 1)) >> 8);
  const auto sign = static_cast<Word>((bits >> 8) & 0x80u);
  if constexpr (L::top == Top::minus_zero_nan) {
    const Word signed_code = code == 0 ? Word{0} : static_cast<Word>(code | sign);
    return static_cast<std::uint8_t>(magnitude > 0x7f80u ? Word{0x80} : signed_code);
  } else {
    constexpr unsigned nan = L::top == Top::saturating ? infinity | (1u << (L::mantissa - 1)) : all_ones;
    return static_cast<std::uint8_t>((magnitude > 0x7f80u ? Word{nan} : code) | sign);
  }
}

// From one stored form to another. Every 8-bit number is a bf16 number: there is nothing to round.
template <class To, class From>
static inline PORTABLE To convert(From from) {
  if constexpr (std::is_same_v<To, From>) {
    return from;
  } else if constexpr (std::is_same_v<To, Bf16> && sizeof(From) == 1) {
    return {static_cast<std::uint16_t>(bits_of(to_float(from)) >> 16)};
  } else if constexpr (std::is_same_v<From, Bf16> && sizeof(To) == 1 && !std::is_same_v<To, Int8>) {
    return {narrow_bf16<To>(from.bits)};
  } else {
    return from_float<To>(to_float(from));
  }
}

}  // namespace assay::bodies
