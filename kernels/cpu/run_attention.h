// Attention on the threads of a CPU, block by block, with the sums of the softmax kept up to date as keys come in
// (Milakov and Gimelshein 2018; Dao et al. 2022), in float. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/attention_scratch.h"
#include "kernels/cpu/bodies_table.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/small_product.h"
#include "kernels/math.h"

namespace assay::cpu {
// Nothing of this may be shared between the object files of different levels.
namespace {

// Rows of `from` [rows, size] as floats [rows, wide], what is beyond being zero.
template <class Storage>
static inline void widen_rows(const Storage* from, std::int64_t rows, std::int64_t size, std::int64_t wide, float* to) {
  for (std::int64_t r = 0; r < rows; ++r) {
#pragma omp simd
    for (std::int64_t i = 0; i < size; ++i) to[r * wide + i] = bodies::to_float(from[r * size + i]);
    for (std::int64_t i = size; i < wide; ++i) to[r * wide + i] = 0.0f;
  }
}

// One block of queries: those of `group` heads from `query` on, as rows of the block. Row r is query r % queries of
// head r / queries; rows beyond the last query of the sequence hold nothing.
struct QueryBlock {
  std::int64_t first_row;  // of the first head, in the operand counted in rows
  std::int64_t query;      // first query
  std::int64_t count;      // of queries
  std::int64_t key;        // first key and value, counted in rows
};

struct AttentionTask {
  const Attention& op;
  AttentionBlocks blocks;
  float scale;

  explicit AttentionTask(const Attention& attention)
      : op(attention),
        blocks(attention_blocks(attention)),
        scale(1.0f / __builtin_sqrtf(static_cast<float>(attention.head_size))) {}

  std::int64_t query_blocks() const { return (op.query_length + blocks.queries - 1) / blocks.queries; }

  QueryBlock block(std::int64_t key_head, std::int64_t number) const {
    const std::int64_t query = number * blocks.queries;
    const std::int64_t rest = op.query_length - query;
    return {key_head * blocks.group * op.query_length + query, query, rest < blocks.queries ? rest : blocks.queries,
            key_head * op.key_length};
  }

  // Row of the operand that row `head`, `i` of a block is.
  std::int64_t row_of(const QueryBlock& block, std::int64_t head, std::int64_t i) const {
    return block.first_row + head * op.query_length + i;
  }

  // Keys that query `query` sees: [first_key, end_key).
  std::int64_t end_key(std::int64_t query) const {
    return op.causal ? op.key_length - op.query_length + query + 1 : op.key_length;
  }
  std::int64_t first_key(std::int64_t query) const {
    const std::int64_t first = op.window == 0 ? 0 : end_key(query) - op.window;
    return first > 0 ? first : 0;
  }

  // Puts x [.., size] of the block's rows, times `factor`, into columns: to[i rows + r].
  template <class Storage>
  void transpose(const QueryBlock& block, const Storage* x, std::int64_t size, std::int64_t wide, float factor,
                 float* to) const {
    clear(to, wide * blocks.rows);
    for (std::int64_t head = 0; head < blocks.group; ++head) {
      for (std::int64_t i = 0; i < block.count; ++i) {
        const Storage* const from = x + row_of(block, head, i) * size;
        const std::int64_t r = head * blocks.queries + i;
        for (std::int64_t d = 0; d < size; ++d) to[d * blocks.rows + r] = bodies::to_float(from[d]) * factor;
      }
    }
  }

  // The same as rows: to[r wide + i].
  template <class Storage>
  void gather(const QueryBlock& block, const Storage* x, std::int64_t size, std::int64_t wide, float factor,
              float* to) const {
    clear(to, wide * blocks.rows);
    for (std::int64_t head = 0; head < blocks.group; ++head) {
      for (std::int64_t i = 0; i < block.count; ++i) {
        const Storage* const from = x + row_of(block, head, i) * size;
        float* const line = to + (head * blocks.queries + i) * wide;
#pragma omp simd
        for (std::int64_t d = 0; d < size; ++d) line[d] = bodies::to_float(from[d]) * factor;
      }
    }
  }

