// 16-bit formats that are converted by the device's own instructions instead of the arithmetic of kernels/convert.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/convert.h"
#include "packed.h"

namespace assay::bodies {

// The same bits and the same numbers as Fp16 and Bf16; only which NaN comes of a NaN is the device's choice.
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};

static inline PORTABLE float to_float(Half value) { return vendor::half_to_float(value.bits); }

static inline PORTABLE float to_float(Brain value) { return float_of(static_cast<std::uint32_t>(value.bits) << 16); }

template <>
inline PORTABLE Half from_float<Half>(float value) {
  return {vendor::float_to_half(value)};
}
template <>
inline PORTABLE Brain from_float<Brain>(float value) {
  return {vendor::float_to_bf16(value)};
}

}  // namespace assay::bodies
