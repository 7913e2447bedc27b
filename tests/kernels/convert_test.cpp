// The bodies' number conversions against core/number.h, to the bit.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/convert.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/number.h"

namespace assay::bodies {
namespace {

template <class Storage>
struct Traits;
template <>
struct Traits<Bf16> {
  static constexpr Element element = Element::bf16;
};
template <>
struct Traits<Fp16> {
  static constexpr Element element = Element::fp16;
};
template <>
struct Traits<Fp8E4m3> {
  static constexpr Element element = Element::fp8_e4m3;
};
template <>
struct Traits<Fp8E5m2> {
  static constexpr Element element = Element::fp8_e5m2;
};
template <>
struct Traits<Fp8E4m3Fnuz> {
  static constexpr Element element = Element::fp8_e4m3_fnuz;
};
template <>
struct Traits<Fp8E5m2Fnuz> {
  static constexpr Element element = Element::fp8_e5m2_fnuz;
};
template <>
struct Traits<Int8> {
  static constexpr Element element = Element::int8;
};

template <class Storage>
std::uint64_t code_of(Storage value) {
  std::uint64_t code = 0;
  std::memcpy(&code, &value, sizeof value);
  return code;
}

template <class Storage>
Storage storage_of(std::uint64_t code) {
  Storage value;
  std::memcpy(&value, &code, sizeof value);
  return value;
}

template <class Storage>
class Convert : public testing::Test {
 protected:
  static constexpr Element element = Traits<Storage>::element;
  static constexpr std::uint64_t codes = std::uint64_t{1} << (8 * sizeof(Storage));

  static void expect_same_rounding(float value) {
    ASSERT_EQ(code_of(from_float<Storage>(value)), encode(element, static_cast<double>(value)))
        << text(element) << " from " << value << ", bits " << std::hex << bits_of(value);
  }
};

using All = testing::Types<Bf16, Fp16, Fp8E4m3, Fp8E5m2, Fp8E4m3Fnuz, Fp8E5m2Fnuz, Int8>;
TYPED_TEST_SUITE(Convert, All);

TYPED_TEST(Convert, WidensEveryPatternAsTheCoreDecodesIt) {
  for (std::uint64_t code = 0; code < TestFixture::codes; ++code) {
    const double want = decode(TestFixture::element, code);
    const float got = to_float(storage_of<TypeParam>(code));
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << "code " << code;
    } else {
      ASSERT_EQ(static_cast<double>(got), want) << "code " << code;
      ASSERT_EQ(std::signbit(got), std::signbit(want)) << "code " << code;
    }
  }
}

TYPED_TEST(Convert, GivesEveryNumberBack) {
  for (std::uint64_t code = 0; code < TestFixture::codes; ++code) {
    const float value = to_float(storage_of<TypeParam>(code));
    if (!std::isnan(value)) TestFixture::expect_same_rounding(value);
  }
}

// Half way between two neighbours, and one float to either side: where rounding goes wrong, if it does.
TYPED_TEST(Convert, RoundsTiesToEvenAndTheRestToTheNearest) {
  for (std::uint64_t code = 0; code + 1 < TestFixture::codes; ++code) {
    const double low = decode(TestFixture::element, code);
    const double high = decode(TestFixture::element, code + 1);
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const auto middle = static_cast<float>((low + high) / 2);
    TestFixture::expect_same_rounding(middle);
    TestFixture::expect_same_rounding(std::nextafter(middle, std::numeric_limits<float>::infinity()));
    TestFixture::expect_same_rounding(std::nextafter(middle, -std::numeric_limits<float>::infinity()));
  }
}

TYPED_TEST(Convert, RoundsFloatsOfEverySizeAsTheCoreEncodesThem) {
  // A prime step through all 2^32 patterns: every exponent, both signs, subnormals, infinities' neighbours and NaNs.
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 4093) {
    TestFixture::expect_same_rounding(float_of(static_cast<std::uint32_t>(bits)));
  }
  for (const std::uint32_t bits : {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffffffffu, 0x7fffffffu, 0x7f800001u,
                                   0xff800001u, 0x7f7fffffu, 0xff7fffffu, 0x00000001u, 0x80000001u, 0x80000000u}) {
    TestFixture::expect_same_rounding(float_of(bits));
  }
}

// From bf16 there are shorter ways than through float; none may show in the result.
TYPED_TEST(Convert, ComesFromEveryBf16AsFromTheSameFloat) {
  for (std::uint64_t code = 0; code <= 0xffff; ++code) {
    const auto from = storage_of<Bf16>(code);
    if constexpr (std::is_same_v<TypeParam, Bf16>) {
      ASSERT_EQ(code_of(convert<TypeParam>(from)), code);
    } else {
      ASSERT_EQ(code_of(convert<TypeParam>(from)), encode(TestFixture::element, decode(Element::bf16, code)))
          << text(TestFixture::element) << " from bf16 code " << std::hex << code;
    }
  }
}

// And into bf16: from 8 bits nothing is rounded.
TYPED_TEST(Convert, GoesToBf16AsTheSameFloatWould) {
  for (std::uint64_t code = 0; code < TestFixture::codes; ++code) {
    const double value = decode(TestFixture::element, code);
    const Bf16 got = convert<Bf16>(storage_of<TypeParam>(code));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(to_float(got))) << "code " << code;
    } else {
      ASSERT_EQ(code_of(got), encode(Element::bf16, value)) << text(TestFixture::element) << " code " << code;
    }
  }
}

}  // namespace
}  // namespace assay::bodies
