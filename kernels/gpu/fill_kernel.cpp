// The kernel that fills.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/fill_kernel.h"

#include <algorithm>

#include "core/fill.h"
#include "core/number.h"
#include "vendor.h"

namespace assay::gpu {
namespace {

constexpr unsigned block_threads = 256;

__device__ inline double value_at(const FillRange& range, std::int64_t index) {
  switch (range.initial) {
    case Initial::pattern:
      return fill_value(range.pattern, range.seed, index, range.magnitude);
    case Initial::index:
      return static_cast<double>(uniform_below(mix(range.seed, static_cast<std::uint64_t>(index)), range.bound));
    case Initial::one:
      return 1;
    case Initial::zero:
    case Initial::rope_table:  // by the host: its cosines must be the same everywhere
    case Initial::adam_scalars:
    case Initial::training_scalars:
    case Initial::constant:
    case Initial::position:
    case Initial::last_position:
      break;
  }
  return 0;
}

template <class Word>
__global__ static void fill_words(FillRange range, Word* to) {
  const std::int64_t stride = static_cast<std::int64_t>(vendor::blocks()) * vendor::threads_per_block();
  std::int64_t i =
      static_cast<std::int64_t>(vendor::block_index()) * vendor::threads_per_block() + vendor::thread_index();
  for (; i < range.count; i += stride) {
    to[i] = static_cast<Word>(encode(range.element, value_at(range, range.first + i)));
  }
}

__global__ static void fill_nibbles(FillRange range, std::uint8_t* to) {
  const std::int64_t row_bytes = (range.columns + 1) / 2;
  const std::int64_t stride = static_cast<std::int64_t>(vendor::blocks()) * vendor::threads_per_block();
  std::int64_t i =
      static_cast<std::int64_t>(vendor::block_index()) * vendor::threads_per_block() + vendor::thread_index();
  for (; i < range.count; i += stride) {
    const std::int64_t row = (range.first + i) / row_bytes;
    const std::int64_t column = (range.first + i) % row_bytes * 2;
    const std::int64_t index = row * range.columns + column;
    const std::uint64_t low = encode(range.element, value_at(range, index));
    const std::uint64_t high = column + 1 < range.columns ? encode(range.element, value_at(range, index + 1)) : 0;
    to[i] = static_cast<std::uint8_t>(low | (high << 4U));
  }
}

template <class Word>
void start(void (*kernel)(FillRange, Word*), const FillRange& range, std::byte* to, int device, vendor::Stream stream) {
  const std::int64_t needed = (range.count + block_threads - 1) / block_threads;
  const std::int64_t most = std::int64_t{16} * vendor::multiprocessors(device);
  vendor::launch(kernel, static_cast<unsigned>(std::min(needed, most)), block_threads, 0, stream, range,
                 reinterpret_cast<Word*>(to));
}

}  // namespace

void enqueue_fill(const FillRange& range, std::byte* to, int device, vendor::Stream stream) {
  if (range.count <= 0) return;
  switch (bits(range.element)) {
    case 64:
      return start(fill_words<std::uint64_t>, range, to, device, stream);
    case 32:
      return start(fill_words<std::uint32_t>, range, to, device, stream);
    case 16:
      return start(fill_words<std::uint16_t>, range, to, device, stream);
    case 8:
      return start(fill_words<std::uint8_t>, range, to, device, stream);
    default:
      return start(fill_nibbles, range, to, device, stream);
  }
}

}  // namespace assay::gpu
