// What the accumulators of an issue-rate kernel must hold.
// SPDX-License-Identifier: Apache-2.0
#include "matrix_issue_proof.h"

#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/number.h"
#include "matrix_issue_data.h"
#include "wgmma_descriptor.h"

namespace vendor {
namespace {

using assay::Element;

bool is_double(const IssueShape& shape) { return shape.element == Element::fp64; }

bool in_registers(const IssueShape& shape) { return shape.family == IssueFamily::mma; }

// Words along K of one product. Four lanes hold four of them, then the next register.
int words_along_k(const IssueShape& shape) { return shape.k_bytes / (is_double(shape) ? 8 : 4); }

// A fragment's registers by rows of 8: lane = row mod 8 times 4 plus word mod 4, register = rows of 8, then words of 4.
struct Fragment {
  int lane;
  int word;
};
Fragment fragment_of(int row, int rows, int word) { return {row % 8 * 4 + word % 4, word / 4 * (rows / 8) + row / 8}; }

// mma_issue.h numbers words by operand and lane: A of set s from s * a_words, B from 32 + s * b_words.
std::uint64_t index_of_a(const IssueShape& shape, int set, int row, int word) {
  const Fragment at = fragment_of(row, shape.m, word);
  return static_cast<std::uint64_t>(set * shape.a_words + at.word) * 32 + static_cast<std::uint64_t>(at.lane);
}
std::uint64_t index_of_b(const IssueShape& shape, int set, int column, int word) {
  const Fragment at = fragment_of(column, 8, word);
  return static_cast<std::uint64_t>(32 + set * shape.b_words + at.word) * 32 + static_cast<std::uint64_t>(at.lane);
}

// Operands in shared memory: A's rows of 128 bytes, then B's.
std::uint64_t index_in_shared(const IssueShape& shape, bool is_b, int row, int slice, int word) {
  const auto byte = static_cast<std::uint32_t>(slice * shape.k_bytes + word * 4);
  const std::uint32_t before = is_b ? static_cast<std::uint32_t>(shape.m) * swizzled_row_bytes : 0;
  return (before + swizzled_offset(static_cast<std::uint32_t>(row), byte)) / 4;
}

// A in the registers of a warpgroup: each warp has 16 rows.
std::uint64_t index_in_warpgroup(int row, int slice, int word) {
  const Fragment at = fragment_of(row % 16, 16, word);
  return static_cast<std::uint64_t>(slice * 4 + at.word) * 128 + static_cast<std::uint64_t>(row / 16 * 32 + at.lane);
}

std::uint32_t word_of_a(const IssueShape& shape, std::uint32_t seed, int set, int row, int word) {
  switch (shape.family) {
    case IssueFamily::mma:
      return typical_word(shape.element, seed, index_of_a(shape, set, row, word));
    case IssueFamily::wgmma_registers:
      return typical_word(shape.element, seed + 1, index_in_warpgroup(row, set, word));
    case IssueFamily::wgmma_shared:
    case IssueFamily::tcgen05:
      break;
  }
  return typical_word(shape.element, seed, index_in_shared(shape, false, row, set, word));
}

std::uint32_t word_of_b(const IssueShape& shape, std::uint32_t seed, int set, int column, int word) {
  const std::uint64_t index =
      in_registers(shape) ? index_of_b(shape, set, column, word) : index_in_shared(shape, true, column, set, word);
  return typical_word(shape.element, seed, index);
}

// The product of slices (or register sets) `set_a` and `set_b`.
ExpectedSum product(const IssueShape& shape, std::uint32_t seed, int set_a, int set_b, int row, int column) {
  ExpectedSum sum;
  const auto add = [&](double a, double b) {
    sum.value += a * b;
    sum.magnitude += std::fabs(a * b);
  };
  for (int word = 0; word < words_along_k(shape); ++word) {
    if (is_double(shape)) {
      add(typical_double(seed, index_of_a(shape, set_a, row, word)),
          typical_double(seed, index_of_b(shape, set_b, column, word)));
      continue;
    }
    const std::uint32_t a = word_of_a(shape, seed, set_a, row, word);
    const std::uint32_t b = word_of_b(shape, seed, set_b, column, word);
    const unsigned width = element_bits(shape.element);
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    for (unsigned at = 0; at < 32; at += width) {
      add(assay::decode(shape.element, (a >> at) & mask), assay::decode(shape.element, (b >> at) & mask));
    }
  }
  return sum;
}

double wrapped(double value) {
  return static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(value))));
}

}  // namespace

