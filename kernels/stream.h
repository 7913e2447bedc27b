// The streams: what becomes of one element. Sums are taken in the precision of the arithmetic, float or double.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/convert.h"

namespace assay::bodies {

static constexpr float stream_scalar = 3.0f;

// Arithmetic on stored elements: double for double, float for everything else.
static inline PORTABLE double to_number(double value) { return value; }
template <class Storage>
static inline PORTABLE float to_number(Storage value) {
  return to_float(value);
}

template <class Storage, class Number>
static inline PORTABLE Storage from_number(Number value) {
  if constexpr (std::is_same_v<Storage, double>) {
    return value;
  } else {
    return from_float<Storage>(value);
  }
}

template <class Storage>
static inline PORTABLE Storage stream_scale(Storage x) {
  return from_number<Storage>(stream_scalar * to_number(x));
}
template <class Storage>
static inline PORTABLE Storage stream_add(Storage x, Storage y) {
  return from_number<Storage>(to_number(x) + to_number(y));
}
template <class Storage>
static inline PORTABLE Storage stream_triad(Storage x, Storage y) {
  return from_number<Storage>(to_number(x) + stream_scalar * to_number(y));
}

}  // namespace assay::bodies
