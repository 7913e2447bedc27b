// What the kernels of all families share: storage by format, grids, wide loads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/error.h"
#include "kernels/gpu/kernels_half.h"
#include "kernels/gpu/kernels_prepared.h"
#include "kernels/gpu/team.h"
#include "vendor.h"

namespace assay::gpu {

// Host side ---------------------------------------------------------------------------------------------------------

template <class Storage>
Storage* as(std::byte* operand) {
  return reinterpret_cast<Storage*>(operand);
}

inline std::int64_t ceiling(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// f(Storage{}) for the formats whose arithmetic is in float.
template <class Function>
auto with_storage(Element element, Function f) {
  if (element == Element::bf16) return f(bodies::Brain{});
  if (element == Element::fp16) return f(bodies::Half{});
  if (element != Element::fp32) throw Unsupported("the GPU's own kernels do not compute with " + text(element));
  return f(float{});
}

// Blocks that cover `units` pieces of work; kernels go round again where even the largest grid is too small.
inline unsigned grid_over(std::int64_t units) {
  constexpr std::int64_t largest = vendor::most_blocks();
  return static_cast<unsigned>(units < 1 ? 1 : units > largest ? largest : units);
}

// As many blocks as the device holds at a time, but not more than there are units.
template <class KernelFunction>
unsigned resident_grid(KernelFunction kernel, unsigned threads, std::size_t shared, std::int64_t units,
                       const BodySetup& setup) {
  const std::int64_t room =
      std::int64_t{vendor::resident_blocks(kernel, threads, shared)} * vendor::multiprocessors(setup.kernel.device);
  return grid_over(units < room ? units : room);
}

// Device side -------------------------------------------------------------------------------------------------------

// `width` elements beside each other, moved at once. 16 bytes of them are the widest load.
template <class Storage, int width>
struct alignas(sizeof(Storage) * width) Pack {
  Storage at[width];
};
template <class Storage>
static constexpr int wide = static_cast<int>(16 / sizeof(Storage));

template <int width, class Storage>
static inline __device__ Pack<Storage, width> load(const Storage* from) {
  return *reinterpret_cast<const Pack<Storage, width>*>(from);
}

template <class Storage, int width>
static inline __device__ void store(Storage* to, const Pack<Storage, width>& pack) {
  *reinterpret_cast<Pack<Storage, width>*>(to) = pack;
}

// By a store that is not kept in caches, where a pack is as wide as such a store.
template <class Storage, int width>
static inline __device__ void store(Storage* to, const Pack<Storage, width>& pack, bool streaming) {
  if constexpr (sizeof pack == sizeof(vendor::Word16)) {
    if (streaming) {
      vendor::Word16 word;
      memcpy(&word, &pack, sizeof word);
      vendor::store_streaming(reinterpret_cast<vendor::Word16*>(to), word);
      return;
    }
  }
  store(to, pack);
}

// use(c, load(c)) for the chunks c below `chunks` that are this thread's. A block takes `unroll` chunks a thread at a
// time, all loaded before the first is used.
template <int unroll, class Load, class Use>
static inline __device__ void over_chunks(std::int64_t chunks, Load load_chunk, Use use) {
  const std::int64_t threads = vendor::threads_per_block();
  const std::int64_t tile = threads * unroll;
  for (std::int64_t first = vendor::block_index() * tile; first < chunks; first += vendor::blocks() * tile) {
    const std::int64_t own = first + vendor::thread_index();
    if (first + tile <= chunks) {
      decltype(load_chunk(own)) loaded[unroll];
      for (int u = 0; u < unroll; ++u) loaded[u] = load_chunk(own + u * threads);
      for (int u = 0; u < unroll; ++u) use(own + u * threads, loaded[u]);
    } else {
      for (std::int64_t c = own; c < chunks; c += threads) use(c, load_chunk(c));
    }
  }
}

// The same where doing a chunk again does no harm: less to compile, and no second way through.
template <int unroll, class Load, class Use>
static inline __device__ void over_chunks_repeating(std::int64_t chunks, Load load_chunk, Use use) {
  const std::int64_t threads = vendor::threads_per_block();
  const std::int64_t tile = threads * unroll;
  const std::int64_t last = chunks - 1;
  for (std::int64_t first = vendor::block_index() * tile; first < chunks; first += vendor::blocks() * tile) {
    const std::int64_t own = first + vendor::thread_index();
    const auto chunk = [=](int u) { return own + u * threads < last ? own + u * threads : last; };
    decltype(load_chunk(own)) loaded[unroll];
    for (int u = 0; u < unroll; ++u) loaded[u] = load_chunk(chunk(u));
    for (int u = 0; u < unroll; ++u) use(chunk(u), loaded[u]);
  }
}

}  // namespace assay::gpu
