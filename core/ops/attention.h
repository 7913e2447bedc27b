// Attention in one op, and the cache of keys and values that decoding appends to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/format.h"
#include "core/ops/rows.h"

namespace assay {

// y = softmax(q k^T / sqrt(head_size)) v for each head, without the matrix of scores ever being in memory. Heads /
// kv_heads queries share a key head. Where `causal`, query i stands at position key_length - query_length + i and sees
// the keys up to its own position, of those only the last `window` where that is not 0. Forward: q [batch, heads,
// query_length, head_size], k [batch, kv_heads, key_length, head_size], v [batch, kv_heads, key_length, value_size], y
// [batch, heads, query_length, value_size], logsumexp [batch, heads, query_length] fp32 (the logarithm of the sum of
// exponentials of a query's scores). Backward: dy, q, k, v, y, logsumexp, dq, dk, dv; it believes y and logsumexp. k
// and v are in `cache`, all else in `format`; backward takes one format. Arithmetic and sums are in fp32, in fp64 where
// the format is fp64. cost() counts what the queries see: half of a causal square.
struct Attention {
  Direction direction = Direction::forward;
  std::int64_t batch = 1;
  std::int64_t query_length = 0;
  std::int64_t key_length = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_size = 0;
  std::int64_t value_size = 0;
  Format format;
  Format cache;
  bool causal = false;
  std::int64_t window = 0;
};

// Rows that a step made, rounded to the format of a cache and put into it at `position`: x [batch, heads, length,
// head_size] in `from`, cache [batch, heads, capacity, head_size] in `to` (read_write: the rest stays). cost() counts
// the rows that move.
struct CacheAppend {
  std::int64_t batch = 1;
  std::int64_t heads = 0;
  std::int64_t length = 0;
  std::int64_t capacity = 0;
  std::int64_t position = 0;
  std::int64_t head_size = 0;
  Format from;
  Format to;
};

}  // namespace assay
