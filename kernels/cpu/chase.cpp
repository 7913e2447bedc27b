// Pointer chase: building the ring, proving that it is one cycle, and walking it.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/chase.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/fill.h"
#include "kernels/cpu/memory.h"

namespace assay::cpu {
namespace {

constexpr std::int64_t line = 64;

std::int64_t slot_count(const Chase& chase) { return chase.bytes / chase.stride; }

std::int64_t load(const std::byte* ring, std::int64_t offset) {
  std::int64_t next = 0;
  std::memcpy(&next, ring + offset, sizeof next);
  return next;
}

void store(std::byte* ring, std::int64_t offset, std::int64_t next) { std::memcpy(ring + offset, &next, sizeof next); }

// The loads, eight to a turn. Each needs the value of the one before, so nothing can be done ahead.
std::int64_t follow(const std::byte* ring, std::int64_t offset, std::int64_t loads) {
  std::int64_t left = loads;
  for (; left >= 8; left -= 8) {
    offset = load(ring, offset);
    offset = load(ring, offset);
    offset = load(ring, offset);
    offset = load(ring, offset);
    offset = load(ring, offset);
    offset = load(ring, offset);
    offset = load(ring, offset);
    offset = load(ring, offset);
  }
  for (; left > 0; --left) {
    offset = load(ring, offset);
  }
  return offset;
}

class ChaseKernel : public Kernel {
 public:
  ChaseKernel(const Chase& chase, std::byte* ring) : chase_(chase), ring_(ring) {}

  // Goes on where the last run ended, so that short runs too see the whole ring.
  void run() override { at_ = follow(ring_, at_, chase_.loads); }

  void refresh() override {
    at_ = 0;
    build_ring(ring_, slot_count(chase_), chase_.stride);
    check_ring(ring_, slot_count(chase_), chase_.stride);
  }

  std::string method() const override { return "own random cycle, one thread"; }

 private:
  Chase chase_;
  std::byte* ring_;
  std::int64_t at_ = 0;
};

}  // namespace

// Sattolo's algorithm gives a uniformly random cycle; done in place, the slots' own memory holds the permutation.
void build_ring(std::byte* ring, std::int64_t slots, std::int64_t stride) {
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    store(ring, slot * stride, slot * stride);
  }
  for (std::int64_t slot = slots - 1; slot > 0; --slot) {
    const std::int64_t other = static_cast<std::int64_t>(
        (static_cast<unsigned __int128>(mix(1, static_cast<std::uint64_t>(slot))) * static_cast<std::uint64_t>(slot)) >>
        64U);
    const std::int64_t mine = load(ring, slot * stride);
    store(ring, slot * stride, load(ring, other * stride));
    store(ring, other * stride, mine);
  }
}

void check_ring(const std::byte* ring, std::int64_t slots, std::int64_t stride) {
  const auto broken = [&](const std::string& how) {
    return Error("the ring of " + std::to_string(slots) + " slots for the pointer chase " + how);
  };
  // Every slot's successor must be a slot, and no two may share one.
  std::vector<bool> entered(static_cast<std::size_t>(slots), false);
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    const std::int64_t next = load(ring, slot * stride);
    if (next < 0 || next % stride != 0 || next / stride >= slots) {
      throw broken("points outside of itself");
    }
    if (entered[static_cast<std::size_t>(next / stride)]) {
      throw broken("enters a slot twice");
    }
    entered[static_cast<std::size_t>(next / stride)] = true;
  }
  // So it is a permutation. Walkers that start at different slots and stop where another started cover whole cycles
  // only; it is one cycle where following the walkers' ends from the first visits them all and the steps add up.
  const std::int64_t walkers = std::min<std::int64_t>(slots, 64);
  std::vector<bool> start(static_cast<std::size_t>(slots), false);
  std::vector<std::int64_t> at;
  for (std::int64_t walker = 0; walker < walkers; ++walker) {
    at.push_back(portion(slots, static_cast<int>(walker), static_cast<int>(walkers)).first);
    start[static_cast<std::size_t>(at.back())] = true;
  }
  const std::vector<std::int64_t> starts = at;
  std::vector<bool> arrived(at.size(), false);
  std::int64_t steps = 0;
  for (std::size_t walking = at.size(); walking > 0;) {
    for (std::size_t walker = 0; walker < at.size(); ++walker) {
      if (!arrived[walker]) {
        at[walker] = load(ring, at[walker] * stride) / stride;
        ++steps;
        arrived[walker] = start[static_cast<std::size_t>(at[walker])];
        walking -= arrived[walker] ? 1U : 0U;
      }
    }
  }
  std::size_t visited = 0;
  std::int64_t where = starts.front();
  do {
    const auto found = std::find(starts.begin(), starts.end(), where) - starts.begin();
    where = at[static_cast<std::size_t>(found)];
    ++visited;
  } while (where != starts.front() && visited <= starts.size());
  if (steps != slots || visited != starts.size()) {
    throw broken("is not one cycle through every slot");
  }
}

Support chase_support(const Chase& chase) {
  if (chase.stride < line || chase.stride % 8 != 0) {
    return {false,
            "the slots of a pointer chase are at least one cache line of 64 bytes apart here, and a multiple of 8"};
  }
  if (slot_count(chase) < 2) {
    return {false, "a pointer chase needs at least two slots"};
  }
  return {true, ""};
}

std::unique_ptr<Kernel> make_chase_kernel(const Chase& chase, const Pointers& operands, int) {
  return std::make_unique<ChaseKernel>(chase, operands.at(0));
}

}  // namespace assay::cpu
