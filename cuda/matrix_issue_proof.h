// What the accumulators of an issue-rate kernel must hold: the same products on the host, by the layouts of the PTX ISA
// ("Matrix fragments", "Register fragments and shared memory matrix layouts", "Data path layout organization").
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "matrix_issue_kernels.h"

namespace vendor {

// One sum: its value, and the sum of the magnitudes of everything that was added on the way.
struct ExpectedSum {
  double value = 0;
  double magnitude = 0;
};

// Element (row, column) of accumulator `chain` after `turns` turns.
ExpectedSum expected_sum(const IssueShape& shape, std::uint32_t seed, int turns, int chain, int row, int column);

// Where one number of a block's output belongs. `word` counts as the kernel writes, in 32 bits or fp64; `half` is 1 for
// the upper of two FP16 in one word.
struct SumPlace {
  int chain = 0;
  int row = 0;
  int column = 0;
};
SumPlace place_of_sum(const IssueShape& shape, std::size_t word, int half);

// Numbers in one word of the output: 2 where registers hold pairs of FP16.
int sums_a_word(const IssueShape& shape);

// The number at `word` of an output of 32-bit words, decoded.
double decode_sum(const IssueShape& shape, const std::vector<std::uint32_t>& out, std::size_t word, int half);

// Compares every `stride`-th word of one block's output. Says what is wrong with the first that is, or nothing. Sums
// may be off by 2^-8 of all that was added: FP16 and FP8 units keep few bits on the way, and a wrong layout is off by
// far more.
std::optional<std::string> wrong_sum(const IssueKernel& kernel, std::uint32_t seed, int turns,
                                     const std::vector<std::uint32_t>& out, std::size_t stride);

}  // namespace vendor
