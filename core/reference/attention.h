// What attention computes: forward a unit is one query; backward the queries first, each with its dq, then the keys,
// each with its dk and dv. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/ops/attention.h"
#include "core/reference/rows.h"
#include "core/reference/scalar.h"

namespace assay::reference {

struct KeyRange {
  std::int64_t first;
  std::int64_t last;  // not included
};

// Keys that a query sees.
inline KeyRange keys_of(const Attention& op, std::int64_t query) {
  if (!op.causal) return {0, op.key_length};
  const std::int64_t end = op.key_length - op.query_length + query + 1;
  return {op.window == 0 ? 0 : std::max<std::int64_t>(0, end - op.window), end};
}

inline std::int64_t query_rows(const Attention& op) { return op.batch * op.heads * op.query_length; }
inline std::int64_t units(const Attention& op) {
  const bool forward = op.direction == Direction::forward;
  return query_rows(op) + (forward ? 0 : op.batch * op.kv_heads * op.key_length);
}
inline std::int64_t unit_of(const Attention& op, int operand, std::int64_t index) {
  if (op.direction == Direction::forward) return operand == 4 ? index : index / op.value_size;
  if (operand == 6) return index / op.head_size;
  return query_rows(op) + index / (operand == 7 ? op.head_size : op.value_size);
}

// Indices of the vectors that belong together, counted in vectors.
struct QueryPlace {
  std::int64_t query;      // in its sequence
  std::int64_t first_key;  // of the key head that it shares
};
inline QueryPlace query_place(const Attention& op, std::int64_t row) {
  const std::int64_t head = row / op.query_length % op.heads;
  const std::int64_t batch = row / op.query_length / op.heads;
  return {row % op.query_length, (batch * op.kv_heads + head / (op.heads / op.kv_heads)) * op.key_length};
}

template <class Number, class Read>
Number dot(const Read& read, int a, std::int64_t a_row, int b, std::int64_t b_row, std::int64_t size) {
  Sum<Number> sum(Terms::independent);
  for (std::int64_t i = 0; i < size; ++i) sum.add(read(a, a_row * size + i) * read(b, b_row * size + i));
  return sum.result();
}

inline double score_scale(const Attention& op) { return 1 / std::sqrt(static_cast<double>(op.head_size)); }

template <class Number, class Read, class Write>
void attention_forward(const Attention& op, std::int64_t row, const Read& read, const Write& write) {
  const QueryPlace at = query_place(op, row);
  const KeyRange keys = keys_of(op, at.query);
  std::vector<Number> scores;
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    scores.push_back(Number(score_scale(op)) * dot<Number>(read, 0, row, 1, at.first_key + j, op.head_size));
  }
  const auto terms =
      exponentials<Number>(keys.last - keys.first, [&](std::int64_t i) { return scores[static_cast<std::size_t>(i)]; });
  for (std::int64_t i = 0; i < op.value_size; ++i) {
    Sum<Number> sum(Terms::independent);
    for (std::int64_t j = keys.first; j < keys.last; ++j) {
      sum.add(terms.each[static_cast<std::size_t>(j - keys.first)] * read(2, (at.first_key + j) * op.value_size + i));
    }
    write(3, row * op.value_size + i, sum.result() / terms.sum);
  }
  write(4, row, terms.largest + log(terms.sum));
}

// The probability of a pair, and the gradient of its score before the scale.
template <class Number>
struct PairGradient {
  Number probability;
  Number score;
};
template <class Number, class Read>
PairGradient<Number> pair_gradient(const Attention& op, std::int64_t row, std::int64_t key, const Number& along,
                                   const Read& read) {
  const Number score = Number(score_scale(op)) * dot<Number>(read, 1, row, 2, key, op.head_size);
  const Number probability = exp(score - read(5, row));
  return {probability, probability * (dot<Number>(read, 0, row, 3, key, op.value_size) - along)};
}

