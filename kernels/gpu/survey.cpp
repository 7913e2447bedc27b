// Capacity and integrity.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/survey.h"

#include <algorithm>
#include <string>

#include "core/error.h"
#include "kernels/gpu/clock.h"
#include "kernels/gpu/handles.h"
#include "kernels/gpu/pattern_kernel.h"

namespace assay::gpu {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
const char* const by_allocation = "allocated on the device";

std::int64_t words_in(const Block& block) { return block.bytes() / 8; }
std::uint64_t* words_of(const Block& block) { return reinterpret_cast<std::uint64_t*>(block.data()); }

// Writes all blocks before it checks any, so that an address that leads to two places is found.
class MemoryTest {
 public:
  MemoryTest(const std::vector<Block>& blocks, int device)
      : blocks_(blocks), device_(device), found_({PlaceKind::device, device}, sizeof(WrongWords), device) {}

  void pass(WordPattern pattern) {
    const std::uint64_t seed = pattern.seed;
    const WrongWords none;
    vendor::copy(found_.data(), &none, sizeof none, stream_.get());
    std::int64_t first = 0;
    for (const Block& block : blocks_) {
      pattern = {seed, first, pattern.complement};
      enqueue_write_words(words_of(block), words_in(block), pattern, device_, stream_.get());
      first += words_in(block);
    }
    first = 0;
    for (const Block& block : blocks_) {
      pattern = {seed, first, pattern.complement};
      enqueue_check_words(words_of(block), words_in(block), pattern, reinterpret_cast<WrongWords*>(found_.data()),
                          device_, stream_.get());
      first += words_in(block);
    }
    WrongWords wrong;
    vendor::copy(&wrong, found_.data(), sizeof wrong, stream_.get());
    vendor::synchronise(stream_.get());
    if (wrong.count != 0) fail(wrong, first, {seed, 0, pattern.complement});
  }

 private:
  [[noreturn]] static void fail(const WrongWords& wrong, std::int64_t words, const WordPattern& pattern) {
    throw Error("the device's memory is faulty: of " + std::to_string(words) + " words of 8 bytes, " +
                std::to_string(wrong.count) + " did not hold what was written; word " + std::to_string(wrong.one) +
                " differs in bits " + std::to_string(wrong.held ^ pattern_word(pattern, wrong.one)));
  }

  const std::vector<Block>& blocks_;
  int device_;
  StreamHandle stream_ = new_stream();
  Block found_;
};

}  // namespace

Fact number_fact(const std::string& name, double value, const std::string& unit, const std::string& reason,
                 const std::string& source) {
  Fact fact;
  fact.name = name;
  fact.value = value;
  fact.unit = unit;
  fact.reason = reason;
  fact.source = source;
  return fact;
}

SurveyLimits survey_limits(std::int64_t total, bool integrated) {
  SurveyLimits limits;
  limits.share = integrated ? 0.6 : 1;
  limits.margin = std::clamp(total / 64, 64 * mebibyte, 1024 * mebibyte);
  limits.step = std::clamp(total / 32 / mebibyte * mebibyte, 16 * mebibyte, 4096 * mebibyte);
  limits.clock = monotonic_seconds;
  return limits;
}

Taken take_memory(const SurveyLimits& limits, int device) {
  Taken taken;
  const double started = limits.clock();
  const std::int64_t free = vendor::memory_state().free;
  const auto most = static_cast<std::int64_t>(static_cast<double>(free) * limits.share);
  std::int64_t step = limits.step;
  while (true) {
    if (limits.clock() - started >= limits.seconds) {
      taken.stopped = "stopped because its time was over";
      return taken;
    }
    const std::int64_t left = std::min(vendor::memory_state().free - limits.margin, most - taken.bytes);
    if (left < limits.least_step) {
      taken.stopped = limits.share < 1 ? "stopped so as not to endanger other programs, whose memory this is too"
                                       : "stopped with " + std::to_string(limits.margin / mebibyte) +
                                             " MiB left, so that nothing else fails";
      return taken;
    }
    const std::int64_t size = std::min(step, left / limits.least_step * limits.least_step);
    try {
      taken.blocks.emplace_back(Home{PlaceKind::device, device}, size, device);
      taken.bytes += size;
    } catch (const OutOfMemory& error) {
      taken.stopped = error.what();
      step = size / 2 / limits.least_step * limits.least_step;
      if (step < limits.least_step) return taken;
    }
  }
}

std::vector<Fact> survey_capacity(const SurveyLimits& limits, int device) {
  const vendor::MemoryState before = vendor::memory_state();
  const Taken taken = take_memory(limits, device);
  std::vector<Fact> facts;
  facts.push_back(
      number_fact("allocatable_bytes", static_cast<double>(taken.bytes), "bytes", taken.stopped, by_allocation));
  facts.push_back(number_fact("free_bytes", static_cast<double>(before.free), "bytes",
                              "what the driver called free before", "driver"));
  facts.push_back(number_fact("memory_total_bytes", static_cast<double>(before.total), "bytes",
                              "what the driver says the device has", "driver"));
  return facts;
}

std::vector<Fact> survey_integrity(const SurveyLimits& limits, int device) {
  const Taken taken = take_memory(limits, device);
  if (taken.blocks.empty()) throw OutOfMemory("testing the device's memory: none can be had; " + taken.stopped);
  MemoryTest test(taken.blocks, device);
  const double started = limits.clock();
  test.pass({0x9E3779B97F4A7C15U, 0, false});
  test.pass({0x9E3779B97F4A7C15U, 0, true});  // every bit has then been both 0 and 1
  const double seconds = limits.clock() - started;
  std::vector<Fact> facts;
  facts.push_back(number_fact("tested_bytes", static_cast<double>(taken.bytes), "bytes",
                              "written with words that depend on their address, then with the complement, and each "
                              "found again",
                              by_allocation));
  facts.push_back(number_fact("wrong_words", 0, "", "of 8 bytes", by_allocation));
  if (seconds > 0) {
    facts.push_back(number_fact("test_bytes_per_second", 4 * static_cast<double>(taken.bytes) / seconds,
                                "bytes_per_second", "two times written and two times read", by_allocation));
  }
  return facts;
}

}  // namespace assay::gpu
