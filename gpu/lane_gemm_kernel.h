// One tile of a product by matrix instructions whose numbers lie in the lanes of a wavefront, through shared memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "gpu/product_store.h"
#include "lanes.h"

namespace vendor {

// A Form is an instruction that makes size x size sums of k products each: a lane holds `words` of 32 bits of one row
// of A and of one column of B, row and column being its number modulo `size`, in the part of K of its group (`groups`
// of them share a row). Where in K a word lies does not matter, since A and B lie alike. Form::Stored is what an
// operand is stored as, Form::Number what is summed in, Form::row(lane, i) the row of D that its i-th sum is of; the
// column is the lane's.
template <class Form, int tile, int threads, int lanes>
struct LaneTile {
  static constexpr int k_at_a_time = 2 * Form::k;
  static constexpr int pitch = k_at_a_time + 4 / static_cast<int>(sizeof(typename Form::Stored));  // apart in banks
  static constexpr int across = tile / Form::size;                   // parts of a tile along M and along N
  static constexpr int parts = across * across / (threads / lanes);  // of one wavefront
  static constexpr int of_a_lane = Form::words * 4 / static_cast<int>(sizeof(typename Form::Stored));
  static constexpr int sums = Form::size * Form::size / lanes;
  static_assert(parts * (threads / lanes) == across * across, "every wavefront has as many parts");
  static_assert(of_a_lane * Form::groups == Form::k, "the groups share K");
};

// Elements outside of the operand are 0.
template <class Form, int tile, int threads, int lanes>
__device__ void load_rows(typename Form::Stored* to, const PlainOperand& operand, std::int64_t batch,
                          std::int64_t first_row, std::int64_t rows, std::int64_t first_k, std::int64_t k) {
  using Tile = LaneTile<Form, tile, threads, lanes>;
  const auto* from = static_cast<const typename Form::Stored*>(operand.memory) + batch * operand.batch_stride;
  const bool k_first = operand.k_stride == 1;  // neighbouring threads read what lies next to each other
  for (int index = static_cast<int>(thread_index()); index < tile * Tile::k_at_a_time; index += threads) {
    const int row = k_first ? index / Tile::k_at_a_time : index % tile;
    const int at = k_first ? index % Tile::k_at_a_time : index / tile;
    const bool inside = first_row + row < rows && first_k + at < k;
    typename Form::Stored value{};
    if (inside) value = from[(first_row + row) * operand.row_stride + (first_k + at) * operand.k_stride];
    to[row * Tile::pitch + at] = value;
  }
}

template <class Form>
__device__ void take_words(std::uint32_t (&words)[Form::words], const typename Form::Stored* from) {
  __builtin_memcpy(words, from, sizeof words);
}

template <class Form, int tile, int threads, int lanes>
__device__ void multiply_tile(const PlainProduct& p) {
  using Tile = LaneTile<Form, tile, threads, lanes>;
  using Stored = typename Form::Stored;
  __shared__ __attribute__((aligned(16))) Stored a[tile * Tile::pitch];
  __shared__ __attribute__((aligned(16))) Stored b[tile * Tile::pitch];
  const std::int64_t within = block_index() % (p.tile_rows * p.tile_columns);
  const std::int64_t batch = block_index() / (p.tile_rows * p.tile_columns);
  const std::int64_t first_row = within % p.tile_rows * tile;
  const std::int64_t first_column = within / p.tile_rows * tile;
  const int lane = static_cast<int>(thread_index()) % lanes;
  const int first_part = static_cast<int>(thread_index()) / lanes * Tile::parts;
  const int in_k = lane / Form::size % Form::groups * Tile::of_a_lane;
  typename Form::Sums sums[Tile::parts] = {};
#pragma unroll 1
  for (std::int64_t first_k = 0; first_k < p.k; first_k += Tile::k_at_a_time) {
    load_rows<Form, tile, threads, lanes>(a, p.a, batch, first_row, p.m, first_k, p.k);
    load_rows<Form, tile, threads, lanes>(b, p.b, batch, first_column, p.n, first_k, p.k);
    wait_for_block();
#pragma unroll
    for (int at = 0; at < Tile::k_at_a_time; at += Form::k) {
#pragma unroll
      for (int i = 0; i < Tile::parts; ++i) {
        const int row = (first_part + i) / Tile::across * Form::size + lane % Form::size;
        const int column = (first_part + i) % Tile::across * Form::size + lane % Form::size;
        std::uint32_t of_a[Form::words];
        std::uint32_t of_b[Form::words];
        take_words<Form>(of_a, a + row * Tile::pitch + at + in_k);
        take_words<Form>(of_b, b + column * Tile::pitch + at + in_k);
        sums[i] = Form::multiply(of_a, of_b, sums[i]);
      }
    }
    wait_for_block();
  }
#pragma unroll
  for (int i = 0; i < Tile::parts; ++i) {
    const std::int64_t column = first_column + (first_part + i) % Tile::across * Form::size + lane % Form::size;
#pragma unroll
    for (int j = 0; j < Tile::sums; ++j) {
      const std::int64_t row = first_row + (first_part + i) / Tile::across * Form::size + Form::row(lane, j);
      finish(p, batch, row, column, static_cast<typename Form::Number>(sums[i][j]));
    }
  }
}

}  // namespace vendor
