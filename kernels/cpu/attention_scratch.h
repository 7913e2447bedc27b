// How attention is cut into blocks on a CPU, and the memory of one thread for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/ops/attention.h"

namespace assay::cpu {

// Keys that are taken at a time: with their values, and the rows of queries, they stay in the second cache.
static constexpr std::int64_t attention_keys = 64;

static constexpr std::int64_t whole_vectors(std::int64_t count) { return (count + 15) / 16 * 16; }

// Rows of a block are the queries of all heads that share keys: every key that is brought in serves all of them.
struct AttentionBlocks {
  std::int64_t group;    // heads that share keys
  std::int64_t queries;  // of each head in a block
  std::int64_t rows;     // group x queries, to whole vectors
  std::int64_t size;     // of a query and a key, to whole vectors
  std::int64_t value;    // of a value
  std::int64_t keys;     // all of them, to whole blocks
};
static inline AttentionBlocks attention_blocks(const Attention& op) {
  constexpr std::int64_t rows = 64;
  AttentionBlocks blocks{};
  blocks.group = op.heads / op.kv_heads;
  const std::int64_t most = blocks.group < rows ? rows / blocks.group : 1;
  blocks.queries = op.query_length < most ? op.query_length : most;
  blocks.rows = whole_vectors(blocks.group * blocks.queries);
  blocks.size = whole_vectors(op.head_size);
  blocks.value = whole_vectors(op.value_size);
  blocks.keys = (op.key_length + attention_keys - 1) / attention_keys * attention_keys;
  return blocks;
}

// Floats of one thread.
static inline std::int64_t attention_floats(const Attention& op) {
  const AttentionBlocks b = attention_blocks(op);
  const std::int64_t block = attention_keys * (b.size + b.value);
  if (op.direction == Direction::forward) {
    // queries transposed, sums, scores, largest, sum, factor; keys, values
    return b.rows * (b.size + b.value + attention_keys + 3) + block;
  }
  // queries and dy, each as it is and transposed, dq, two blocks of scores, logsumexp, sum of dy y; keys, values; dk,
  // dv
  return b.rows * (3 * b.size + 2 * b.value + 2 * attention_keys + 2) + block + b.keys * (b.size + b.value);
}

}  // namespace assay::cpu
