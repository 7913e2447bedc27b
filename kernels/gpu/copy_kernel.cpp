// The kernel that copies.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/copy_kernel.h"

#include <algorithm>

#include "vendor.h"

namespace assay::gpu {
namespace {

constexpr unsigned block_threads = 512;
constexpr std::int64_t unrolled = 4;  // loads in flight a thread: a bus has a latency of microseconds

struct alignas(16) Wide {
  std::uint64_t low;
  std::uint64_t high;
};

__global__ static void copy_words(Wide* to, const Wide* from, std::int64_t words, std::uint8_t* tail_to,
                                  const std::uint8_t* tail_from, int tail) {
  const std::int64_t threads = static_cast<std::int64_t>(vendor::blocks()) * vendor::threads_per_block();
  const std::int64_t own =
      static_cast<std::int64_t>(vendor::block_index()) * vendor::threads_per_block() + vendor::thread_index();
  std::int64_t i = own;
  for (; i + (unrolled - 1) * threads < words; i += unrolled * threads) {
    Wide held[unrolled];
    for (std::int64_t part = 0; part < unrolled; ++part) held[part] = from[i + part * threads];
    for (std::int64_t part = 0; part < unrolled; ++part) to[i + part * threads] = held[part];
  }
  for (; i < words; i += threads) to[i] = from[i];
  if (own < tail) tail_to[own] = tail_from[own];
}

}  // namespace

void enqueue_copy(std::byte* to, const std::byte* from, std::int64_t bytes, int device, vendor::Stream stream) {
  const std::int64_t words = bytes / 16;
  const std::int64_t needed = std::max<std::int64_t>(1, (words + block_threads - 1) / block_threads);
  const std::int64_t most = std::int64_t{4} * vendor::multiprocessors(device);
  // No thread count may be smaller than the tail, which has at most 15 bytes.
  vendor::launch(copy_words, static_cast<unsigned>(std::min(needed, most)), block_threads, 0, stream,
                 reinterpret_cast<Wide*>(to), reinterpret_cast<const Wide*>(from), words,
                 reinterpret_cast<std::uint8_t*>(to + words * 16),
                 reinterpret_cast<const std::uint8_t*>(from + words * 16), static_cast<int>(bytes % 16));
}

}  // namespace assay::gpu