  // Makes the scores of pairs that do not see each other -infinity. `keys` lines of rows, the first being key `first`.
  void mask(const QueryBlock& block, std::int64_t first, std::int64_t keys, float* scores) const {
    const std::int64_t last_query = block.query + block.count - 1;
    const bool all = first + keys <= end_key(block.query) && first >= first_key(last_query);
    if (all) return;
    for (std::int64_t j = 0; j < keys; ++j) {
      for (std::int64_t head = 0; head < blocks.group; ++head) {
        float* const line = scores + j * blocks.rows + head * blocks.queries;
        for (std::int64_t i = 0; i < block.count; ++i) {
          const bool sees = first + j < end_key(block.query + i) && first + j >= first_key(block.query + i);
          line[i] = sees ? line[i] : -__builtin_inff();
        }
      }
    }
  }
};

// f(first, count) for the blocks of keys that any query of the block sees.
template <class Function>
static inline void over_key_blocks(const AttentionTask& task, const QueryBlock& block, Function f) {
  const std::int64_t end = task.end_key(block.query + block.count - 1);
  std::int64_t first = task.first_key(block.query) / attention_keys * attention_keys;
  for (; first < end; first += attention_keys) f(first, end - first < attention_keys ? end - first : attention_keys);
}

// Probabilities before their division from scores [keys, rows], and the sums so far brought to the new largest.
static inline void take_in(std::int64_t keys, std::int64_t rows, float* scores, float* largest, float* sum,
                           float* factor) {
#pragma omp simd
  for (std::int64_t r = 0; r < rows; ++r) factor[r] = largest[r];
  for (std::int64_t j = 0; j < keys; ++j) {
    const float* const line = scores + j * rows;
#pragma omp simd
    for (std::int64_t r = 0; r < rows; ++r) largest[r] = line[r] > largest[r] ? line[r] : largest[r];
  }
#pragma omp simd
  for (std::int64_t r = 0; r < rows; ++r) {
    const bool seen = factor[r] > -__builtin_inff();
    factor[r] = seen ? bodies::exponential_of_negative(factor[r] - largest[r]) : 0.0f;
    sum[r] *= factor[r];
  }
  for (std::int64_t j = 0; j < keys; ++j) {
    float* const line = scores + j * rows;
#pragma omp simd
    for (std::int64_t r = 0; r < rows; ++r) {
      const bool seen = line[r] > -__builtin_inff();
      const float term = bodies::exponential_of_negative(line[r] - largest[r]);
      line[r] = line[r] != line[r] ? line[r] : seen ? term : 0.0f;
      sum[r] += line[r];
    }
  }
}

template <class Storage, class Cache>
static inline void attention_block(const AttentionTask& task, const BodyCall& call, const QueryBlock& block,
                                   float* scratch) {
  const Attention& op = task.op;
  const AttentionBlocks& b = task.blocks;
  const Cache* const keys = as<Cache>(call.operands[1]) + block.key * op.head_size;
  const Cache* const values = as<Cache>(call.operands[2]) + block.key * op.value_size;
  float* const query = scratch;
  float* const total = query + b.rows * b.size;
  float* const scores = total + b.rows * b.value;
  float* const largest = scores + b.rows * attention_keys;
  float* const sum = largest + b.rows;
  float* const factor = sum + b.rows;
  float* const key = factor + b.rows;
  float* const value = key + attention_keys * b.size;
  task.transpose(block, as<Storage>(call.operands[0]), op.head_size, b.size, task.scale, query);
  clear(total, b.rows * b.value);
  for (std::int64_t r = 0; r < b.rows; ++r) largest[r] = -__builtin_inff();
  clear(sum, b.rows);
  over_key_blocks(task, block, [&](std::int64_t first, std::int64_t count) {
    widen_rows(keys + first * op.head_size, count, op.head_size, b.size, key);
    widen_rows(values + first * op.value_size, count, op.value_size, b.value, value);
    clear(scores, count * b.rows);
    multiply({key, b.size, 1, query, b.rows, scores, b.rows}, count, b.rows, op.head_size);
    task.mask(block, first, count, scores);
    take_in(count, b.rows, scores, largest, sum, factor);
    for (std::int64_t r = 0; r < b.rows; ++r) {
      if (factor[r] == 1.0f) continue;
#pragma omp simd
      for (std::int64_t i = 0; i < b.value; ++i) total[r * b.value + i] *= factor[r];
    }
    multiply({scores, 1, b.rows, value, b.value, total, b.value}, b.rows, b.value, count);
  });
  Storage* const y = as<Storage>(call.operands[3]);
  float* const logsumexp = as<float>(call.operands[4]);
  for (std::int64_t head = 0; head < b.group; ++head) {
    for (std::int64_t i = 0; i < block.count; ++i) {
      const std::int64_t r = head * b.queries + i;
      const std::int64_t row = task.row_of(block, head, i);
      const float share = 1.0f / sum[r];
#pragma omp simd
      for (std::int64_t d = 0; d < op.value_size; ++d) {
        y[row * op.value_size + d] = bodies::from_float<Storage>(total[r * b.value + d] * share);
      }
      logsumexp[row] = largest[r] + bodies::logarithm(sum[r]);
    }
  }
}

template <class Storage, class Cache>
static inline void attention_forward(const Attention& op, const BodyCall& call) {
  const std::int64_t floats = attention_floats(op);
  on_threads(call.threads, [=, &op](int thread, int present) {
    const AttentionTask task(op);
    const std::int64_t each = task.query_blocks();
    const Piece piece = piece_of(op.batch * op.kv_heads * each, 1, thread, present);
    for (std::int64_t unit = piece.first; unit < piece.last; ++unit) {
      attention_block<Storage, Cache>(task, call, task.block(unit / each, unit % each),
                                      as<float>(call.workspace) + floats * thread);
    }
  });
}

// The memory of a thread on the way back; see attention_floats().
struct BackwardScratch {
  float *query, *query_columns, *slope, *slope_columns, *dq, *scores, *slopes, *logsumexp, *along, *key, *value, *dk,
      *dv;
  BackwardScratch(const AttentionBlocks& b, float* memory) {
    const auto take = [&](std::int64_t floats) {
      float* const begin = memory;
      memory += floats;
      return begin;
    };
    query = take(b.rows * b.size);
    query_columns = take(b.rows * b.size);
    slope = take(b.rows * b.value);
    slope_columns = take(b.rows * b.value);
    dq = take(b.rows * b.size);
    scores = take(b.rows * attention_keys);
    slopes = take(b.rows * attention_keys);
    logsumexp = take(b.rows);
    along = take(b.rows);
    key = take(attention_keys * b.size);
    value = take(attention_keys * b.value);
    dk = take(b.keys * b.size);
    dv = take(b.keys * b.value);
  }
};

// Probabilities into scores and the gradients of the scores into slopes, both [keys, rows].
static inline void take_back(std::int64_t keys, std::int64_t rows, const BackwardScratch& s) {
  for (std::int64_t j = 0; j < keys; ++j) {
    float* const line = s.scores + j * rows;
    float* const slope = s.slopes + j * rows;
#pragma omp simd
    for (std::int64_t r = 0; r < rows; ++r) {
      const bool seen = line[r] > -__builtin_inff();
      const float term = bodies::exponential(line[r] - s.logsumexp[r]);
      line[r] = line[r] != line[r] ? line[r] : seen ? term : 0.0f;
      slope[r] = line[r] * (slope[r] - s.along[r]);
    }
  }
}

template <class Storage>
static inline void attention_block_backward(const AttentionTask& task, const BodyCall& call, const QueryBlock& block,
                                            const BackwardScratch& s) {
  const Attention& op = task.op;
  const AttentionBlocks& b = task.blocks;
  const Storage* const dy = as<Storage>(call.operands[0]);
  const Storage* const q = as<Storage>(call.operands[1]);
  const Storage* const keys = as<Storage>(call.operands[2]) + block.key * op.head_size;
  const Storage* const values = as<Storage>(call.operands[3]) + block.key * op.value_size;
  const Storage* const y = as<Storage>(call.operands[4]);
  const float* const logsumexp = as<float>(call.operands[5]);
  Storage* const dq = as<Storage>(call.operands[6]);
  task.gather(block, q, op.head_size, b.size, task.scale, s.query);
  task.transpose(block, q, op.head_size, b.size, task.scale, s.query_columns);
  task.gather(block, dy, op.value_size, b.value, 1.0f, s.slope);
  task.transpose(block, dy, op.value_size, b.value, 1.0f, s.slope_columns);
  clear(s.dq, b.rows * b.size);
  clear(s.logsumexp, b.rows);
  clear(s.along, b.rows);
  for (std::int64_t head = 0; head < b.group; ++head) {
    for (std::int64_t i = 0; i < block.count; ++i) {
      const std::int64_t r = head * b.queries + i;
      const std::int64_t row = task.row_of(block, head, i);
      s.logsumexp[r] = logsumexp[row];
      float along = 0.0f;
#pragma omp simd reduction(+ : along)
      for (std::int64_t d = 0; d < op.value_size; ++d) {
        along += bodies::to_float(dy[row * op.value_size + d]) * bodies::to_float(y[row * op.value_size + d]);
      }
      s.along[r] = along;
    }
  }
  over_key_blocks(task, block, [&](std::int64_t first, std::int64_t count) {
    widen_rows(keys + first * op.head_size, count, op.head_size, b.size, s.key);
    widen_rows(values + first * op.value_size, count, op.value_size, b.value, s.value);
    clear(s.scores, count * b.rows);
    multiply({s.key, b.size, 1, s.query_columns, b.rows, s.scores, b.rows}, count, b.rows, op.head_size);
    task.mask(block, first, count, s.scores);
    clear(s.slopes, count * b.rows);
    multiply({s.value, b.value, 1, s.slope_columns, b.rows, s.slopes, b.rows}, count, b.rows, op.value_size);
    take_back(count, b.rows, s);
    multiply({s.scores, b.rows, 1, s.slope, b.value, s.dv + first * b.value, b.value}, count, b.value, b.rows);
    multiply({s.slopes, b.rows, 1, s.query, b.size, s.dk + first * b.size, b.size}, count, b.size, b.rows);
    multiply({s.slopes, 1, b.rows, s.key, b.size, s.dq, b.size}, b.rows, b.size, count);
  });
  for (std::int64_t head = 0; head < b.group; ++head) {
    for (std::int64_t i = 0; i < block.count; ++i) {
      const float* const line = s.dq + (head * b.queries + i) * b.size;
      Storage* const to = dq + task.row_of(block, head, i) * op.head_size;
#pragma omp simd
      for (std::int64_t d = 0; d < op.head_size; ++d) to[d] = bodies::from_float<Storage>(line[d] * task.scale);
    }
  }
}

template <class Storage>
static inline void narrow_rows(const float* from, std::int64_t rows, std::int64_t wide, std::int64_t size,
                               Storage* to) {
  for (std::int64_t r = 0; r < rows; ++r) {
#pragma omp simd
    for (std::int64_t i = 0; i < size; ++i) to[r * size + i] = bodies::from_float<Storage>(from[r * wide + i]);
  }
}

// A thread takes whole key heads, so that the sums of dk and dv have one order however many threads there are.
template <class Storage>
static inline void attention_backward(const Attention& op, const BodyCall& call) {
  const std::int64_t floats = attention_floats(op);
  on_threads(call.threads, [=, &op](int thread, int present) {
    const AttentionTask task(op);
    const AttentionBlocks& b = task.blocks;
    const BackwardScratch scratch(b, as<float>(call.workspace) + floats * thread);
    const Piece piece = piece_of(op.batch * op.kv_heads, 1, thread, present);
    for (std::int64_t head = piece.first; head < piece.last; ++head) {
      clear(scratch.dk, b.keys * b.size);
      clear(scratch.dv, b.keys * b.value);
      for (std::int64_t number = 0; number < task.query_blocks(); ++number) {
        attention_block_backward<Storage>(task, call, task.block(head, number), scratch);
      }
      const std::int64_t key = head * op.key_length;
      narrow_rows(scratch.dk, op.key_length, b.size, op.head_size, as<Storage>(call.operands[7]) + key * op.head_size);
      narrow_rows(scratch.dv, op.key_length, b.value, op.value_size,
                  as<Storage>(call.operands[8]) + key * op.value_size);
    }
  });
}

template <class Team>
static inline void run_attention(const Attention& op, const BodyCall& call) {
  with_storage(op.format.element, [&](auto storage) {
    using Storage = decltype(storage);
    if (op.direction == Direction::backward) return attention_backward<Storage>(op, call);
    if (op.cache.element == Element::fp8_e4m3) return attention_forward<Storage, bodies::Fp8E4m3>(op, call);
    attention_forward<Storage, Storage>(op, call);
  });
}

template <class From, class To>
static inline void cache_append_of(const CacheAppend& op, const BodyCall& call) {
  const From* const x = as<From>(call.operands[0]);
  To* const cache = as<To>(call.operands[1]);
  over_rows(op.batch * op.heads * op.length, op.head_size, call.threads, [=](std::int64_t row) {
    const From* const from = x + row * op.head_size;
    To* const to = cache + (row / op.length * op.capacity + op.position + row % op.length) * op.head_size;
#pragma omp simd
    for (std::int64_t i = 0; i < op.head_size; ++i) to[i] = bodies::convert<To>(from[i]);
  });
}

template <class Team>
static inline void run_cache_append(const CacheAppend& op, const BodyCall& call) {
  with_storage(op.from.element, [&](auto storage) {
    using Storage = decltype(storage);
    if (op.to.element == Element::fp8_e4m3) return cache_append_of<Storage, bodies::Fp8E4m3>(op, call);
    cache_append_of<Storage, Storage>(op, call);
  });
}

}  // namespace
}  // namespace assay::cpu
