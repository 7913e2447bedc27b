// Narrow numbers by the device's own instructions: sixteen bytes at a time, conversions, two multiply-adds at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

#include "core/number.h"

namespace vendor {

// As much as one thread loads or stores at once; store_streaming() takes it.
using Word16 = uint4;

// fp16 as its bits, to float and back (nearest even, overflow to infinity). The host's way gives the same numbers.
__host__ __device__ inline float half_to_float(std::uint16_t bits) {
#if defined(__HIP_DEVICE_COMPILE__)
  return static_cast<float>(__builtin_bit_cast(_Float16, bits));
#else
  return static_cast<float>(assay::decode(assay::Element::fp16, bits));
#endif
}
__host__ __device__ inline std::uint16_t float_to_half(float value) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_bit_cast(std::uint16_t, static_cast<_Float16>(value));
#else
  return static_cast<std::uint16_t>(assay::encode(assay::Element::fp16, static_cast<double>(value)));
#endif
}

// bf16 as its bits, nearest even. Only gfx950 and later have an instruction for it; integers do it elsewhere.
__host__ __device__ inline std::uint16_t float_to_bf16(float value) {
#if defined(__HIP_DEVICE_COMPILE__)
  if (value != value) return 0x7FC0;
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
#else
  return static_cast<std::uint16_t>(assay::encode(assay::Element::bf16, static_cast<double>(value)));
#endif
}

// Whether the device that this is compiled for rounds to OCP's FP8 by an instruction: gfx950 and RDNA4. gfx942 has the
// same instructions for the other dialect, and the shared conversions do those.
#if defined(__gfx950__) || defined(__GFX12__)
__host__ __device__ constexpr bool has_fp8_conversions() { return true; }
#else
__host__ __device__ constexpr bool has_fp8_conversions() { return false; }
#endif

// The instruction makes a NaN or an infinity of what is too large; here it becomes the largest finite number.
__device__ inline float clamped(float value, float largest) {
  return value != value ? value : __builtin_amdgcn_fmed3f(value, largest, -largest);
}
__device__ inline std::uint8_t float_to_fp8_e4m3([[maybe_unused]] float value) {
#if defined(__gfx950__) || defined(__GFX12__)
  const float inside = clamped(value, 448.0f);
  return static_cast<std::uint8_t>(__builtin_amdgcn_cvt_pk_fp8_f32(inside, inside, 0, false));
#else
  return 0;
#endif
}
__device__ inline std::uint8_t float_to_fp8_e5m2([[maybe_unused]] float value) {
#if defined(__gfx950__) || defined(__GFX12__)
  const float inside = clamped(value, 57344.0f);
  return static_cast<std::uint8_t>(__builtin_amdgcn_cvt_pk_bf8_f32(inside, inside, 0, false));
#else
  return 0;
#endif
}

// a b + c in both halves of a register, each rounded once to its own format.
__device__ inline std::uint32_t fma2_fp16(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  using Halves = _Float16 __attribute__((ext_vector_type(2)));
  const auto halves = [](std::uint32_t word) { return __builtin_bit_cast(Halves, word); };
  return __builtin_bit_cast(std::uint32_t, __builtin_elementwise_fma(halves(a), halves(b), halves(c)));
}
// No vector unit of AMD's up to RDNA4 does this with bf16; has_packed_bf16() keeps everybody away.
__device__ inline std::uint32_t fma2_bf16(std::uint32_t, std::uint32_t, std::uint32_t) { return 0; }

// Whether a device of this architecture() multiplies two bf16 at once without a matrix unit.
inline bool has_packed_bf16(int) { return false; }

}  // namespace vendor
