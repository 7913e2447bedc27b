// What gathering and scattering by token, position and head does: a unit is one vector.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/ops/tokens.h"
#include "core/reference/rows.h"
#include "core/reference/scalar.h"

namespace assay::reference {

// -- embedding: forward a row of y, backward a row of the table -------------------------------------------------------

inline std::int64_t units(const Embedding& op) { return op.direction == Direction::forward ? op.rows : op.vocabulary; }
inline std::int64_t unit_of(const Embedding& op, int, std::int64_t index) { return index / op.columns; }

template <class Number, class Read, class Write>
void compute(const Embedding& op, std::int64_t unit, const Read& read, const Write& write) {
  const std::int64_t first = unit * op.columns;
  if (op.direction == Direction::forward) {
    const std::int64_t token = checked_index<Number>(read(0, unit), op.vocabulary, "token");
    for (std::int64_t i = 0; i < op.columns; ++i) write(2, first + i, read(1, token * op.columns + i));
    return;
  }
  std::vector<Sum<Number>> sums(static_cast<std::size_t>(op.columns), Sum<Number>(Terms::independent));
  for (std::int64_t row = 0; row < op.rows; ++row) {
    if (checked_index<Number>(read(0, row), op.vocabulary, "token") != unit) continue;
    for (std::int64_t i = 0; i < op.columns; ++i) sums[static_cast<std::size_t>(i)].add(read(1, row * op.columns + i));
  }
  for (std::int64_t i = 0; i < op.columns; ++i) {
    write(2, first + i, read(2, first + i) + sums[static_cast<std::size_t>(i)].result());
  }
}

// -- rope: one head of one token --------------------------------------------------------------------------------------

inline std::int64_t slots(const Rope& op) { return op.heads + 2 * op.kv_heads; }
inline std::int64_t units(const Rope& op) { return op.batch * op.length * slots(op); }

// Where a unit's vector lies on both sides.
struct RopeVector {
  int part;               // 0 q, 1 k, 2 v: the operand, counted from the first of them
  std::int64_t split;     // index of its first element in that operand
  std::int64_t packed;    // index of its first element in packed
  std::int64_t position;  // in the sequence
};

inline RopeVector rope_vector(const Rope& op, std::int64_t unit) {
  const std::int64_t slot = unit % slots(op);
  const std::int64_t token = unit / slots(op);
  const std::int64_t position = token % op.length;
  const std::int64_t batch = token / op.length;
  const int part = slot < op.heads ? 0 : slot < op.heads + op.kv_heads ? 1 : 2;
  const std::int64_t heads = part == 0 ? op.heads : op.kv_heads;
  const std::int64_t head = part == 0 ? slot : (slot - op.heads) % op.kv_heads;
  const std::int64_t split = ((batch * heads + head) * op.length + position) * op.head_size;
  return {part, split, unit * op.head_size, position};
}

inline std::int64_t unit_of(const Rope& op, int operand, std::int64_t index) {
  if (op.direction == Direction::backward) return index / op.head_size;
  const int part = operand - (op.rotate ? 2 : 1);
  const std::int64_t heads = part == 0 ? op.heads : op.kv_heads;
  const std::int64_t vector = index / op.head_size;
  const std::int64_t position = vector % op.length;
  const std::int64_t head = vector / op.length % heads;
  const std::int64_t batch = vector / op.length / heads;
  const std::int64_t slot = head + (part == 0 ? 0 : part == 1 ? op.heads : op.heads + op.kv_heads);
  return (batch * op.length + position) * slots(op) + slot;
}

template <class Number, class Read, class Write>
void compute(const Rope& op, std::int64_t unit, const Read& read, const Write& write) {
  const RopeVector at = rope_vector(op, unit);
  const bool forward = op.direction == Direction::forward;
  const int table = forward ? 1 : 3;
  const int source = forward ? 0 : at.part;
  const int target = forward ? at.part + (op.rotate ? 2 : 1) : (op.rotate ? 4 : 3);
  const std::int64_t from = forward ? at.packed : at.split;
  const std::int64_t to = forward ? at.split : at.packed;
  if (!op.rotate || at.part == 2) {
    for (std::int64_t i = 0; i < op.head_size; ++i) write(target, to + i, read(source, from + i));
    return;
  }
  const std::int64_t half = op.head_size / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const Number c = read(table, at.position * op.head_size + i);
    const Number sine = read(table, at.position * op.head_size + half + i);
    const Number s = forward ? sine : -sine;
    const Number low = read(source, from + i);
    const Number high = read(source, from + half + i);
    write(target, to + i, low * c - high * s);
    write(target, to + half + i, high * c + low * s);
  }
}

// -- heads: one element -----------------------------------------------------------------------------------------------

inline std::int64_t units(const Heads& op) { return op.batch * op.length * op.heads * op.head_size; }

// The merged index of an index into [batch, heads, length, head_size].
inline std::int64_t merged_index(const Heads& op, std::int64_t split) {
  const std::int64_t element = split % op.head_size;
  const std::int64_t vector = split / op.head_size;
  const std::int64_t position = vector % op.length;
  const std::int64_t head = vector / op.length % op.heads;
  const std::int64_t batch = vector / op.length / op.heads;
  return ((batch * op.length + position) * op.heads + head) * op.head_size + element;
}

inline std::int64_t split_index(const Heads& op, std::int64_t merged) {
  const std::int64_t element = merged % op.head_size;
  const std::int64_t vector = merged / op.head_size;
  const std::int64_t head = vector % op.heads;
  const std::int64_t position = vector / op.heads % op.length;
  const std::int64_t batch = vector / op.heads / op.length;
  return ((batch * op.heads + head) * op.length + position) * op.head_size + element;
}

inline std::int64_t unit_of(const Heads&, int, std::int64_t index) { return index; }  // units are output elements

template <class Number, class Read, class Write>
void compute(const Heads& op, std::int64_t unit, const Read& read, const Write& write) {
  const bool forward = op.direction == Direction::forward;
  write(1, unit, read(0, forward ? split_index(op, unit) : merged_index(op, unit)));
}

}  // namespace assay::reference
