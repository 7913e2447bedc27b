// What the accumulators of an issue-rate kernel must hold: the same products on the host.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/issue_data.h"
#include "core/number.h"
#include "gpu/lane_issue.h"

namespace vendor {
namespace {

using assay::Element;

struct Expected {
  double value = 0;
  double magnitude = 0;  // of everything that was added on the way
};

// Where K lies in the lanes does not matter, since A and B lie alike: every word of a row meets the same of a column.
Expected expected(const IssueShape& shape, std::uint32_t seed, int chain, int row, int column) {
  Expected sum;
  const auto add = [&](double a, double b) {
    sum.value += shape.scale * a * b;
    sum.magnitude += std::fabs(shape.scale * a * b);
  };
  for (int group = 0; group < shape.groups; ++group) {
    for (int word = 0; word < shape.words; ++word) {
      const std::uint64_t in_a = issue_index(chain % 2, row, group, word);
      const std::uint64_t in_b = issue_index(2 + chain / 2, column, group, word);
      if (shape.element == Element::fp64) {
        add(assay::typical_double(seed, in_a), assay::typical_double(seed, in_b));
        continue;
      }
      const std::uint32_t a = assay::typical_word(shape.element, seed, in_a);
      const std::uint32_t b = assay::typical_word(shape.element, seed, in_b);
      const unsigned width = assay::element_bits(shape.element);
      const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
      for (unsigned at = 0; at < 32; at += width) {
        add(assay::decode(shape.element, (a >> at) & mask), assay::decode(shape.element, (b >> at) & mask));
      }
    }
  }
  return sum;
}

double number_at(const IssueShape& shape, const std::vector<std::uint32_t>& out, std::size_t index) {
  if (shape.sum == Element::fp64) {
    double value = 0;
    std::memcpy(&value, out.data() + 2 * index, sizeof value);
    return value;
  }
  // A half has a register of its own, whose upper half is whatever it was.
  return assay::decode(shape.sum, shape.sum == Element::fp16 ? out[index] & 0xFFFFU : out[index]);
}

}  // namespace

std::optional<std::string> wrong_sum(const IssueKernel& kernel, std::uint32_t seed, int turns,
                                     const std::vector<std::uint32_t>& out, std::size_t stride) {
  const IssueShape& shape = kernel.shape;
  if (out.size() < kernel.words_out) throw assay::Error("proving an issue-rate kernel: its output is incomplete");
  const std::size_t numbers = kernel.words_out / (shape.sum == Element::fp64 ? 2 : 1);
  for (std::size_t index = 0; index < numbers; index += stride) {
    const int sum = static_cast<int>(index) % shape.sums;
    const int chain = static_cast<int>(index) / shape.sums % issue_chains;
    const int lane = static_cast<int>(index) / shape.sums / issue_chains % shape.lanes;
    const int row = row_of_sum(shape, lane, sum);
    const int column = lane % shape.size;
    const Expected wanted = expected(shape, seed, chain, row, column);
    const double found = number_at(shape, out, index);
    // So many products went in, and units keep few bits on the way; a wrong layout is off by far more.
    const double tolerance = shape.sum == Element::int32 ? 0 : (2 * turns + 1) * wanted.magnitude / 256;
    if (std::fabs(found - wanted.value) <= tolerance) continue;  // written so that NaN is wrong
    return "row " + std::to_string(row) + ", column " + std::to_string(column) + " is " + std::to_string(found) +
           " and should be " + std::to_string(wanted.value);
  }
  return std::nullopt;
}

}  // namespace vendor
