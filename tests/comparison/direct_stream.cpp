// Plain OpenMP triads.
// SPDX-License-Identifier: Apache-2.0
#include "tests/comparison/direct_stream.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay::comparison {

void plain_triad(const float* x, const float* y, float* z, std::int64_t count, int threads) {
#pragma omp parallel for simd schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < count; ++i) {
    z[i] = x[i] + 3.0F * y[i];
  }
}

void nontemporal_triad(const float* x, const float* y, float* z, std::int64_t count, int threads) {
#if defined(__AVX512F__)
  const __m512 s = _mm512_set1_ps(3.0F);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < count; i += 16) {
    _mm512_stream_ps(z + i, _mm512_fmadd_ps(s, _mm512_loadu_ps(y + i), _mm512_loadu_ps(x + i)));
  }
#elif defined(__x86_64__)
  const __m128 s = _mm_set1_ps(3.0F);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < count; i += 4) {
    _mm_stream_ps(z + i, _mm_add_ps(_mm_mul_ps(s, _mm_loadu_ps(y + i)), _mm_loadu_ps(x + i)));
  }
#else
  plain_triad(x, y, z, count, threads);
#endif
}

}  // namespace assay::comparison