ExpectedSum expected_sum(const IssueShape& shape, std::uint32_t seed, int turns, int chain, int row, int column) {
  if (in_registers(shape)) {
    ExpectedSum sum = product(shape, seed, chain % 2, chain / 2 % 2, row, column);
    sum.magnitude *= 1 + 2.0 * turns;
    return sum;
  }
  ExpectedSum sum = product(shape, seed, 0, 0, row, column);
  double all = 0;
  for (int slice = 0; slice < shape.slices; ++slice) {
    const ExpectedSum one = product(shape, seed, slice, slice, row, column);
    all += one.value;
    sum.magnitude += 2.0 * turns * one.magnitude;
  }
  // Integers cannot be negated, so every slice is added twice a turn.
  if (shape.element == Element::int8) sum.value = wrapped(sum.value + 2.0 * turns * all);
  return sum;
}

int sums_a_word(const IssueShape& shape) {
  return shape.sum == Element::fp16 && shape.family != IssueFamily::tcgen05 ? 2 : 1;
}

SumPlace place_of_sum(const IssueShape& shape, std::size_t word, int half) {
  const auto index = static_cast<int>(word);
  if (shape.family == IssueFamily::tcgen05) return {0, index / shape.n, index % shape.n};
  const int each = shape.d_words * shape.chains;
  const int thread = index / each;
  const int chain = index % each / shape.d_words;
  const int lane = thread % 32;
  // Registers hold neighbouring columns, then the rows 8 below, then the next 8 columns.
  const int number = index % shape.d_words * sums_a_word(shape) + half;
  const int rows = shape.m >= 16 ? 2 : 1;
  const int warp_row = in_registers(shape) ? 0 : thread / 32 * 16;
  return {chain, warp_row + lane / 4 + number / 2 % rows * 8, number / (2 * rows) * 8 + lane % 4 * 2 + number % 2};
}

double decode_sum(const IssueShape& shape, const std::vector<std::uint32_t>& out, std::size_t word, int half) {
  if (is_double(shape)) {
    double value = 0;
    std::memcpy(&value, out.data() + 2 * word, sizeof value);
    return value;
  }
  const std::uint32_t bits = out.at(word);
  if (shape.sum == Element::fp16) return assay::decode(Element::fp16, (bits >> (16 * half)) & 0xFFFFU);
  return assay::decode(shape.sum, bits);
}

std::optional<std::string> wrong_sum(const IssueKernel& kernel, std::uint32_t seed, int turns,
                                     const std::vector<std::uint32_t>& out, std::size_t stride) {
  const IssueShape& shape = kernel.shape;
  if (out.size() < kernel.words_out) throw assay::Error("proving an issue-rate kernel: its output is incomplete");
  const std::size_t words = kernel.words_out / (is_double(shape) ? 2 : 1);
  for (std::size_t word = 0; word < words; word += stride) {
    for (int half = 0; half < sums_a_word(shape); ++half) {
      const SumPlace at = place_of_sum(shape, word, half);
      const ExpectedSum expected = expected_sum(shape, seed, turns, at.chain, at.row, at.column);
      const double found = decode_sum(shape, out, word, half);
      const double tolerance = shape.sum == Element::int32 ? 0 : expected.magnitude / 256;
      if (std::fabs(found - expected.value) <= tolerance) continue;  // written so that NaN is wrong
      return "row " + std::to_string(at.row) + ", column " + std::to_string(at.column) + " is " +
             std::to_string(found) + " and should be " + std::to_string(expected.value);
    }
  }
  return std::nullopt;
}

}  // namespace vendor
