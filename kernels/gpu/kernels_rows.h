// Row ops: a block takes a row at a time. Rows that fit are brought into shared memory by wide loads, worked on there,
// and written back by wide stores; the bodies of kernels/row.h see only where their row is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "kernels/gpu/kernels_common.h"

namespace assay::gpu {

// What every device gives a block without being asked, less what the team needs.
constexpr std::int64_t shared_for_rows = 48 * 1024 - static_cast<std::int64_t>(BlockTeam::shared_bytes);

// How a row op is launched. A row longer than the shared memory stays where it is: softmax and cross-entropy read it
// again from there instead of keeping its exponentials, which would be longer than itself.
struct RowShape {
  unsigned threads;
  std::size_t shared;  // bytes, the team's included
  bool staged;         // whether the rows fit
};

inline RowShape row_shape(std::int64_t columns, std::int64_t bytes_a_column, int width, const BodySetup& setup) {
  const std::int64_t bytes = ceiling(columns * bytes_a_column, 16) * 16;
  const bool staged = bytes <= shared_for_rows;
  // Enough loads on their way with four chunks a thread; small blocks leave room for several on a multiprocessor.
  unsigned usual = std::max(32U, vendor::widest_warp());
  while (usual < 512 && std::int64_t{usual} * width * 4 < columns) usual *= 2;
  const unsigned threads = setup.threads_or(usual);
  return {threads, BlockTeam::shared_bytes + static_cast<std::size_t>(staged ? bytes : 0), staged};
}

// Whether each row of such a matrix begins at a multiple of 16 bytes.
template <class Storage>
bool rows_are_aligned(std::int64_t columns) {
  return columns % wide<Storage> == 0;
}

static inline __device__ std::byte* memory_for_rows() { return vendor::shared_memory() + BlockTeam::shared_bytes; }

template <class To, class From>
static inline __device__ To moved(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else {
    return bodies::from_float<To>(bodies::to_float(value));
  }
}

// Brings the elements of a row from one place to another, as they are or rounded to another format; four wide loads at
// a time where rows are aligned. All threads see the result. An aligned row may be moved up to a multiple of a chunk.
template <class From, class To>
static inline __device__ void move_row(const BlockTeam& team, const From* from, To* to, std::int64_t columns,
                                       bool aligned) {
  if (!aligned) {
    team.each(columns, [=](std::int64_t i) { to[i] = moved<To>(from[i]); });
    return;
  }
  // 16 bytes of the narrower format.
  constexpr int width = wide < From >> wide<To> ? wide<From> : wide<To>;
  const auto load_chunk = [=](std::int64_t chunk) {
    Pack<From, width> pack;
    for (int i = 0; i < width; i += wide<From>) {
      const auto part = load<wide<From>>(from + chunk * width + i);
      for (int k = 0; k < wide<From>; ++k) pack.at[i + k] = part.at[k];
    }
    return pack;
  };
  const auto store_chunk = [=](std::int64_t chunk, const Pack<From, width>& pack) {
    for (int i = 0; i < width; i += wide<To>) {
      Pack<To, wide<To>> part;
      for (int k = 0; k < wide<To>; ++k) part.at[k] = moved<To>(pack.at[i + k]);
      store(to + chunk * width + i, part);
    }
  };
  const std::int64_t chunks = (columns + width - 1) / width;
  const std::int64_t step = vendor::threads_per_block();
  std::int64_t c = vendor::thread_index();
  for (; c + 3 * step < chunks; c += 4 * step) {
    Pack<From, width> loaded[4];
    for (int u = 0; u < 4; ++u) loaded[u] = load_chunk(c + u * step);
    for (int u = 0; u < 4; ++u) store_chunk(c + u * step, loaded[u]);
  }
  for (; c < chunks; c += step) store_chunk(c, load_chunk(c));
  vendor::wait_for_block();
}

}  // namespace assay::gpu
