// The team of one CPU thread: the lanes of its vector unit. Compiled once for each instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/team.h"

namespace assay::bodies {
// Nothing of this may be shared between the object files of different levels.
namespace {

// Memory that will be needed soon, asked for bit by bit while the team works on something else. The processor's own
// prefetching stops at the end of each 4 KiB page, and a row that is computed in several passes leaves the memory idle
// in all but the first.
class Fetch {
 public:
  Fetch() = default;

  // `bytes` at each of `count` places, spread over `blocks` calls of next().
  Fetch(const void* const* places, int count, std::int64_t bytes, std::int64_t blocks)
      : count_(count), bytes_(bytes), each_((bytes / blocks + 63) / 64 * 64) {
    for (int i = 0; i < count; ++i) places_[i] = static_cast<const char*>(places[i]);
  }

  // A call of its own: inlined, it makes the compiler split the loops around it by whether there is anything to fetch,
  // and the copies are then not vectorised.
  [[gnu::noinline]] void next() {
    const std::int64_t end = done_ + each_ < bytes_ ? done_ + each_ : bytes_;
    for (; done_ < end; done_ += 64) {
      for (int i = 0; i < count_; ++i) __builtin_prefetch(places_[i] + done_, 0, 2);
    }
  }

 private:
  const char* places_[3] = {nullptr, nullptr, nullptr};
  int count_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t each_ = 0;
  std::int64_t done_ = 0;
};

// Flattened: in a translation unit of this size the compiler stops inlining at some point, and a loop with a call in it
// is not vectorised, which makes it thirty times slower.
class VectorTeam {
 public:
  static constexpr std::int64_t block = 1024;

  VectorTeam() = default;
  VectorTeam(const void* const* places, int count, std::int64_t bytes, std::int64_t blocks)
      : fetch_(places, count, bytes, blocks) {}

  static std::int64_t blocks_of(std::int64_t n) { return (n + block - 1) / block; }

  template <class Function>
  [[gnu::flatten]] void each(std::int64_t n, Function f) const {
    for (std::int64_t begin = 0; begin < n; begin += block) {
      fetch_.next();
      const std::int64_t end = begin + block < n ? begin + block : n;
#pragma omp simd
      for (std::int64_t i = begin; i < end; ++i) f(i);
    }
  }

  template <class Function>
  [[gnu::flatten]] float sum(std::int64_t n, Function f) const {
    float total = 0;
    for (std::int64_t begin = 0; begin < n; begin += block) {
      fetch_.next();
      const std::int64_t end = begin + block < n ? begin + block : n;
      float here = 0;
#pragma omp simd reduction(+ : here)
      for (std::int64_t i = begin; i < end; ++i) here += f(i);
      total += here;
    }
    return total;
  }

  template <class First, class Second>
  [[gnu::flatten]] Two sums(std::int64_t n, First f, Second g) const {
    float first = 0;
    float second = 0;
    for (std::int64_t begin = 0; begin < n; begin += block) {
      fetch_.next();
      const std::int64_t end = begin + block < n ? begin + block : n;
#pragma omp simd reduction(+ : first, second)
      for (std::int64_t i = begin; i < end; ++i) {
        first += f(i);
        second += g(i);
      }
    }
    return {first, second};
  }

  template <class Function>
  [[gnu::flatten]] float max(std::int64_t n, Function f) const {
    float largest = -__builtin_inff();
    for (std::int64_t begin = 0; begin < n; begin += block) {
      fetch_.next();
      const std::int64_t end = begin + block < n ? begin + block : n;
#pragma omp simd reduction(max : largest)
      for (std::int64_t i = begin; i < end; ++i) {
        const float value = f(i);
        largest = value > largest ? value : largest;
      }
    }
    return largest;
  }

 private:
  mutable Fetch fetch_;
};

}  // namespace
}  // namespace assay::bodies
