// Stores that pass the caches by: one cache line at a time, by the widest instruction of the level.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace assay::cpu {

static constexpr std::int64_t line_bytes = 64;

// Both aligned to a line.
static inline void store_line(void* to, const void* from) {
#if defined(__AVX512F__)
  _mm512_stream_si512(static_cast<__m512i*>(to), _mm512_load_si512(from));
#elif defined(__AVX__)
  for (int i = 0; i < 2; ++i) {
    _mm256_stream_si256(static_cast<__m256i*>(to) + i, _mm256_load_si256(static_cast<const __m256i*>(from) + i));
  }
#elif defined(__SSE2__)
  for (int i = 0; i < 4; ++i) {
    _mm_stream_si128(static_cast<__m128i*>(to) + i, _mm_load_si128(static_cast<const __m128i*>(from) + i));
  }
#else
  __builtin_memcpy(to, from, line_bytes);
#endif
}

// Such stores are not ordered with others; the barrier that ends a parallel region does not order them either.
static inline void finish_lines() {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// y[i] = f(i) for i in [first, last).
template <class Storage, class Function>
[[gnu::flatten]] static inline void store_nontemporal(Storage* y, std::int64_t first, std::int64_t last, Function f) {
  constexpr std::int64_t line = line_bytes / static_cast<std::int64_t>(sizeof(Storage));
  std::int64_t i = first;
  for (; i < last && reinterpret_cast<std::uintptr_t>(y + i) % line_bytes != 0; ++i) y[i] = f(i);
  for (; i + line <= last; i += line) {
    alignas(line_bytes) Storage values[line];
#pragma omp simd
    for (std::int64_t lane = 0; lane < line; ++lane) values[lane] = f(i + lane);
    store_line(y + i, values);
  }
  for (; i < last; ++i) y[i] = f(i);
  finish_lines();
}

template <class Team, class Storage, class Function>
static inline void store_plain(Storage* y, std::int64_t first, std::int64_t last, Function f) {
  Team{}.each(last - first, [=](std::int64_t i) { y[first + i] = f(first + i); });
}

}  // namespace assay::cpu