template <class Number, class Read, class Write>
void attention_backward_query(const Attention& op, std::int64_t row, const Read& read, const Write& write) {
  const QueryPlace at = query_place(op, row);
  const KeyRange keys = keys_of(op, at.query);
  const Number along = dot<Number>(read, 0, row, 4, row, op.value_size);
  std::vector<Sum<Number>> sums(static_cast<std::size_t>(op.head_size), Sum<Number>(Terms::independent));
  for (std::int64_t j = keys.first; j < keys.last; ++j) {
    const Number slope = pair_gradient<Number>(op, row, at.first_key + j, along, read).score;
    for (std::int64_t i = 0; i < op.head_size; ++i) {
      sums[static_cast<std::size_t>(i)].add(slope * read(2, (at.first_key + j) * op.head_size + i));
    }
  }
  for (std::int64_t i = 0; i < op.head_size; ++i) {
    write(6, row * op.head_size + i, Number(score_scale(op)) * sums[static_cast<std::size_t>(i)].result());
  }
}

template <class Number, class Read, class Write>
void attention_backward_key(const Attention& op, std::int64_t key, const Read& read, const Write& write) {
  const std::int64_t own = key % op.key_length;
  const std::int64_t kv_head = key / op.key_length % op.kv_heads;
  const std::int64_t batch = key / op.key_length / op.kv_heads;
  const std::int64_t group = op.heads / op.kv_heads;
  std::vector<Sum<Number>> keys(static_cast<std::size_t>(op.head_size), Sum<Number>(Terms::independent));
  std::vector<Sum<Number>> values(static_cast<std::size_t>(op.value_size), Sum<Number>(Terms::independent));
  for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    for (std::int64_t query = 0; query < op.query_length; ++query) {
      const KeyRange range = keys_of(op, query);
      if (own < range.first || own >= range.last) continue;
      const std::int64_t row = (batch * op.heads + head) * op.query_length + query;
      const Number along = dot<Number>(read, 0, row, 4, row, op.value_size);
      const PairGradient<Number> pair = pair_gradient<Number>(op, row, key, along, read);
      for (std::int64_t i = 0; i < op.head_size; ++i) {
        keys[static_cast<std::size_t>(i)].add(pair.score * read(1, row * op.head_size + i));
      }
      for (std::int64_t i = 0; i < op.value_size; ++i) {
        values[static_cast<std::size_t>(i)].add(pair.probability * read(0, row * op.value_size + i));
      }
    }
  }
  for (std::int64_t i = 0; i < op.head_size; ++i) {
    write(7, key * op.head_size + i, Number(score_scale(op)) * keys[static_cast<std::size_t>(i)].result());
  }
  for (std::int64_t i = 0; i < op.value_size; ++i) {
    write(8, key * op.value_size + i, values[static_cast<std::size_t>(i)].result());
  }
}

template <class Number, class Read, class Write>
void compute(const Attention& op, std::int64_t unit, const Read& read, const Write& write) {
  if (op.direction == Direction::forward) {
    attention_forward<Number>(op, unit, read, write);
  } else if (unit < query_rows(op)) {
    attention_backward_query<Number>(op, unit, read, write);
  } else {
    attention_backward_key<Number>(op, unit - query_rows(op), read, write);
  }
}

// -- cache: one element of it
// ------------------------------------------------------------------------------------------

inline std::int64_t units(const CacheAppend& op) { return op.batch * op.heads * op.capacity * op.head_size; }
inline std::int64_t unit_of(const CacheAppend&, int, std::int64_t index) { return index; }

template <class Number, class Read, class Write>
void compute(const CacheAppend& op, std::int64_t unit, const Read& read, const Write& write) {
  const std::int64_t head = unit / op.head_size / op.capacity;
  const std::int64_t row = unit / op.head_size % op.capacity - op.position;
  const bool moved = row >= 0 && row < op.length;
  write(1, unit, moved ? read(0, (head * op.length + row) * op.head_size + unit % op.head_size) : read(1, unit));
}

}  // namespace assay::reference
