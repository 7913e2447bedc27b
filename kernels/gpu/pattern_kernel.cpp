// The kernels of the memory test.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/pattern_kernel.h"

#include <algorithm>

#include "core/fill.h"
#include "vendor.h"

namespace assay::gpu {
namespace {

constexpr unsigned block_threads = 256;

PORTABLE inline std::uint64_t word_of(const WordPattern& pattern, std::int64_t index) {
  const std::uint64_t word = mix(pattern.seed, static_cast<std::uint64_t>(pattern.first + index));
  return pattern.complement ? ~word : word;
}

__device__ inline std::int64_t own_index() {
  return static_cast<std::int64_t>(vendor::block_index()) * vendor::threads_per_block() + vendor::thread_index();
}
__device__ inline std::int64_t all_threads() {
  return static_cast<std::int64_t>(vendor::blocks()) * vendor::threads_per_block();
}

__global__ static void write_words(std::uint64_t* words, std::int64_t count, WordPattern pattern) {
  for (std::int64_t i = own_index(); i < count; i += all_threads()) words[i] = word_of(pattern, i);
}

__global__ static void check_words(const std::uint64_t* words, std::int64_t count, WordPattern pattern,
                                   WrongWords* wrong) {
  for (std::int64_t i = own_index(); i < count; i += all_threads()) {
    const std::uint64_t held = words[i];
    if (held == word_of(pattern, i)) continue;
    vendor::add_atomically(&wrong->count, 1ULL);
    wrong->one = pattern.first + i;  // any of them will do
    wrong->held = held;
  }
}

unsigned blocks_for(std::int64_t count, int device) {
  const std::int64_t needed = (count + block_threads - 1) / block_threads;
  return static_cast<unsigned>(std::clamp<std::int64_t>(needed, 1, std::int64_t{16} * vendor::multiprocessors(device)));
}

}  // namespace

std::uint64_t pattern_word(const WordPattern& pattern, std::int64_t index) { return word_of(pattern, index); }

void enqueue_write_words(std::uint64_t* words, std::int64_t count, const WordPattern& pattern, int device,
                         vendor::Stream stream) {
  vendor::launch(write_words, blocks_for(count, device), block_threads, 0, stream, words, count, pattern);
}

void enqueue_check_words(const std::uint64_t* words, std::int64_t count, const WordPattern& pattern, WrongWords* wrong,
                         int device, vendor::Stream stream) {
  vendor::launch(check_words, blocks_for(count, device), block_threads, 0, stream, words, count, pattern, wrong);
}

}  // namespace assay::gpu
