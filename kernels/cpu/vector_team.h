// The team of one CPU thread: the lanes of its vector unit. Compiled once for each instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/convert.h"
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
  static constexpr std::int64_t block = 512;

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

  // Arrays of bf16 (kernels/map.h) two at a time, as the halves of a 32-bit word. Each half becomes a float by a shift
  // or a mask, and two floats become a word as easily; bringing all elements of a vector into order first would take
  // most of the time, the vector unit having one place for all that moves between lanes. The halves of a block are thus
  // in two vectors: slots run through the low ones, then through the high ones.
  static constexpr bool knows_bf16 = true;

  template <class Function, class... Inputs>
  [[gnu::flatten]] void map_bf16(std::int64_t n, Bf16* y, Function f, const Inputs*... x) const {
    for (std::int64_t begin = 0; begin < n; begin += block) {
      fetch_.next();
      const std::int64_t end = begin + block < n ? begin + block : n;
      const std::int64_t words = (end - begin) / 2;
#pragma omp simd
      for (std::int64_t word = 0; word < words; ++word) {
        const float low = f(begin + word, low_of(x + begin, word)...);
        const float high = f(begin + words + word, high_of(x + begin, word)...);
        store_pair(y + begin, word, low, high);
      }
      if ((end - begin) % 2 != 0) y[end - 1] = round_to_bf16(f(end - 1, to_float(x[end - 1])...));
    }
  }

  template <class Function, class... Inputs>
  [[gnu::flatten]] float sum_bf16(std::int64_t n, Function f, const Inputs*... x) const {
    float total = 0;
    for (std::int64_t begin = 0; begin < n; begin += block) {
      fetch_.next();
      const std::int64_t end = begin + block < n ? begin + block : n;
      const std::int64_t words = (end - begin) / 2;
      float low = 0;
      float high = 0;
#pragma omp simd reduction(+ : low, high)
      for (std::int64_t word = 0; word < words; ++word) {
        low += f(begin + word, low_of(x + begin, word)...);
        high += f(begin + words + word, high_of(x + begin, word)...);
      }
      if ((end - begin) % 2 != 0) low += f(end - 1, to_float(x[end - 1])...);
      total += low + high;
    }
    return total;
  }

  template <class First, class Second, class... Inputs>
  [[gnu::flatten]] Two sums_bf16(std::int64_t n, First f, Second g, const Inputs*... x) const {
    Two total{0, 0};
    for (std::int64_t begin = 0; begin < n; begin += block) {
      fetch_.next();
      const std::int64_t end = begin + block < n ? begin + block : n;
      const std::int64_t words = (end - begin) / 2;
      float first = 0;
      float second = 0;
#pragma omp simd reduction(+ : first, second)
      for (std::int64_t word = 0; word < words; ++word) {
        first += f(begin + word, low_of(x + begin, word)...);
        second += g(begin + word, low_of(x + begin, word)...);
        first += f(begin + words + word, high_of(x + begin, word)...);
        second += g(begin + words + word, high_of(x + begin, word)...);
      }
      if ((end - begin) % 2 != 0) {
        first += f(end - 1, to_float(x[end - 1])...);
        second += g(end - 1, to_float(x[end - 1])...);
      }
      total = {total.first + first, total.second + second};
    }
    return total;
  }

  [[gnu::flatten]] float max_bf16(std::int64_t n, const Bf16* x) const {
    float largest = -__builtin_inff();
    for (std::int64_t begin = 0; begin < n; begin += block) {
      fetch_.next();
      const std::int64_t end = begin + block < n ? begin + block : n;
      const std::int64_t words = (end - begin) / 2;
#pragma omp simd reduction(max : largest)
      for (std::int64_t word = 0; word < words; ++word) {
        const float low = low_of(x + begin, word);
        const float high = high_of(x + begin, word);
        const float larger = low > high ? low : high;
        largest = larger > largest ? larger : largest;
      }
      if ((end - begin) % 2 != 0) {
        const float last = to_float(x[end - 1]);
        largest = last > largest ? last : largest;
      }
    }
    return largest;
  }

 private:
  static std::uint32_t word_of(const Bf16* x, std::int64_t word) {
    std::uint32_t bits;
    memcpy(&bits, x + 2 * word, sizeof bits);
    return bits;
  }
  static float low_of(const Bf16* x, std::int64_t word) { return float_of(word_of(x, word) << 16); }
  static float high_of(const Bf16* x, std::int64_t word) { return float_of(word_of(x, word) & 0xffff0000u); }
  static void store_pair(Bf16* y, std::int64_t word, float low, float high) {
    const std::uint32_t bits = (bf16_in_high_half(low) >> 16) | (bf16_in_high_half(high) & 0xffff0000u);
    memcpy(y + 2 * word, &bits, sizeof bits);
  }

  mutable Fetch fetch_;
};

}  // namespace
}  // namespace assay::bodies
