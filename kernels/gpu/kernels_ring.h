// The order in which a pointer chase visits its slots: a permutation that every thread can work out by itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/portable.h"

namespace assay::gpu {

// Numbers below 2^bits, the least power of two that is not less than `slots`.
struct RingOrder {
  std::uint64_t slots;
  std::uint32_t bits;
};

static inline PORTABLE RingOrder ring_order(std::uint64_t slots) {
  std::uint32_t bits = 1;
  while (bits < 63 && (std::uint64_t{1} << bits) < slots) ++bits;
  return {slots, bits};
}

// Each step can be undone in the numbers below 2^bits (x ^= x >> s, an odd factor, a summand), so the whole maps them
// one to one. The factors are those of SplitMix64's finaliser and of its counter.
static inline PORTABLE std::uint64_t scramble(std::uint64_t x, std::uint32_t bits) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const std::uint32_t shift = bits / 2 + 1;
  x = (x + 0x9E3779B97F4A7C15U) & mask;
  x ^= x >> shift;
  x = (x * 0xBF58476D1CE4E5B9U) & mask;
  x ^= x >> shift;
  x = (x * 0x94D049BB133111EBU) & mask;
  x ^= x >> shift;
  x = (x * 0xD1342543DE82EF95U) & mask;
  return x ^ (x >> shift);
}

// The slot at `place` of the tour, place < slots. What falls beyond the slots is sent on until it falls among them:
// along a cycle of a permutation, so that this too is one to one, and fewer than two steps on the average. Since the
// tour visits every slot once, "the slot after this one in the tour, and the first after the last" is one cycle.
static inline PORTABLE std::uint64_t ring_slot(const RingOrder& order, std::uint64_t place) {
  std::uint64_t slot = scramble(place, order.bits);
  while (slot >= order.slots) slot = scramble(slot, order.bits);
  return slot;
}

}  // namespace assay::gpu
