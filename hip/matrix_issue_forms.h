// The matrix instructions whose issue rate is measured: shapes, operands, and since when there is one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

#include "core/issue_data.h"

namespace vendor::forms {

using assay::Element;

// What this pass of the compiler makes code for, as architecture() numbers it; 0 for the host and for what has none.
#if defined(__gfx908__)
constexpr int compiled_for = 908;
#elif defined(__gfx90a__)
constexpr int compiled_for = 910;
#elif defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__)
constexpr int compiled_for = 942;
#elif defined(__gfx950__)
constexpr int compiled_for = 950;
#elif defined(__GFX11__)
constexpr int compiled_for = 1100;
#elif defined(__GFX12__)
constexpr int compiled_for = 1200;
#else
constexpr int compiled_for = 0;
#endif

template <class Number, int count>
using Vector = Number __attribute__((ext_vector_type(count)));

template <class To, class Word, int count>
__device__ inline To joined(const Word (&words)[count]) {
  static_assert(sizeof(To) == sizeof words);
  To result;
  __builtin_memcpy(&result, words, sizeof result);
  return result;
}

// One lane holds `words` of a row of A and as many of a column of B; `groups` sets of lanes share a row, each with its
// own part of K. From which architecture on, and up to which, the instruction is there.
template <Element element_, int size_, int k_, int words_, int groups_, int since_, int until_>
struct Packed {
  using Word = std::uint32_t;
  static constexpr Element element = element_;
  static constexpr Element sum = element_ == Element::int8 ? Element::int32 : Element::fp32;
  static constexpr bool by_blocks = false;  // 32 of K have a scale in common
  static constexpr double scale = 1;
  static constexpr int size = size_, k = k_, words = words_, groups = groups_, since = since_, until = until_;
  __device__ static Word word(std::uint32_t seed, std::uint64_t index) {
    return assay::typical_word(element, seed, index);
  }
  __device__ static Word negated(Word word) { return assay::negated_word(element, word); }
};

constexpr int all_cdna = 999;

// CDNA: 32 x 32, sixteen sums a lane.
struct MfmaFp16 : Packed<Element::fp16, 32, 8, 2, 2, 908, all_cdna> {
  using Sums = Vector<float, 16>;
  static constexpr const char* name = "v_mfma_f32_32x32x8_f16";
  __device__ static Sums multiply(const Word (&a)[2], const Word (&b)[2], Sums d) {
    using Operand = Vector<_Float16, 4>;
    return __builtin_amdgcn_mfma_f32_32x32x8f16(joined<Operand>(a), joined<Operand>(b), d, 0, 0, 0);
  }
};
struct MfmaBf16 : Packed<Element::bf16, 32, 8, 2, 2, 910, all_cdna> {
  using Sums = Vector<float, 16>;
  static constexpr const char* name = "v_mfma_f32_32x32x8_bf16";
  __device__ static Sums multiply(const Word (&a)[2], const Word (&b)[2], Sums d) {
    using Operand = Vector<short, 4>;
    return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(joined<Operand>(a), joined<Operand>(b), d, 0, 0, 0);
  }
};
struct MfmaFirstBf16 : Packed<Element::bf16, 32, 4, 1, 2, 908, 908> {
  using Sums = Vector<float, 16>;
  static constexpr const char* name = "v_mfma_f32_32x32x4_bf16";
  __device__ static Sums multiply(const Word (&a)[1], const Word (&b)[1], Sums d) {
    using Operand = Vector<short, 2>;
    return __builtin_amdgcn_mfma_f32_32x32x4bf16(joined<Operand>(a), joined<Operand>(b), d, 0, 0, 0);
  }
};
struct MfmaFp32 : Packed<Element::fp32, 32, 2, 1, 2, 908, all_cdna> {
  using Sums = Vector<float, 16>;
  static constexpr const char* name = "v_mfma_f32_32x32x2_f32";
  __device__ static Sums multiply(const Word (&a)[1], const Word (&b)[1], Sums d) {
    return __builtin_amdgcn_mfma_f32_32x32x2f32(joined<float>(a), joined<float>(b), d, 0, 0, 0);
  }
};
struct MfmaXf32 : Packed<Element::tf32, 32, 4, 2, 2, 940, 942> {
  using Sums = Vector<float, 16>;
  static constexpr const char* name = "v_mfma_f32_32x32x4_xf32";
  __device__ static Sums multiply(const Word (&a)[2], const Word (&b)[2], Sums d) {
    using Operand = Vector<float, 2>;
    return __builtin_amdgcn_mfma_f32_32x32x4_xf32(joined<Operand>(a), joined<Operand>(b), d, 0, 0, 0);
  }
};
struct MfmaFirstInt8 : Packed<Element::int8, 32, 8, 1, 2, 908, 910> {
  using Sums = Vector<std::int32_t, 16>;
  static constexpr const char* name = "v_mfma_i32_32x32x8_i8";
  __device__ static Sums multiply(const Word (&a)[1], const Word (&b)[1], Sums d) {
    return __builtin_amdgcn_mfma_i32_32x32x8i8(joined<int>(a), joined<int>(b), d, 0, 0, 0);
  }
};
struct MfmaInt8 : Packed<Element::int8, 32, 16, 2, 2, 940, all_cdna> {
  using Sums = Vector<std::int32_t, 16>;
  static constexpr const char* name = "v_mfma_i32_32x32x16_i8";
  __device__ static Sums multiply(const Word (&a)[2], const Word (&b)[2], Sums d) {
    return __builtin_amdgcn_mfma_i32_32x32x16_i8(joined<long>(a), joined<long>(b), d, 0, 0, 0);
  }
};
// The same instructions mean FNUZ numbers on gfx942 and OCP's on gfx950.
template <Element element, int since, int until>
struct MfmaE4m3 : Packed<element, 32, 16, 2, 2, since, until> {
  using Sums = Vector<float, 16>;
  static constexpr const char* name = "v_mfma_f32_32x32x16_fp8_fp8";
  __device__ static Sums multiply(const std::uint32_t (&a)[2], const std::uint32_t (&b)[2], Sums d) {
    return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(joined<long>(a), joined<long>(b), d, 0, 0, 0);
  }
};
template <Element element, int since, int until>
struct MfmaE5m2 : Packed<element, 32, 16, 2, 2, since, until> {
  using Sums = Vector<float, 16>;
  static constexpr const char* name = "v_mfma_f32_32x32x16_bf8_bf8";
  __device__ static Sums multiply(const std::uint32_t (&a)[2], const std::uint32_t (&b)[2], Sums d) {
    return __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(joined<long>(a), joined<long>(b), d, 0, 0, 0);
  }
};
// 16 x 16, four sums a lane.
struct MfmaFp64 {
  using Word = double;
  using Sums = Vector<double, 4>;
  static constexpr Element element = Element::fp64;
  static constexpr Element sum = Element::fp64;
  static constexpr bool by_blocks = false;
  static constexpr double scale = 1;
  static constexpr int size = 16, k = 4, words = 1, groups = 4, since = 910, until = all_cdna;
  static constexpr const char* name = "v_mfma_f64_16x16x4_f64";
  __device__ static Word word(std::uint32_t seed, std::uint64_t index) { return assay::typical_double(seed, index); }
  __device__ static Word negated(Word word) { return -word; }
  __device__ static Sums multiply(const Word (&a)[1], const Word (&b)[1], Sums d) {
    return __builtin_amdgcn_mfma_f64_16x16x4f64(a[0], b[0], d, 0, 0, 0);
  }
};

// gfx950 doubled K. Older compilers know neither the card nor these.
#if __has_builtin(__builtin_amdgcn_mfma_f32_32x32x16_f16)
struct MfmaDeepFp16 : Packed<Element::fp16, 32, 16, 4, 2, 950, 950> {
  using Sums = Vector<float, 16>;
  static constexpr const char* name = "v_mfma_f32_32x32x16_f16";
  __device__ static Sums multiply(const Word (&a)[4], const Word (&b)[4], Sums d) {
    using Operand = Vector<_Float16, 8>;
    return __builtin_amdgcn_mfma_f32_32x32x16_f16(joined<Operand>(a), joined<Operand>(b), d, 0, 0, 0);
  }
};
struct MfmaDeepBf16 : Packed<Element::bf16, 32, 16, 4, 2, 950, 950> {
  using Sums = Vector<float, 16>;
  static constexpr const char* name = "v_mfma_f32_32x32x16_bf16";
  __device__ static Sums multiply(const Word (&a)[4], const Word (&b)[4], Sums d) {
    using Operand = Vector<__bf16, 8>;
    return __builtin_amdgcn_mfma_f32_32x32x16_bf16(joined<Operand>(a), joined<Operand>(b), d, 0, 0, 0);
  }
};
struct MfmaDeepInt8 : Packed<Element::int8, 32, 32, 4, 2, 950, 950> {
  using Sums = Vector<std::int32_t, 16>;
  static constexpr const char* name = "v_mfma_i32_32x32x32_i8";
  __device__ static Sums multiply(const Word (&a)[4], const Word (&b)[4], Sums d) {
    using Operand = Vector<int, 4>;
    return __builtin_amdgcn_mfma_i32_32x32x32_i8(joined<Operand>(a), joined<Operand>(b), d, 0, 0, 0);
  }
};
#endif

// gfx950's block-scaled numbers: each lane holds one block of 32 along K and its scale, 2^(byte - 127). That of A is 2
// and that of B is 1, so that a unit that left them out would be found.
#if __has_builtin(__builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4)
template <Element element_, int words_, int code>
struct MfmaScaled : Packed<element_, 32, 64, words_, 2, 950, 950> {
  using Sums = Vector<float, 16>;
  static constexpr const char* name = "v_mfma_scale_f32_32x32x64_f8f6f4";
  static constexpr bool by_blocks = true;
  static constexpr double scale = 2;
  __device__ static Vector<int, 8> operand(const std::uint32_t (&words)[words_]) {
    Vector<int, 8> all = {};
    __builtin_memcpy(&all, words, sizeof words);
    return all;
  }
  __device__ static Sums multiply(const std::uint32_t (&a)[words_], const std::uint32_t (&b)[words_], Sums d) {
    return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(operand(a), operand(b), d, code, code, 0, 128, 0, 127);
  }
};
using MfmaMxfp8 = MfmaScaled<Element::fp8_e4m3, 8, 0>;
using MfmaMxfp4 = MfmaScaled<Element::fp4_e2m1, 4, 4>;
#endif

// RDNA3: 16 x 16 in wavefronts of 32, eight sums a lane; both halves of a wavefront hold the same operands.
struct WmmaFp16 : Packed<Element::fp16, 16, 16, 8, 1, 1100, 1199> {
  using Sums = Vector<float, 8>;
  static constexpr const char* name = "v_wmma_f32_16x16x16_f16";
  __device__ static Sums multiply(const Word (&a)[8], const Word (&b)[8], Sums d) {
    using Operand = Vector<_Float16, 16>;
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(joined<Operand>(a), joined<Operand>(b), d);
  }
};
// The same summed in FP16: a sum is the lower half of a register.
struct WmmaHalfFp16 : Packed<Element::fp16, 16, 16, 8, 1, 1100, 1199> {
  using Sums = Vector<_Float16, 16>;
  static constexpr Element sum = Element::fp16;
  static constexpr const char* name = "v_wmma_f16_16x16x16_f16";
  __device__ static Sums multiply(const Word (&a)[8], const Word (&b)[8], Sums d) {
    using Operand = Vector<_Float16, 16>;
    return __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(joined<Operand>(a), joined<Operand>(b), d, false);
  }
};
struct WmmaBf16 : Packed<Element::bf16, 16, 16, 8, 1, 1100, 1199> {
  using Sums = Vector<float, 8>;
  static constexpr const char* name = "v_wmma_f32_16x16x16_bf16";
  __device__ static Sums multiply(const Word (&a)[8], const Word (&b)[8], Sums d) {
    using Operand = Vector<short, 16>;
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(joined<Operand>(a), joined<Operand>(b), d);
  }
};
struct WmmaInt8 : Packed<Element::int8, 16, 16, 4, 1, 1100, 1199> {
  using Sums = Vector<std::int32_t, 8>;
  static constexpr const char* name = "v_wmma_i32_16x16x16_iu8";
  __device__ static Sums multiply(const Word (&a)[4], const Word (&b)[4], Sums d) {
    using Operand = Vector<int, 4>;
    return __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, joined<Operand>(a), true, joined<Operand>(b), d, false);
  }
};

