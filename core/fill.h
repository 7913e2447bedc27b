// What a tensor holds before it is used: a pure function of (pattern, seed, index), equal to the last bit on every
// device. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/format.h"
#include "core/portable.h"

namespace assay {

enum class Pattern : std::uint8_t {
  exact,     // small integers in a range that depends on the element: sums are exact in the accumulator
  typical,   // normal-like with standard deviation 1 and full mantissas, from sums of integer hashes
  integer,   // small random integers: tame data, runs fast on power-limited devices; a labelled case of its own
  constant,  // one value everywhere
  probe,     // long mantissas, few large and many small: shows which precision multiplied and added
  zero,
};

std::string text(Pattern pattern);
std::optional<Pattern> parse_pattern(std::string_view name);

// A well-mixed word from a seed and an index (the finaliser of SplitMix64; Steele, Lea, Flood 2014).
PORTABLE inline std::uint64_t mix(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xD1342543DE82EF95U + (index + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

// An integer from 0 to range - 1 (range up to 2^32), by scaling 32 random bits: no division, the same everywhere.
PORTABLE inline std::int64_t uniform_below(std::uint64_t word, std::int64_t range) {
  return static_cast<std::int64_t>(((word >> 32U) * static_cast<std::uint64_t>(range)) >> 32U);
}

// The sum of four uniform 32-bit words, centred and scaled to standard deviation 1: near enough to a normal
// distribution (kurtosis 2.7), bounded by 3.47, and exact integer work up to one multiplication.
PORTABLE inline double normal_like(std::uint64_t seed, std::uint64_t index) {
  const std::uint64_t first = mix(seed, index);
  const std::uint64_t second = mix(first, index);
  const std::uint64_t sum = (first & 0xFFFFFFFFU) + (first >> 32U) + (second & 0xFFFFFFFFU) + (second >> 32U);
  const auto centred = static_cast<double>(static_cast<std::int64_t>(sum) - 8589934590);  // 4 (2^32 - 1) / 2
  return centred * 4.0327450436746636e-10;                                                // 1 / (2^32 sqrt(4 / 12))
}

// Positive, one in 64 from 1 to 2 and the others from 2^-6 to 2^-5, so that a sum of products is a few large addends
// and many small ones that a short accumulator loses. Of the 52 random mantissa bits those at 2^-3, 2^-4, 2^-8, 2^-11
// and 2^-24 are clear and those at 2^-5, 2^-9, 2^-12 and 2^-25 set: cutting or rounding to 2, 3, 7, 10 or 23 bits
// always makes the number smaller, by a quarter of a unit in the last place or more, so that the sum shows what
// multiplied.
PORTABLE inline double probe_value(std::uint64_t word) {
  constexpr std::uint64_t clear = (1ULL << 49U) | (1ULL << 48U) | (1ULL << 44U) | (1ULL << 41U) | (1ULL << 28U);
  constexpr std::uint64_t set = (1ULL << 47U) | (1ULL << 43U) | (1ULL << 40U) | (1ULL << 27U);
  const std::uint64_t mantissa = ((word >> 12U) & ~clear) | set;
  const double size = 1.0 + static_cast<double>(mantissa) * 2.220446049250313e-16;  // 52 bits behind the point
  return (word & 63U) == 0 ? size : size * 0.015625;
}

// The value at `index` before it is rounded to the element. `magnitude` bounds |value| for exact and integer (an
// integer
// >= 1, chosen by the caller from the accumulation length), and scales the others.
PORTABLE inline double fill_value(Pattern pattern, std::uint64_t seed, std::int64_t index, double magnitude) {
  const auto at = static_cast<std::uint64_t>(index);
  switch (pattern) {
    case Pattern::exact:
    case Pattern::integer: {
      const auto bound = static_cast<std::int64_t>(magnitude);
      return static_cast<double>(uniform_below(mix(seed, at), 2 * bound + 1) - bound);
    }
    case Pattern::typical:
      return normal_like(seed, at) * magnitude;
    case Pattern::probe:
      return probe_value(mix(seed, at)) * magnitude;
    case Pattern::constant:
      return magnitude;
    case Pattern::zero:
      break;
  }
  return 0;
}

}  // namespace assay
