// Column reductions: sums down the columns of a matrix. A team takes a block of rows and leaves one partial sum a
// column; then the partial sums of all blocks are added in their order, so that the result depends on the number of
// blocks but not on who took them. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/convert.h"
#include "kernels/row.h"
#include "kernels/team.h"

namespace assay::bodies {

// Enough blocks for every processor, and each long enough that the partial sums are a small part of the traffic.
static inline PORTABLE std::int64_t column_blocks(std::int64_t rows) {
  const std::int64_t blocks = (rows + 31) / 32;
  return blocks < 128 ? blocks : 128;
}
static inline PORTABLE std::int64_t column_block_begin(std::int64_t rows, std::int64_t blocks, std::int64_t block) {
  return rows / blocks * block + (block < rows % blocks ? block : rows % blocks);
}

// Rows added to the partial sums in one pass over the columns: each pass reads and writes the sums once.
static constexpr std::int64_t rows_a_pass = 4;

// partial[i] += the sum of value(row, i) over rows [first, last), at most rows_a_pass of them.
template <class Team, class Value>
static inline PORTABLE void add_rows(const Team& team, std::int64_t first, std::int64_t last, std::int64_t columns,
                                     float* partial, Value value) {
  if (last - first == rows_a_pass) {
    team.each(columns, [=](std::int64_t i) {
      partial[i] += (value(first, i) + value(first + 1, i)) + (value(first + 2, i) + value(first + 3, i));
    });
    return;
  }
  for (std::int64_t row = first; row < last; ++row) {
    team.each(columns, [=](std::int64_t i) { partial[i] += value(row, i); });
  }
}

static inline PORTABLE std::int64_t end_of_pass(std::int64_t row, std::int64_t last) {
  return row + rows_a_pass < last ? row + rows_a_pass : last;
}

template <class Team, class Storage>
static inline PORTABLE void column_sum_block(const Team& team, const Storage* x, std::int64_t first, std::int64_t last,
                                             std::int64_t columns, float* partial) {
  team.each(columns, [=](std::int64_t i) { partial[i] = 0.0f; });
  for (std::int64_t row = first; row < last; row += rows_a_pass) {
    add_rows(team, row, end_of_pass(row, last), columns, partial,
             [=](std::int64_t r, std::int64_t i) { return to_float(x[r * columns + i]); });
  }
}

// Gradients of a norm's weight, dy (x - mean) / deviation, and of its bias, dy, where bias_partial is not null.
template <class Team, class Storage>
static inline PORTABLE void norm_weights_block(const Team& team, const Storage* dy, const Storage* x,
                                               const RowStatistics* statistics, std::int64_t first, std::int64_t last,
                                               std::int64_t columns, float* weight_partial, float* bias_partial) {
  team.each(columns, [=](std::int64_t i) { weight_partial[i] = 0.0f; });
  if (bias_partial != nullptr) team.each(columns, [=](std::int64_t i) { bias_partial[i] = 0.0f; });
  for (std::int64_t row = first; row < last; row += rows_a_pass) {
    const std::int64_t end = end_of_pass(row, last);
    add_rows(team, row, end, columns, weight_partial, [=](std::int64_t r, std::int64_t i) {
      const RowStatistics s = statistics[r];
      return to_float(dy[r * columns + i]) * ((to_float(x[r * columns + i]) - s.mean) * s.inverse_deviation);
    });
    if (bias_partial != nullptr) {
      add_rows(team, row, end, columns, bias_partial,
               [=](std::int64_t r, std::int64_t i) { return to_float(dy[r * columns + i]); });
    }
  }
}

// y[i] = the sum of partial[block][i], for the columns [first, last), and what y holds where `accumulate`. The first
// block is used up on the way.
template <class Team, class Storage>
static inline PORTABLE void add_blocks(const Team& team, float* partial, std::int64_t blocks, std::int64_t columns,
                                       std::int64_t first, std::int64_t last, Storage* y, bool accumulate = false) {
  float* const total = partial + first;
  for (std::int64_t block = 1; block < blocks; block += rows_a_pass) {
    add_rows(team, block, end_of_pass(block, blocks), last - first, total,
             [=](std::int64_t b, std::int64_t i) { return partial[b * columns + first + i]; });
  }
  if (accumulate) {
    team.each(last - first,
              [=](std::int64_t i) { y[first + i] = from_float<Storage>(to_float(y[first + i]) + total[i]); });
  } else {
    team.each(last - first, [=](std::int64_t i) { y[first + i] = from_float<Storage>(total[i]); });
  }
}

}  // namespace assay::bodies
