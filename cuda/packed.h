// Narrow numbers by the device's own instructions: sixteen bytes at a time, conversions, two multiply-adds at once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/number.h"

namespace vendor {

// As much as one thread loads or stores at once; store_streaming() takes it.
using Word16 = uint4;

// fp16 as its bits, to float and back (nearest even, overflow to infinity). The host's way gives the same numbers.
__host__ __device__ inline float half_to_float(std::uint16_t bits) {
#if defined(__CUDA_ARCH__)
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
#else
  return static_cast<float>(assay::decode(assay::Element::fp16, bits));
#endif
}
__host__ __device__ inline std::uint16_t float_to_half(float value) {
#if defined(__CUDA_ARCH__)
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#else
  return static_cast<std::uint16_t>(assay::encode(assay::Element::fp16, static_cast<double>(value)));
#endif
}

// bf16 as its bits, nearest even. Devices before compute capability 8.0 have no instruction for it.
__host__ __device__ inline std::uint16_t float_to_bf16(float value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
#elif defined(__CUDA_ARCH__)
  if (value != value) return 0x7FC0;
  const std::uint32_t bits = __float_as_uint(value);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U);
#else
  return static_cast<std::uint16_t>(assay::encode(assay::Element::bf16, static_cast<double>(value)));
#endif
}

// Whether the device that this is compiled for rounds to OCP's FP8 by an instruction. What is too large becomes the
// largest finite number.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
__host__ __device__ constexpr bool has_fp8_conversions() { return true; }
#else
__host__ __device__ constexpr bool has_fp8_conversions() { return false; }
#endif
__device__ inline std::uint8_t float_to_fp8_e4m3([[maybe_unused]] float value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
  std::uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
  return static_cast<std::uint8_t>(pair);
#else
  return 0;
#endif
}
__device__ inline std::uint8_t float_to_fp8_e5m2([[maybe_unused]] float value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
  std::uint16_t pair;
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
  return static_cast<std::uint8_t>(pair);
#else
  return 0;
#endif
}

// a b + c in both halves of a register, each rounded once to its own format.
__device__ inline std::uint32_t fma2_fp16(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}
__device__ inline std::uint32_t fma2_bf16([[maybe_unused]] std::uint32_t a, [[maybe_unused]] std::uint32_t b,
                                          [[maybe_unused]] std::uint32_t c) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  std::uint32_t result;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
#else
  return 0;  // has_packed_bf16() keeps everybody away
#endif
}

// Whether a device of this architecture() multiplies two bf16 at once without a matrix unit.
inline bool has_packed_bf16(int architecture) { return architecture >= 80; }

}  // namespace vendor
