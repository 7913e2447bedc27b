// Matrix instructions whose numbers lie in the lanes of a wavefront: how they lie there, and how the sums of a kernel
// that does nothing else are proved. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/format.h"

namespace vendor {

constexpr unsigned issue_threads = 256;
constexpr int issue_chains = 4;  // accumulators, independent, so that no instruction waits for the one before

// How the numbers of an instruction lie in the lanes of a wavefront, which is what a proof must know.
struct IssueShape {
  assay::Element element = assay::Element::fp16;
  assay::Element sum = assay::Element::fp32;
  int lanes = 64;
  int size = 32;       // rows and columns of D
  int k = 8;           // elements of one product
  int words = 2;       // of one lane, of A and of B; a word is 32 bits, or one fp64
  int groups = 2;      // sets of lanes with parts of K of their own
  int sums = 16;       // of one lane and accumulator
  bool split = false;  // D as RDNA4 spreads it
  double scale = 1;    // that block-scaled operands bring along, of A by that of B
};

// Index of word `word` of row or column `row`, in the part of K of lane group `group`; `operand` is set (0 or 1), and 2
// more for B.
constexpr std::uint64_t issue_index(int operand, int row, int group, int word) {
  return ((static_cast<std::uint64_t>(operand) * 32 + static_cast<std::uint64_t>(row)) * 4 +
          static_cast<std::uint64_t>(group)) *
             16 +
         static_cast<std::uint64_t>(word);
}

// Row of D that sum `index` of lane `lane` is of; the column is the lane's number within the size. By AMD's instruction
// set manuals (CDNA3 7.1, RDNA3 7.9, RDNA4 7.12).
constexpr int row_of_sum(const IssueShape& shape, int lane, int index) {
  if (shape.size == 32) return index / 4 * 8 + lane / 32 * 4 + index % 4;
  if (shape.lanes == 64) return index * 4 + lane / 16;  // fp64
  return shape.split ? lane / 16 * 8 + index : index * 2 + lane / 16;
}

// entry is a `__global__ void(int turns, std::uint32_t seed, void* out)`. Without `out` it stores nothing; with it each
// thread stores its sums, accumulator by accumulator.
struct IssueKernel {
  const void* entry = nullptr;
  std::string instruction;  // its name
  unsigned threads = issue_threads;
  unsigned blocks_a_multiprocessor = 0;  // as many as fit
  std::size_t shared_bytes = 0;
  double multiply_adds_a_turn = 0;  // of one block
  std::size_t words_out = 0;        // of one block, in 32 bits
  IssueShape shape;
};

// Compares every `stride`-th sum of one block with the same products on the host. Says what is wrong with the first
// that is, or nothing. Throws Error where `out` is incomplete.
std::optional<std::string> wrong_sum(const IssueKernel& kernel, std::uint32_t seed, int turns,
                                     const std::vector<std::uint32_t>& out, std::size_t stride);

}  // namespace vendor
