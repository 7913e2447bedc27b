// What a kernel does that issues one matrix instruction over and over, and touches no memory meanwhile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/lane_issue.h"
#include "lanes.h"

namespace vendor {

// The value has to be in a register here, and where it came from is forgotten; without this the compiler works negated
// operands out again in every turn.
template <class Word>
__device__ inline void keep(Word& value) {
  asm volatile("" : "+v"(value));
}

// Products with A and with minus A take turns, so that sums stay small: after any number of turns accumulator i holds
// A[i % 2] by B[i / 2].
template <class Form>
__device__ void issue_body(int turns, std::uint32_t seed, typename Form::Sums* out) {
  using Word = typename Form::Word;
  Word a[2][Form::words];
  Word minus_a[2][Form::words];
  Word b[2][Form::words];
  const int lane = static_cast<int>(thread_index() % lanes_per_warp());
  const int row = lane % Form::size;
  const int group = lane / Form::size % Form::groups;
#pragma unroll
  for (int set = 0; set < 2; ++set) {
#pragma unroll
    for (int i = 0; i < Form::words; ++i) {
      a[set][i] = Form::word(seed, issue_index(set, row, group, i));
      b[set][i] = Form::word(seed, issue_index(2 + set, row, group, i));
      minus_a[set][i] = Form::negated(a[set][i]);
      keep(minus_a[set][i]);
    }
  }
  typename Form::Sums d[issue_chains] = {};
#pragma unroll
  for (int i = 0; i < issue_chains; ++i) d[i] = Form::multiply(a[i % 2], b[i / 2], d[i]);
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int i = 0; i < issue_chains; ++i) d[i] = Form::multiply(a[i % 2], b[i / 2], d[i]);
#pragma unroll
    for (int i = 0; i < issue_chains; ++i) d[i] = Form::multiply(minus_a[i % 2], b[i / 2], d[i]);
  }
  // Accumulators must not be found unused, or nothing would be multiplied.
  if (out == nullptr) {
#pragma unroll
    for (int i = 0; i < issue_chains; ++i) asm volatile("" : : "v"(d[i]));
    return;
  }
  typename Form::Sums* own = out + std::size_t{thread_index()} * issue_chains;
#pragma unroll
  for (int i = 0; i < issue_chains; ++i) own[i] = d[i];
}

}  // namespace vendor
