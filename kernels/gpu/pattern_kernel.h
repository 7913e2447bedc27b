// Words that depend on their address, written to memory and looked for again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "gpu/runtime.h"

namespace assay::gpu {

// What a check found; in memory of the device.
struct WrongWords {
  unsigned long long count = 0;
  std::int64_t one = -1;   // number of one wrong word
  std::uint64_t held = 0;  // what it held
};

// Word number `first + i` is mix(seed, first + i), or its complement.
struct WordPattern {
  std::uint64_t seed = 0;
  std::int64_t first = 0;
  bool complement = false;
};
std::uint64_t pattern_word(const WordPattern& pattern, std::int64_t index);  // on the host

void enqueue_write_words(std::uint64_t* words, std::int64_t count, const WordPattern& pattern, int device,
                         vendor::Stream stream);
void enqueue_check_words(const std::uint64_t* words, std::int64_t count, const WordPattern& pattern, WrongWords* wrong,
                         int device, vendor::Stream stream);

}  // namespace assay::gpu