// RDNA4: each half of a wavefront holds half of K.
struct SplitWmmaFp16 : Packed<Element::fp16, 16, 16, 4, 2, 1200, 1299> {
  using Sums = Vector<float, 8>;
  static constexpr const char* name = "v_wmma_f32_16x16x16_f16";
  __device__ static Sums multiply(const Word (&a)[4], const Word (&b)[4], Sums d) {
    using Operand = Vector<_Float16, 8>;
    return __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(joined<Operand>(a), joined<Operand>(b), d);
  }
};
struct SplitWmmaBf16 : Packed<Element::bf16, 16, 16, 4, 2, 1200, 1299> {
  using Sums = Vector<float, 8>;
  static constexpr const char* name = "v_wmma_f32_16x16x16_bf16";
  __device__ static Sums multiply(const Word (&a)[4], const Word (&b)[4], Sums d) {
    using Operand = Vector<short, 8>;
    return __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(joined<Operand>(a), joined<Operand>(b), d);
  }
};
struct SplitWmmaInt8 : Packed<Element::int8, 16, 16, 2, 2, 1200, 1299> {
  using Sums = Vector<std::int32_t, 8>;
  static constexpr const char* name = "v_wmma_i32_16x16x16_iu8";
  __device__ static Sums multiply(const Word (&a)[2], const Word (&b)[2], Sums d) {
    using Operand = Vector<int, 2>;
    return __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(true, joined<Operand>(a), true, joined<Operand>(b), d,
                                                            false);
  }
};
struct SplitWmmaE4m3 : Packed<Element::fp8_e4m3, 16, 16, 2, 2, 1200, 1299> {
  using Sums = Vector<float, 8>;
  static constexpr const char* name = "v_wmma_f32_16x16x16_fp8_fp8";
  __device__ static Sums multiply(const Word (&a)[2], const Word (&b)[2], Sums d) {
    using Operand = Vector<int, 2>;
    return __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(joined<Operand>(a), joined<Operand>(b), d);
  }
};
struct SplitWmmaE5m2 : Packed<Element::fp8_e5m2, 16, 16, 2, 2, 1200, 1299> {
  using Sums = Vector<float, 8>;
  static constexpr const char* name = "v_wmma_f32_16x16x16_bf8_bf8";
  __device__ static Sums multiply(const Word (&a)[2], const Word (&b)[2], Sums d) {
    using Operand = Vector<int, 2>;
    return __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w32_gfx12(joined<Operand>(a), joined<Operand>(b), d);
  }
};

}  // namespace vendor::forms
