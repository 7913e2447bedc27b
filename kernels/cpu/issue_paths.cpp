// Multiply-adds on registers: the instructions, one function each, so that only code that is really run on a processor
// is compiled for it.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/issue_paths.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cmath>
#include <cstring>

#include "core/number.h"

namespace assay::cpu {
namespace {

// Factor and addend of r = r x + y: full mantissas, and a sequence that neither grows nor dies.
constexpr float factor_single = 0.98765433F;
constexpr float addend_single = 0.01357911F;
constexpr double factor_double = 0.98765432109876543;
constexpr double addend_double = 0.01357911131517192;

__attribute__((target("avx512f"))) void avx512_single(std::int64_t turns, double* results) {
  __m512 x = _mm512_set1_ps(factor_single);
  __m512 y = _mm512_set1_ps(addend_single);
  __m512 r[16];
  asm volatile("" : "+v"(x), "+v"(y));
#pragma GCC unroll 16
  for (__m512& chain : r) {
    chain = _mm512_setzero_ps();
    asm volatile("" : "+v"(chain));  // or the compiler would see that all chains are the same
  }
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 16
    for (__m512& chain : r) {
      chain = _mm512_fmadd_ps(chain, x, y);
    }
  }
  float held[256];
#pragma GCC unroll 16
  for (int chain = 0; chain < 16; ++chain) {
    _mm512_storeu_ps(held + chain * 16, r[chain]);
  }
  for (int i = 0; i < 256; ++i) {
    results[i] = held[i];
  }
}

__attribute__((target("avx512f"))) void avx512_double(std::int64_t turns, double* results) {
  __m512d x = _mm512_set1_pd(factor_double);
  __m512d y = _mm512_set1_pd(addend_double);
  __m512d r[16];
  asm volatile("" : "+v"(x), "+v"(y));
#pragma GCC unroll 16
  for (__m512d& chain : r) {
    chain = _mm512_setzero_pd();
    asm volatile("" : "+v"(chain));  // or the compiler would see that all chains are the same
  }
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 16
    for (__m512d& chain : r) {
      chain = _mm512_fmadd_pd(chain, x, y);
    }
  }
  double held[128];
#pragma GCC unroll 16
  for (int chain = 0; chain < 16; ++chain) {
    _mm512_storeu_pd(held + chain * 8, r[chain]);
  }
  for (int i = 0; i < 128; ++i) {
    results[i] = held[i];
  }
}

__attribute__((target("avx2,fma"))) void avx2_single(std::int64_t turns, double* results) {
  __m256 x = _mm256_set1_ps(factor_single);
  __m256 y = _mm256_set1_ps(addend_single);
  __m256 r[12];
  asm volatile("" : "+x"(x), "+x"(y));
#pragma GCC unroll 12
  for (__m256& chain : r) {
    chain = _mm256_setzero_ps();
    asm volatile("" : "+x"(chain));  // or the compiler would see that all chains are the same
  }
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 12
    for (__m256& chain : r) {
      chain = _mm256_fmadd_ps(chain, x, y);
    }
  }
  float held[96];
#pragma GCC unroll 12
  for (int chain = 0; chain < 12; ++chain) {
    _mm256_storeu_ps(held + chain * 8, r[chain]);
  }
  for (int i = 0; i < 96; ++i) {
    results[i] = held[i];
  }
}

__attribute__((target("avx2,fma"))) void avx2_double(std::int64_t turns, double* results) {
  __m256d x = _mm256_set1_pd(factor_double);
  __m256d y = _mm256_set1_pd(addend_double);
  __m256d r[12];
  asm volatile("" : "+x"(x), "+x"(y));
#pragma GCC unroll 12
  for (__m256d& chain : r) {
    chain = _mm256_setzero_pd();
    asm volatile("" : "+x"(chain));  // or the compiler would see that all chains are the same
  }
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 12
    for (__m256d& chain : r) {
      chain = _mm256_fmadd_pd(chain, x, y);
    }
  }
  double held[48];
#pragma GCC unroll 12
  for (int chain = 0; chain < 12; ++chain) {
    _mm256_storeu_pd(held + chain * 4, r[chain]);
  }
  for (int i = 0; i < 48; ++i) {
    results[i] = held[i];
  }
}

// Four unsigned bytes by four signed bytes: processors before AVX-VNNI-INT8 have no product of signed bytes.
__attribute__((target("avx512f,avx512vnni"))) void avx512_int8(std::int64_t turns, double* results) {
  __m512i x = _mm512_set1_epi8(113);
  __m512i y = _mm512_set1_epi8(-91);
  __m512i r[16];
  asm volatile("" : "+v"(x), "+v"(y));
#pragma GCC unroll 16
  for (__m512i& chain : r) {
    chain = _mm512_setzero_si512();
    asm volatile("" : "+v"(chain));
  }
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 16
    for (__m512i& chain : r) {
      chain = _mm512_dpbusd_epi32(chain, x, y);
    }
  }
  std::int32_t held[256];
#pragma GCC unroll 16
  for (int chain = 0; chain < 16; ++chain) {
    _mm512_storeu_si512(held + chain * 16, r[chain]);
  }
  for (int i = 0; i < 256; ++i) {
    results[i] = held[i];
  }
}

__attribute__((target("avx2,avxvnni"))) void avx_vnni_int8(std::int64_t turns, double* results) {
  __m256i x = _mm256_set1_epi8(113);
  __m256i y = _mm256_set1_epi8(-91);
  __m256i r[12];
  asm volatile("" : "+x"(x), "+x"(y));
#pragma GCC unroll 12
  for (__m256i& chain : r) {
    chain = _mm256_setzero_si256();
    asm volatile("" : "+x"(chain));
  }
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 12
    for (__m256i& chain : r) {
      chain = _mm256_dpbusd_avx_epi32(chain, x, y);
    }
  }
  std::int32_t held[96];
