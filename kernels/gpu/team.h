// The team of a thread block: its threads share the loops of a body, and add up by warps and through shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/team.h"
#include "lanes.h"

namespace assay::gpu {

// What kernels/team.h asks of a team. Right for any number of threads up to 1024 and any warp from 8 lanes. Results
// are equal in all threads to the last bit: each adds the same numbers in the same order.
class BlockTeam {
 public:
  // Shared memory that a team needs: one number a warp, and one for each thread of a last warp that is not full.
  static constexpr std::size_t shared_bytes = 160 * sizeof(double);

  // `shared` is aligned to 16 bytes, and nobody else's until the block has ended.
  __device__ explicit BlockTeam(std::byte* shared) : shared_(shared) {}

  template <class Function>
  __device__ void each(std::int64_t n, Function f) const {
    const std::int64_t step = vendor::threads_per_block();
    for (std::int64_t i = vendor::thread_index(); i < n; i += step) f(i);
    vendor::wait_for_block();
  }

  template <class Function>
  __device__ float sum(std::int64_t n, Function f) const {
    return add(own_sum(n, f));
  }

  template <class First, class Second>
  __device__ bodies::Two sums(std::int64_t n, First f, Second g) const {
    float first = 0;
    float second = 0;
    const std::int64_t step = vendor::threads_per_block();
    for (std::int64_t i = vendor::thread_index(); i < n; i += step) {
      first += f(i);
      second += g(i);
    }
    return {add(first), add(second)};
  }

  template <class Function>
  __device__ float max(std::int64_t n, Function f) const {
    float largest = -__builtin_inff();
    const std::int64_t step = vendor::threads_per_block();
    for (std::int64_t i = vendor::thread_index(); i < n; i += step) largest = larger(largest, f(i));
    return reduce(largest, [](float a, float b) { return larger(a, b); });
  }

  // The sum of one number a thread. Every thread must call it.
  template <class Number>
  __device__ Number add(Number own) const {
    return reduce(own, [](Number a, Number b) { return a + b; });
  }

 private:
  static __device__ float larger(float a, float b) { return b > a ? b : a; }

  // Four sums side by side, so that four loads are on their way.
  template <class Function>
  static __device__ float own_sum(std::int64_t n, Function f) {
    const std::int64_t step = vendor::threads_per_block();
    std::int64_t i = vendor::thread_index();
    float a = 0;
    float b = 0;
    float c = 0;
    float d = 0;
    for (; i + 3 * step < n; i += 4 * step) {
      a += f(i);
      b += f(i + step);
      c += f(i + 2 * step);
      d += f(i + 3 * step);
    }
    for (; i < n; i += step) a += f(i);
    return (a + b) + (c + d);
  }

  template <class Number, class Combine>
  __device__ Number reduce(Number value, Combine combine) const {
    const unsigned lanes = vendor::lanes_per_warp();
    const unsigned threads = vendor::threads_per_block();
    const unsigned thread = vendor::thread_index();
    const unsigned warps = threads / lanes;  // full ones: the lanes of another cannot exchange
    if (thread < warps * lanes) {
      for (unsigned mask = lanes / 2; mask > 0; mask /= 2) value = combine(value, vendor::exchange(value, mask));
    }
    if (threads == lanes) return value;
    Number* const parts = reinterpret_cast<Number*>(shared_);
    if (thread >= warps * lanes) {
      parts[warps + thread - warps * lanes] = value;
    } else if (thread % lanes == 0) {
      parts[thread / lanes] = value;
    }
    vendor::wait_for_block();
    const unsigned count = warps + threads - warps * lanes;
    Number total = parts[0];
    for (unsigned i = 1; i < count; ++i) total = combine(total, parts[i]);
    vendor::wait_for_block();  // the next reduction writes here again
    return total;
  }

  std::byte* shared_;
};

}  // namespace assay::gpu
