// Attention on a GPU, forward: a block takes a few queries that share a key head, and goes over the keys that they see
// with the sums of the softmax kept up to date. It is made for decoding, where reading the cache is what takes time; it
// multiplies without matrix units. SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>

#include "kernels/gpu/kernels_common.h"
#include "kernels/math.h"

namespace assay::gpu {
namespace {

using bodies::from_float;
using bodies::to_float;

constexpr int rows_a_block = 8;  // queries that use what was read of a key together
constexpr std::int64_t largest_size = 512;

// How the queries of one key head are numbered: all heads that share it, query after query.
struct AttentionShape {
  std::int64_t queries;
  std::int64_t keys;
  std::int64_t kv_heads;
  std::int64_t group;
  std::int64_t size;
  std::int64_t value;
  std::int64_t window;  // 0: all
  bool causal;
  float scale;

  __device__ std::int64_t row_blocks() const { return (group * queries + rows_a_block - 1) / rows_a_block; }
  // The row of the operands that row `number` of key head `key_head` is.
  __device__ std::int64_t row(std::int64_t key_head, std::int64_t number) const {
    return (key_head * group + number % group) * queries + number / group;
  }
  __device__ std::int64_t end_key(std::int64_t query) const { return causal ? keys - queries + query + 1 : keys; }
  __device__ std::int64_t first_key(std::int64_t query) const {
    const std::int64_t first = window == 0 ? 0 : end_key(query) - window;
    return first > 0 ? first : 0;
  }
};

// What the largest and the sum of a row of scores are so far; equal in all threads.
struct RunningSoftmax {
  float largest[rows_a_block];
  float sum[rows_a_block];
  float factor[rows_a_block];  // by which what was added before must be multiplied
};

// Scores of one key with each query of the block.
template <int width, class Cache>
__device__ void score_key(const Cache* key, const float* query, std::int64_t size, float* scores) {
  for (std::int64_t d = 0; d < size; d += width) {
    const auto pack = load<width>(key + d);
    for (int i = 0; i < width; ++i) {
      const float element = to_float(pack.at[i]);
      for (int r = 0; r < rows_a_block; ++r) scores[r] += query[r * size + d + i] * element;
    }
  }
}

template <int width, class Storage, class Cache>
__global__ static void attention_kernel(const Storage* q, const Cache* k, const Cache* v, Storage* y, float* logsumexp,
                                        AttentionShape shape, std::int64_t key_heads) {
  std::byte* const shared = vendor::shared_memory();
  const BlockTeam team(shared);
  const std::int64_t threads = vendor::threads_per_block();
  const std::int64_t thread = vendor::thread_index();
  float* const query = reinterpret_cast<float*>(shared + BlockTeam::shared_bytes);
  float* const total = query + rows_a_block * shape.size;
  float* const terms = total + rows_a_block * shape.value;
  const std::int64_t row_blocks = shape.row_blocks();
  const std::int64_t all_rows = shape.group * shape.queries;
  for (std::int64_t unit = vendor::block_index(); unit < key_heads * row_blocks; unit += vendor::blocks()) {
    const std::int64_t key_head = unit / row_blocks;
    const std::int64_t first_row = unit % row_blocks * rows_a_block;
    const std::int64_t rest = all_rows - first_row;
    const std::int64_t rows = rest < rows_a_block ? rest : rows_a_block;
    const Cache* const keys = k + key_head * shape.keys * shape.size;
    const Cache* const values = v + key_head * shape.keys * shape.value;
    team.each(rows_a_block * shape.size, [=](std::int64_t i) {
      const std::int64_t r = i / shape.size;
      query[i] =
          r < rows ? to_float(q[shape.row(key_head, first_row + r) * shape.size + i % shape.size]) * shape.scale : 0.0f;
    });
    team.each(rows_a_block * shape.value, [=](std::int64_t i) { total[i] = 0.0f; });
    RunningSoftmax state;
    for (int r = 0; r < rows_a_block; ++r) {
      state.largest[r] = -__builtin_inff();
      state.sum[r] = 0.0f;
    }
    const std::int64_t end = shape.end_key((first_row + rows - 1) / shape.group);
    for (std::int64_t first = shape.first_key(first_row / shape.group); first < end; first += threads) {
      const std::int64_t key = first + thread;
      float scores[rows_a_block] = {};
      if (key < end) score_key<width>(keys + key * shape.size, query, shape.size, scores);
      for (int r = 0; r < rows_a_block; ++r) {
        const std::int64_t own_query = (first_row + r) / shape.group;
        const bool sees = r < rows && key < shape.end_key(own_query) && key >= shape.first_key(own_query);
        const float score = sees ? scores[r] : -__builtin_inff();
        const float most = team.max(threads, [=](std::int64_t) { return score; });
        const float largest = most > state.largest[r] ? most : state.largest[r];
        const bool begun = state.largest[r] > -__builtin_inff();
        state.factor[r] = begun ? bodies::exponential_of_negative(state.largest[r] - largest) : 0.0f;
        const float term = sees ? bodies::exponential_of_negative(score - largest) : 0.0f;
        state.sum[r] = state.sum[r] * state.factor[r] + team.add(term);
        state.largest[r] = largest;
        terms[r * threads + thread] = term;
      }
      vendor::wait_for_block();
      const std::int64_t count = end - first < threads ? end - first : threads;
      for (std::int64_t d = thread; d < shape.value; d += threads) {
        float sums[rows_a_block];
        for (int r = 0; r < rows_a_block; ++r) sums[r] = total[r * shape.value + d] * state.factor[r];
        for (std::int64_t j = 0; j < count; ++j) {
          const float value = to_float(values[(first + j) * shape.value + d]);
          for (int r = 0; r < rows_a_block; ++r) sums[r] += terms[r * threads + j] * value;
        }
        for (int r = 0; r < rows_a_block; ++r) total[r * shape.value + d] = sums[r];
      }
      vendor::wait_for_block();
    }
    for (int r = 0; r < rows; ++r) {
      const std::int64_t row = shape.row(key_head, first_row + r);
      const float share = 1.0f / state.sum[r];
      team.each(shape.value, [=](std::int64_t d) {
        y[row * shape.value + d] = from_float<Storage>(total[r * shape.value + d] * share);
      });
      if (thread == 0) logsumexp[row] = state.largest[r] + bodies::logarithm(state.sum[r]);
    }
  }
}

template <class Storage, class Cache>
Prepared prepare_attention(const Attention& op, const Pointers& operands, const BodySetup& setup) {
  const AttentionShape shape{op.query_length,
                             op.key_length,
                             op.kv_heads,
                             op.heads / op.kv_heads,
                             op.head_size,
                             op.value_size,
                             op.window,
                             op.causal,
                             1.0f / std::sqrt(static_cast<float>(op.head_size))};
  const unsigned threads = setup.threads_or(128);
  const std::int64_t key_heads = op.batch * op.kv_heads;
  const std::int64_t row_blocks = ceiling(shape.group * shape.queries, rows_a_block);
  const std::size_t floats = rows_a_block * static_cast<std::size_t>(op.head_size + op.value_size + threads);
  const std::size_t shared = BlockTeam::shared_bytes + floats * sizeof(float);
  const Storage* const q = as<Storage>(operands.at(0));
  const Cache* const k = as<Cache>(operands.at(1));
  const Cache* const v = as<Cache>(operands.at(2));
  Storage* const y = as<Storage>(operands.at(3));
  float* const logsumexp = as<float>(operands.at(4));
  const unsigned blocks = grid_over(key_heads * row_blocks);
  const bool aligned = op.head_size % wide<Cache> == 0;
  Prepared prepared;
  prepared.method = "attention without matrix units";
  prepared.enqueue = [=](vendor::Stream stream) {
    if (aligned) {
      vendor::launch(attention_kernel<wide<Cache>, Storage, Cache>, blocks, threads, shared, stream, q, k, v, y,
                     logsumexp, shape, key_heads);
    } else {
      vendor::launch(attention_kernel<1, Storage, Cache>, blocks, threads, shared, stream, q, k, v, y, logsumexp, shape,
                     key_heads);
    }
  };
  return prepared;
}

}  // namespace

std::string objection(const Attention& op) {
  if (op.direction == Direction::backward) {
    return "the own kernels for GPUs have attention forward only; products and a softmax make its gradients";
  }
  const bool common =
      op.format.scaling == Scaling::none &&
      (op.format.element == Element::fp32 || op.format.element == Element::bf16 || op.format.element == Element::fp16);
  const bool cached = op.cache == op.format || op.cache == Format{Element::fp8_e4m3, Scaling::none};
  if (!common || !cached) {
    return "attention on GPUs takes fp32, bf16 and fp16, with keys and values as they are or in fp8_e4m3, not " +
           text(op.format) + " with " + text(op.cache);
  }
  if (op.head_size > largest_size || op.value_size > largest_size) {
    return "attention on GPUs takes heads of up to " + std::to_string(largest_size) + " numbers";
  }
  return "";
}

Prepared prepare(const Attention& op, const Pointers& operands, const BodySetup& setup) {
  return with_storage(op.format.element, [&](auto storage) {
    using Storage = decltype(storage);
    if (op.cache == op.format) return prepare_attention<Storage, Storage>(op, operands, setup);
    return prepare_attention<Storage, bodies::Fp8E4m3>(op, operands, setup);
  });
}

}  // namespace assay::gpu
