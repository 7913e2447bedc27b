// Gathering and scattering by token, position and head.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/format.h"
#include "core/ops/rows.h"

namespace assay {

// Forward: tokens [rows] int32, table [vocabulary, columns], y [rows, columns]. Backward: tokens, dy, dtable
// (read_write: added to; the result does not depend on the order of threads). A token outside the vocabulary is an
// error of the caller. cost() counts min(rows, vocabulary) rows of the table: a row that comes again is at hand.
struct Embedding {
  Direction direction = Direction::forward;
  std::int64_t rows = 0;
  std::int64_t vocabulary = 0;
  std::int64_t columns = 0;
  Format format;
};

// Splits packed projections into heads and rotates queries and keys by their position (rotary embedding, halves
// rotated: element i pairs with i + head_size / 2, angle position * 10000^(-2 i / head_size), read from `table`): with
// c and s the cosine and sine of pair i, y[i] = x[i] c - x[i + half] s and y[i + half] = x[i + half] c + x[i] s. A row
// of packed holds all heads of q, then those of k, then those of v. Forward: packed [batch length, (heads + 2 kv_heads)
// head_size], table [length, head_size] fp32 (a row: head_size / 2 cosines, then as many sines), q [batch, heads,
// length, head_size], k and v [batch, kv_heads, length, head_size]. Backward: dq, dk, dv, table, dpacked, turned back
// by the negative angle. Where `rotate` is false the table is left out and nothing turns (GPT-2).
struct Rope {
  Direction direction = Direction::forward;
  std::int64_t batch = 0;
  std::int64_t length = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_size = 0;
  Format format;
  bool rotate = true;
};

// Forward merges heads: x [batch, heads, length, head_size] to y [batch length, heads head_size]. Backward is the way
// back: dy [batch length, heads head_size] to dx [batch, heads, length, head_size].
struct Heads {
  Direction direction = Direction::forward;
  std::int64_t batch = 0;
  std::int64_t length = 0;
  std::int64_t heads = 0;
  std::int64_t head_size = 0;
  Format format;
};

}  // namespace assay
