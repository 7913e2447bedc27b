// What the operands of issue-rate kernels hold: numbers as varied as those of real work, since tame data runs faster,
// and so small that no accumulator overflows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/fill.h"
#include "core/format.h"
#include "core/number.h"
#include "core/portable.h"

namespace assay {

// Random mantissa and sign, magnitude from 1/4 to 2: half of them from 1/2 to 1, as numbers of standard deviation 1
// are. tf32 keeps its 10 bits, so that nothing is lost where the unit takes it. `bits` are random.
PORTABLE inline std::uint64_t typical_float(Element element, std::uint64_t bits) {
  const FloatLayout layout = float_layout(element);
  const std::uint64_t sign = bits & 1U;
  const std::uint64_t below = ((bits >> 1U) & 1U) + ((bits >> 2U) & 1U);  // 0, 1, 1 or 2
  const auto mantissa_bits = static_cast<unsigned>(layout.mantissa_bits);
  std::uint64_t mantissa = (bits >> 3U) & ((std::uint64_t{1} << mantissa_bits) - 1);
  if (element == Element::tf32) mantissa &= ~std::uint64_t{0x1FFF};
  const std::uint64_t exponent = static_cast<std::uint64_t>(layout.bias) - below;
  return (sign << (mantissa_bits + static_cast<unsigned>(layout.exponent_bits))) | (exponent << mantissa_bits) |
         mantissa;
}

// One element: any four bits are a number in E2M1, and any eight a byte but for -128, which has no negative.
PORTABLE inline std::uint64_t typical_element(Element element, std::uint64_t bits) {
  if (element == Element::fp4_e2m1) return bits & 0xFU;
  if (element == Element::int8) return (bits & 0xFFU) == 0x80 ? 0x81 : bits & 0xFFU;
  return typical_float(element, bits);
}

PORTABLE constexpr unsigned element_bits(Element element) {
  return element == Element::fp4_e2m1                           ? 4
         : element == Element::fp64                             ? 64
         : element == Element::fp32 || element == Element::tf32 ? 32
         : element == Element::bf16 || element == Element::fp16 ? 16
                                                                : 8;
}

// The 32 bits at word `index` of an operand, packed from the low end. Elements of up to 32 bits.
PORTABLE inline std::uint32_t typical_word(Element element, std::uint64_t seed, std::uint64_t index) {
  const unsigned width = element_bits(element);
  const std::uint64_t random = mix(seed, index);
  std::uint32_t word = 0;
  for (unsigned at = 0; at < 32; at += width) {
    // Each element gets its own two thirds and more of the random bits: 64 bits for 32.
    const std::uint64_t own = random >> (2 * at);
    word |= static_cast<std::uint32_t>(typical_element(element, own)) << at;
  }
  return word;
}

PORTABLE inline double typical_double(std::uint64_t seed, std::uint64_t index) {
  return double_from_bits(typical_float(Element::fp64, mix(seed, index)));
}

// The same elements with the other sign.
PORTABLE inline std::uint32_t negated_word(Element element, std::uint32_t word) {
  const unsigned width = element_bits(element);
  std::uint32_t result = word;
  for (unsigned at = 0; at < 32; at += width) {
    if (element == Element::int8) {
      const std::uint32_t byte = (word >> at) & 0xFFU;
      result = (result & ~(std::uint32_t{0xFF} << at)) | (((~byte + 1) & 0xFFU) << at);
    } else {
      result ^= std::uint32_t{1} << (at + width - 1);
    }
  }
  return result;
}

}  // namespace assay
