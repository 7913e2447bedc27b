// The team of one CPU thread: the lanes of its vector unit. Compiled once for each instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/team.h"

namespace assay::bodies {

// Four vectors of floats: the widest vector has __BIGGEST_ALIGNMENT__ bytes, and four sums at once hide the latency of
// an addition.
static constexpr int accumulators = __BIGGEST_ALIGNMENT__;

struct VectorTeam {
  template <class Function>
  void each(std::int64_t n, Function f) const {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) f(i);
  }

  template <class Function>
  float sum(std::int64_t n, Function f) const {
    float partial[accumulators] = {};
    std::int64_t i = 0;
    for (; i + accumulators <= n; i += accumulators) {
#pragma omp simd
      for (int lane = 0; lane < accumulators; ++lane) partial[lane] += f(i + lane);
    }
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (int lane = 0; lane < accumulators; ++lane) total += partial[lane];
#pragma omp simd reduction(+ : total)
    for (std::int64_t rest = i; rest < n; ++rest) total += f(rest);
    return total;
  }

  template <class First, class Second>
  Two sums(std::int64_t n, First f, Second g) const {
    float first = 0;
    float second = 0;
#pragma omp simd reduction(+ : first, second)
    for (std::int64_t i = 0; i < n; ++i) {
      first += f(i);
      second += g(i);
    }
    return {first, second};
  }

  template <class Function>
  float max(std::int64_t n, Function f) const {
    const float lowest = -__builtin_inff();
    float partial[accumulators];
    for (float& lane : partial) lane = lowest;
    std::int64_t i = 0;
    for (; i + accumulators <= n; i += accumulators) {
#pragma omp simd
      for (int lane = 0; lane < accumulators; ++lane) {
        const float value = f(i + lane);
        partial[lane] = value > partial[lane] ? value : partial[lane];
      }
    }
    float largest = lowest;
#pragma omp simd reduction(max : largest)
    for (int lane = 0; lane < accumulators; ++lane) largest = partial[lane] > largest ? partial[lane] : largest;
#pragma omp simd reduction(max : largest)
    for (std::int64_t rest = i; rest < n; ++rest) {
      const float value = f(rest);
      largest = value > largest ? value : largest;
    }
    return largest;
  }
};

}  // namespace assay::bodies
