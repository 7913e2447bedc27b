// How the allocator rounds, what it costs, and how it holds up when many allocations came and went.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "kernels/gpu/handles.h"
#include "kernels/gpu/survey.h"

namespace assay::gpu {
namespace {

const char* const by_driver = "the driver's count of free memory";
const char* const by_clock = "host clock";

Block on_device(std::int64_t bytes, int device) { return {{PlaceKind::device, device}, bytes, device}; }

// What `count` allocations of `bytes` take from the device, each.
double taken_each(int count, std::int64_t bytes, int device) {
  const std::int64_t before = vendor::memory_state().free;
  std::vector<Block> blocks;
  for (int i = 0; i < count; ++i) blocks.push_back(on_device(bytes, device));
  return static_cast<double>(before - vendor::memory_state().free) / count;
}

// The smallest distance between small neighbours.
std::int64_t address_step(int device) {
  std::vector<Block> blocks;
  std::vector<std::uintptr_t> addresses;
  for (int i = 0; i < 16; ++i) {
    blocks.push_back(on_device(1, device));
    addresses.push_back(reinterpret_cast<std::uintptr_t>(blocks.back().data()));
  }
  std::sort(addresses.begin(), addresses.end());
  std::uintptr_t least = addresses[1] - addresses[0];
  for (std::size_t i = 2; i < addresses.size(); ++i) least = std::min(least, addresses[i] - addresses[i - 1]);
  return static_cast<std::int64_t>(least);
}

// The largest block that can be had, to one part in a hundred.
std::int64_t largest_block(const SurveyLimits& limits, int device) {
  std::int64_t most = vendor::memory_state().free - limits.margin;
  std::int64_t least = 0;
  while (most - least > std::max(limits.least_step, most / 100)) {
    const std::int64_t middle = least + (most - least + 1) / 2;
    try {
      on_device(middle, device);
      least = middle;
    } catch (const OutOfMemory&) {
      most = middle;
    }
  }
  return least;
}

// Sizes as a training step has them: few large ones (weights, logits), more that are smaller, many that are tiny.
std::vector<Block> realistic_allocations(const SurveyLimits& limits, int device) {
  constexpr std::int64_t divisors[] = {64, 4096, 512, 65536, 256, 1024, 4096, 128};
  constexpr int most = 400;
  const std::int64_t free = vendor::memory_state().free;
  const std::int64_t enough = std::min(free - limits.margin, free / 4 * 3);
  std::vector<Block> blocks;
  std::int64_t total = 0;
  for (int i = 0; i < most; ++i) {
    const std::int64_t size = std::max<std::int64_t>(512, free / divisors[i % 8]) + 512 * (i % 7);
    if (total + size > enough) break;
    blocks.push_back(on_device(size, device));
    total += size;
  }
  return blocks;
}

void add_fragmentation(std::vector<Fact>& facts, const SurveyLimits& limits, int device) {
  std::vector<Block> blocks = realistic_allocations(limits, device);
  std::vector<Block> kept;
  for (std::size_t i = 0; i < blocks.size(); i += 2) kept.push_back(std::move(blocks[i]));
  const std::size_t count = blocks.size();
  blocks.clear();
  const std::int64_t free = std::max<std::int64_t>(1, vendor::memory_state().free - limits.margin);
  const std::int64_t largest = largest_block(limits, device);
  facts.push_back(number_fact(
      "largest_block_after_mixed_use_bytes", static_cast<double>(largest), "bytes",
      "in one piece, after every second of " + std::to_string(count) + " allocations of many sizes was released",
      "allocated on the device"));
  // Less than the search can tell is nothing.
  const std::int64_t lost = free - largest <= std::max(limits.least_step, free / 50) ? 0 : free - largest;
  facts.push_back(number_fact("fragmentation_share", static_cast<double>(lost) / static_cast<double>(free), "",
                              "of the free memory that no single allocation could get", "allocated on the device"));
}

void add_costs(std::vector<Fact>& facts, const SurveyLimits& limits) {
  constexpr int rounds = 20;
  constexpr std::int64_t bytes = std::int64_t{1} << 20;
  const StreamHandle stream = new_stream();
  double started = 0;
  for (int i = -1; i < rounds; ++i) {  // the first one grows the pool
    if (i == 0) started = limits.clock();
    void* memory = vendor::allocate_in_order(bytes, stream.get());
    try {
      vendor::release_in_order(memory, stream.get());
    } catch (...) {
      vendor::release(memory);
      throw;
    }
    vendor::synchronise(stream.get());
  }
  facts.push_back(number_fact("stream_ordered_allocation_seconds", (limits.clock() - started) / rounds, "seconds",
                              "1 MiB from the stream-ordered allocator, released and waited for", by_clock));
}

}  // namespace

std::vector<Fact> survey_rounding(const SurveyLimits& limits, int device) {
  std::vector<Fact> facts;
  const std::int64_t step = address_step(device);
  facts.push_back(number_fact("allocation_step_bytes", static_cast<double>(step), "bytes",
                              "between the addresses of one-byte allocations", "allocated on the device"));
  facts.push_back(number_fact("one_byte_takes_bytes", taken_each(1, 1, device), "bytes",
                              "of the device's memory, for the first small allocation", by_driver));
  const std::int64_t odd = (std::int64_t{2} << 20) + 1;
  facts.push_back(number_fact("odd_block_takes_bytes", taken_each(8, odd, device), "bytes",
                              "of the device's memory, for an allocation of 2 MiB and one byte", by_driver));
  add_fragmentation(facts, limits, device);
  try {
    add_costs(facts, limits);
  } catch (const Unsupported& error) {
    Fact fact;
    fact.name = "stream_ordered_allocation_seconds";
    fact.unit = "seconds";
    fact.reason = error.what();
    facts.push_back(fact);
  }
  return facts;
}

}  // namespace assay::gpu
