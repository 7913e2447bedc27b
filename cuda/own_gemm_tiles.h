// Where everything lies in an own matrix product: tiles, pieces, shared memory, registers. All of it in bytes, so that
// elements of 1, 2 and 4 bytes are alike: one instruction takes 32 bytes of K whatever they hold.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/portable.h"

namespace vendor {

// A block of 8 warps makes 128 x 128 elements of D, 64 bytes of K at a time; a warp makes 64 x 32 of them.
constexpr int tile_m = 128;
constexpr int tile_n = 128;
constexpr int tile_k_bytes = 64;
constexpr int own_threads = 256;
constexpr int tile_stages = 3;           // K tiles in shared memory at a time
constexpr int piece_bytes = 16;          // what one thread moves at a time
constexpr int operand_bytes = 128 * 64;  // of A or of B, one stage
constexpr int pieces = operand_bytes / piece_bytes;
constexpr int pieces_a_thread = pieces / own_threads;
constexpr int warp_m = 64;
constexpr int warp_n = 32;
constexpr int fragments_m = warp_m / 16;
constexpr int fragments_n = warp_n / 8;
constexpr int steps_a_tile = tile_k_bytes / 32;

// How an operand lies in shared memory. `along_k`: 128 rows (of M or N) of 64 bytes of K. `across_k`: 32 rows of K of
// 128 elements of M or N, for 2-byte elements alone, which the matrix load can transpose.
enum class TileOrder : int { along_k, across_k };

struct Piece {
  int row;    // along_k: of M or N; across_k: of K
  int piece;  // of 16 bytes within the row
};

// Which piece is number `index` of 512. Neighbouring threads take neighbouring pieces of one row.
PORTABLE constexpr Piece piece_of(TileOrder order, int index) {
  return order == TileOrder::along_k ? Piece{index / 4, index % 4} : Piece{index / 16, index % 16};
}

// The same for an operand whose rows are read element by element across its memory: neighbouring threads take
// neighbouring rows, which then lie next to each other there.
PORTABLE constexpr Piece gathered_piece_of(int index) { return {index % 128, index / 128}; }

// Byte offset of a piece. Pieces are exchanged within a row so that the eight rows that one matrix load reads together
// lie in different banks: two rows of 64 bytes make a line of 128, and a row of 256 bytes is two lines.
PORTABLE constexpr int shared_offset(TileOrder order, Piece piece) {
  return order == TileOrder::along_k ? piece.row * 64 + (piece.piece ^ (piece.row / 2 % 4)) * piece_bytes
                                     : piece.row * 256 + (piece.piece ^ (piece.row % 8)) * piece_bytes;
}

// ldmatrix.x4 loads four 8 x 16-byte matrices; lane l gives the address of row l % 8 of matrix l / 8. Of A they are:
// rows 0-7 and 8-15 of the first 16 bytes of K, then of the second. `first` is the first row of M of the fragment.
PORTABLE constexpr Piece a_piece(TileOrder order, int first, int step, int lane) {
  const int matrix = lane / 8;
  const int row = lane % 8;
  return order == TileOrder::along_k ? Piece{first + matrix % 2 * 8 + row, step * 2 + matrix / 2}
                                     : Piece{step * 16 + matrix / 2 * 8 + row, (first + matrix % 2 * 8) / 8};
}

// Of B: the two halves of K of columns 0-7 of N, then of columns 8-15. `first` is the first column of N of the pair.
PORTABLE constexpr Piece b_piece(TileOrder order, int first, int step, int lane) {
  const int matrix = lane / 8;
  const int row = lane % 8;
  return order == TileOrder::along_k ? Piece{first + matrix / 2 * 8 + row, step * 2 + matrix % 2}
                                     : Piece{step * 16 + matrix % 2 * 8 + row, (first + matrix / 2 * 8) / 8};
}

struct Place {
  int row;
  int column;
};

// Where register `index` (0 to 3) of a 16 x 8 accumulator belongs.
PORTABLE constexpr Place accumulator_place(int lane, int index) {
  return {lane / 4 + index / 2 * 8, lane % 4 * 2 + index % 2};
}

// First row and column of a warp within the block's tile.
PORTABLE constexpr Place warp_place(int warp) { return {warp / 4 * warp_m, warp % 4 * warp_n}; }

// Which tile of D a block makes. Eight tile rows are walked together, column by column, so that blocks that run at the
// same time share what they read.
struct TilePlace {
  std::int64_t batch;
  std::int64_t row;
  std::int64_t column;
};
PORTABLE constexpr TilePlace tile_place(std::int64_t block, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t together = 8;
  const std::int64_t batch = block / (rows * columns);
  const std::int64_t within = block % (rows * columns);
  const std::int64_t band = within / (together * columns);
  const std::int64_t left = rows - band * together;
  const std::int64_t height = left < together ? left : together;
  const std::int64_t in_band = within - band * together * columns;
  return {batch, band * together + in_band % height, in_band / height};
}

// How many of the `count` elements from `first` on lie below `limit`.
PORTABLE constexpr int elements_inside(std::int64_t first, int count, std::int64_t limit) {
  if (first >= limit) return 0;
  return limit - first < count ? static_cast<int>(limit - first) : count;
}

}  // namespace vendor
