// Launches the gather and scatter bodies on the threads of a CPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/ops/tokens.h"
#include "kernels/cpu/bodies_table.h"
#include "kernels/cpu/parallel.h"
#include "kernels/gather.h"

namespace assay::cpu {

// Each thread takes some columns of every group: however unevenly the tokens are spread, the work is even, and every
// sum is taken in the order of the rows.
template <class Team, class Storage>
static inline void run_embedding_backward(const Embedding& op, const BodyCall& call) {
  const Storage* const dy = as<Storage>(call.operands[1]);
  Storage* const gradient = as<Storage>(call.operands[2]);
  const std::int64_t columns = op.columns;
  const TokenGroups groups = call.groups;
  float* const sums = as<float>(call.workspace);
  over_pieces(columns, 64, op.rows, call.threads, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t group = 0; group < groups.count; ++group) {
      const std::int32_t begin = groups.begins[group];
      bodies::embedding_backward(Team{}, dy + first, groups.rows + begin, groups.begins[group + 1] - begin, columns,
                                 sums + first, gradient + groups.tokens[group] * columns + first, last - first);
    }
  });
}

template <class Team, class Storage>
static inline void run_embedding_of(const Embedding& op, const BodyCall& call) {
  if (op.direction == Direction::backward) return run_embedding_backward<Team, Storage>(op, call);
  const auto* const tokens = as<std::int32_t>(call.operands[0]);
  const Storage* const table = as<Storage>(call.operands[1]);
  Storage* const y = as<Storage>(call.operands[2]);
  const std::int64_t columns = op.columns;
  over_rows(op.rows, columns, call.threads, [=](std::int64_t row) {
    bodies::copy_row(Team{}, table + tokens[row] * columns, y + row * columns, columns);
  });
}

template <class Team>
static inline void run_embedding(const Embedding& op, const BodyCall& call) {
  with_storage(op.format.element, [&](auto storage) { run_embedding_of<Team, decltype(storage)>(op, call); });
}

template <class Team, class Storage>
static inline void run_rope_of(const Rope& op, const BodyCall& call) {
  const bodies::HeadPlaces places{op.length, op.heads, op.kv_heads, op.head_size};
  const std::int64_t row_elements = (op.heads + 2 * op.kv_heads) * op.head_size;
  const bool forward = op.direction == Direction::forward;
  // Forward: packed, (table), q, k, v. Backward: dq, dk, dv, (table), dpacked.
  const int first_part = forward ? (op.rotate ? 2 : 1) : 0;
  const float* const table = op.rotate ? as<float>(call.operands[forward ? 1 : 3]) : nullptr;
  Storage* const packed = as<Storage>(call.operands[forward ? 0 : (op.rotate ? 4 : 3)]);
  Storage* const q = as<Storage>(call.operands[first_part]);
  Storage* const k = as<Storage>(call.operands[first_part + 1]);
  Storage* const v = as<Storage>(call.operands[first_part + 2]);
  over_rows(op.batch * op.length, row_elements, call.threads, [=](std::int64_t token) {
    const float* const angles = table == nullptr ? nullptr : table + token % places.length * places.head_size;
    if (forward) {
      bodies::split_token(Team{}, places, token, packed, angles, q, k, v);
    } else {
      bodies::pack_token(Team{}, places, token, q, k, v, angles, packed);
    }
  });
}

template <class Team>
static inline void run_rope(const Rope& op, const BodyCall& call) {
  with_storage(op.format.element, [&](auto storage) { run_rope_of<Team, decltype(storage)>(op, call); });
}

template <class Team, class Storage>
static inline void run_heads_of(const Heads& op, const BodyCall& call) {
  Storage* const from = as<Storage>(call.operands[0]);
  Storage* const to = as<Storage>(call.operands[1]);
  const std::int64_t size = op.head_size;
  const std::int64_t heads = op.heads;
  const std::int64_t length = op.length;
  const bool forward = op.direction == Direction::forward;
  over_rows(op.batch * length, heads * size, call.threads, [=](std::int64_t token) {
    for (std::int64_t head = 0; head < heads; ++head) {
      const std::int64_t apart = bodies::head_offset(token, head, heads, length, size);
      const std::int64_t merged = (token * heads + head) * size;
      bodies::copy_row(Team{}, from + (forward ? apart : merged), to + (forward ? merged : apart), size);
    }
  });
}

template <class Team>
static inline void run_heads(const Heads& op, const BodyCall& call) {
  with_storage(op.format.element, [&](auto storage) { run_heads_of<Team, decltype(storage)>(op, call); });
}

}  // namespace assay::cpu
