// Gather and scatter bodies: rows that move by token, position and head.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/column.h"
#include "kernels/convert.h"
#include "kernels/team.h"

namespace assay::bodies {

template <class Team, class Storage>
static inline PORTABLE void copy_row(const Team& team, const Storage* from, Storage* to, std::int64_t columns) {
  team.each(columns, [=](std::int64_t i) { to[i] = from[i]; });
}

// One row of the table's gradient: the rows of dy whose token it is, `rows[0 .. count)`, added in that order in float
// and rounded once. `sums` has room for the columns.
template <class Team, class Storage>
static inline PORTABLE void embedding_backward(const Team& team, const Storage* dy, const std::int32_t* rows,
                                               std::int64_t count, std::int64_t stride, float* sums, Storage* gradient,
                                               std::int64_t columns) {
  if (count == 1) {  // most tokens of a text that is not long
    const Storage* const only = dy + rows[0] * stride;
    team.each(columns,
              [=](std::int64_t i) { gradient[i] = from_float<Storage>(to_float(gradient[i]) + to_float(only[i])); });
    return;
  }
  team.each(columns, [=](std::int64_t i) { sums[i] = to_float(gradient[i]); });
  for (std::int64_t k = 0; k < count; k += rows_a_pass) {
    add_rows(team, k, end_of_pass(k, count), columns, sums,
             [=](std::int64_t row, std::int64_t i) { return to_float(dy[rows[row] * stride + i]); });
  }
  team.each(columns, [=](std::int64_t i) { gradient[i] = from_float<Storage>(sums[i]); });
}

// Rotates pairs (i, i + half) of one head by the angles of its position: cosines, then sines. `turn` is 1 forward and
// -1 backward (the transpose of a rotation is the rotation back).
template <class Team, class Storage>
static inline PORTABLE void rotate_head(const Team& team, const Storage* from, const float* angles, float turn,
                                        Storage* to, std::int64_t head_size) {
  const std::int64_t half = head_size / 2;
  team.each(half, [=](std::int64_t i) {
    const float cosine = angles[i];
    const float sine = turn * angles[half + i];
    const float low = to_float(from[i]);
    const float high = to_float(from[half + i]);
    to[i] = from_float<Storage>(low * cosine - high * sine);
    to[half + i] = from_float<Storage>(high * cosine + low * sine);
  });
}

// Where the heads of one token are: packed in one row, [queries | keys | values], and apart, [batch, heads, length,
// head_size].
struct HeadPlaces {
  std::int64_t length;
  std::int64_t heads;
  std::int64_t kv_heads;
  std::int64_t head_size;
};
static inline PORTABLE std::int64_t head_offset(std::int64_t token, std::int64_t head, std::int64_t heads,
                                                std::int64_t length, std::int64_t head_size) {
  return ((token / length * heads + head) * length + token % length) * head_size;
}

// One token of the packed projections into q, k and v, queries and keys rotated. `angles` is the row of the token's
// position, or null where nothing turns.
template <class Team, class Storage>
static inline PORTABLE void split_token(const Team& team, const HeadPlaces& places, std::int64_t token,
                                        const Storage* packed, const float* angles, Storage* q, Storage* k,
                                        Storage* v) {
  const std::int64_t size = places.head_size;
  const Storage* from = packed + token * (places.heads + 2 * places.kv_heads) * size;
  for (std::int64_t head = 0; head < places.heads + 2 * places.kv_heads; ++head, from += size) {
    const bool query = head < places.heads;
    const bool key = !query && head < places.heads + places.kv_heads;
    const std::int64_t own = query ? head : (head - places.heads) % places.kv_heads;
    const std::int64_t offset = head_offset(token, own, query ? places.heads : places.kv_heads, places.length, size);
    Storage* to = (query ? q : key ? k : v) + offset;
    if (angles != nullptr && (query || key)) {
      rotate_head(team, from, angles, 1.0f, to, size);
    } else {
      copy_row(team, from, to, size);
    }
  }
}

// The way back: gradients of q, k and v of one token into the packed row.
template <class Team, class Storage>
static inline PORTABLE void pack_token(const Team& team, const HeadPlaces& places, std::int64_t token,
                                       const Storage* dq, const Storage* dk, const Storage* dv, const float* angles,
                                       Storage* packed) {
  const std::int64_t size = places.head_size;
  Storage* to = packed + token * (places.heads + 2 * places.kv_heads) * size;
  for (std::int64_t head = 0; head < places.heads + 2 * places.kv_heads; ++head, to += size) {
    const bool query = head < places.heads;
    const bool key = !query && head < places.heads + places.kv_heads;
    const std::int64_t own = query ? head : (head - places.heads) % places.kv_heads;
    const std::int64_t offset = head_offset(token, own, query ? places.heads : places.kv_heads, places.length, size);
    const Storage* from = (query ? dq : key ? dk : dv) + offset;
    if (angles != nullptr && (query || key)) {
      rotate_head(team, from, angles, -1.0f, to, size);
    } else {
      copy_row(team, from, to, size);
    }
  }
}

}  // namespace assay::bodies