#pragma GCC unroll 12
  for (int chain = 0; chain < 12; ++chain) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(held + chain * 8), r[chain]);
  }
  for (int i = 0; i < 96; ++i) {
    results[i] = held[i];
  }
}

// Two products a result and instruction; both operands are 2^-4, so that every sum is exact for a long time.
__attribute__((target("avx512f,avx512bf16"))) void avx512_bf16(std::int64_t turns, double* results) {
  __m512i bits = _mm512_set1_epi16(0x3D80);  // 2^-4
  __m512 r[16];
  asm volatile("" : "+v"(bits));
#pragma GCC unroll 16
  for (__m512& chain : r) {
    chain = _mm512_setzero_ps();
    asm volatile("" : "+v"(chain));
  }
  const auto x = reinterpret_cast<__m512bh>(bits);
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 16
    for (__m512& chain : r) {
      chain = _mm512_dpbf16_ps(chain, x, x);
    }
  }
  float held[256];
#pragma GCC unroll 16
  for (int chain = 0; chain < 16; ++chain) {
    _mm512_storeu_ps(held + chain * 16, r[chain]);
  }
  for (int i = 0; i < 256; ++i) {
    results[i] = held[i];
  }
}

double expected_single(std::int64_t turns) {
  float r = 0;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    r = std::fma(r, factor_single, addend_single);
  }
  return r;
}

double expected_double(std::int64_t turns) {
  double r = 0;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    r = std::fma(r, factor_double, addend_double);
  }
  return r;
}

double expected_bf16(std::int64_t turns) {
  constexpr float product = 0.00390625F;  // 2^-8
  float r = 0;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    r = (r + product) + product;
  }
  return r;
}

// Sums wrap around as 32-bit integers do.
double expected_int8(std::int64_t turns) {
  const auto sum = static_cast<std::uint32_t>(turns) * static_cast<std::uint32_t>(4 * 113 * -91);
  return static_cast<std::int32_t>(sum);
}

bool has_avx512(const Features& f) { return f.avx512; }
bool has_avx2(const Features& f) { return f.avx2_fma; }
bool has_bf16(const Features& f) { return f.avx512_bf16; }
bool has_avx512_vnni(const Features& f) { return f.avx512_vnni; }
bool has_avx_vnni(const Features& f) { return f.avx_vnni; }

// Clang before 16 has 16-bit floats only where a whole file is compiled for a processor that has them.
#if !defined(__clang__) || __clang_major__ >= 16
__attribute__((target("avx512f,avx512bw,avx512vl,avx512fp16"))) void avx512_half(std::int64_t turns, double* results) {
  __m512h x = _mm512_set1_ph(static_cast<_Float16>(0.75F));
  __m512h y = _mm512_set1_ph(static_cast<_Float16>(0.3F));
  __m512h r[16];
  asm volatile("" : "+v"(x), "+v"(y));
#pragma GCC unroll 16
  for (__m512h& chain : r) {
    chain = _mm512_setzero_ph();
    asm volatile("" : "+v"(chain));
  }
  for (std::int64_t turn = 0; turn < turns; ++turn) {
#pragma GCC unroll 16
    for (__m512h& chain : r) {
      chain = _mm512_fmadd_ph(chain, x, y);
    }
  }
  _Float16 held[512];
#pragma GCC unroll 16
  for (int chain = 0; chain < 16; ++chain) {
    _mm512_storeu_ph(held + chain * 32, r[chain]);
  }
  for (int i = 0; i < 512; ++i) {
    results[i] = static_cast<double>(held[i]);
  }
}

// Product and sum of three FP16 numbers are exact in FP64, so this rounds once, as the instruction does.
double expected_half(std::int64_t turns) {
  const double y = decode(Element::fp16, encode(Element::fp16, 0.3));
  double r = 0;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    r = decode(Element::fp16, encode(Element::fp16, r * 0.75 + y));
  }
  return r;
}

bool has_half(const Features& f) { return f.avx512_fp16; }

std::vector<IssuePath> half_paths() {
  return {{Element::fp16, Element::fp16, "avx512-fp16 vfmadd", 32, 1, 16, has_half, avx512_half, expected_half}};
}
#else
std::vector<IssuePath> half_paths() { return {}; }
#endif

}  // namespace

std::vector<IssuePath> vendor_issue_paths() {
  std::vector<IssuePath> paths = {
      {Element::fp32, Element::fp32, "avx512 vfmadd", 16, 1, 16, has_avx512, avx512_single, expected_single},
      {Element::fp32, Element::fp32, "avx2 vfmadd", 8, 1, 12, has_avx2, avx2_single, expected_single},
      {Element::fp64, Element::fp64, "avx512 vfmadd", 8, 1, 16, has_avx512, avx512_double, expected_double},
      {Element::fp64, Element::fp64, "avx2 vfmadd", 4, 1, 12, has_avx2, avx2_double, expected_double},
      {Element::bf16, Element::fp32, "avx512-bf16 vdpbf16ps", 16, 2, 16, has_bf16, avx512_bf16, expected_bf16},
      {Element::int8, Element::int32, "avx512-vnni vpdpbusd", 16, 4, 16, has_avx512_vnni, avx512_int8, expected_int8},
      {Element::int8, Element::int32, "avx-vnni vpdpbusd", 8, 4, 12, has_avx_vnni, avx_vnni_int8, expected_int8},
  };
  for (const IssuePath& path : half_paths()) paths.push_back(path);
  return paths;
}

}  // namespace assay::cpu
#else
namespace assay::cpu {

std::vector<IssuePath> vendor_issue_paths() { return {}; }

}  // namespace assay::cpu
#endif
