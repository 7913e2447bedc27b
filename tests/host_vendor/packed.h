// Narrow numbers in pairs, by the conversions of core/number.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/number.h"

namespace vendor {

struct alignas(16) Word16 {
  std::uint32_t x;
  std::uint32_t y;
  std::uint32_t z;
  std::uint32_t w;
};

inline float half_to_float(std::uint16_t bits) { return static_cast<float>(assay::decode(assay::Element::fp16, bits)); }
inline std::uint16_t float_to_half(float value) {
  return static_cast<std::uint16_t>(assay::encode(assay::Element::fp16, static_cast<double>(value)));
}

inline std::uint16_t float_to_bf16(float value) {
  return static_cast<std::uint16_t>(assay::encode(assay::Element::bf16, static_cast<double>(value)));
}

constexpr bool has_fp8_conversions() { return true; }
inline std::uint8_t float_to_fp8_e4m3(float value) {
  return static_cast<std::uint8_t>(assay::encode(assay::Element::fp8_e4m3, static_cast<double>(value)));
}
inline std::uint8_t float_to_fp8_e5m2(float value) {
  return static_cast<std::uint8_t>(assay::encode(assay::Element::fp8_e5m2, static_cast<double>(value)));
}

namespace host {

// Doubles hold the product and the sum of 16-bit numbers nearly exactly: one rounding, but for rare ties.
inline std::uint32_t fma2(assay::Element element, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t result = 0;
  for (unsigned shift = 0; shift < 32; shift += 16) {
    const auto half = [&](std::uint32_t word) { return assay::decode(element, (word >> shift) & 0xFFFFU); };
    result |= static_cast<std::uint32_t>(assay::encode(element, half(a) * half(b) + half(c))) << shift;
  }
  return result;
}

}  // namespace host

inline std::uint32_t fma2_fp16(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return host::fma2(assay::Element::fp16, a, b, c);
}
inline std::uint32_t fma2_bf16(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return host::fma2(assay::Element::bf16, a, b, c);
}

inline bool has_packed_bf16(int) { return true; }

}  // namespace vendor
