// Runs one op on a back end and compares what it wrote with what the op must give.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/backend.h"
#include "core/number.h"
#include "core/op.h"
#include "core/work.h"

namespace assay {

// Whether sums of small integers leave no room for rounding in this op.
inline bool exact_on_integers(const Op& op) {
  if (const auto* gemm = std::get_if<Gemm>(&op)) {
    return gemm->activation != Activation::gelu && gemm->alpha == 1;
  }
  return std::holds_alternative<Stream>(op) || std::holds_alternative<Heads>(op) ||
         std::holds_alternative<Transfer>(op);
}

inline std::vector<std::vector<double>> values_before(const Work& work, Pattern pattern, std::uint64_t seed) {
  std::vector<std::vector<double>> before;
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    const Filling values = filling(work, static_cast<int>(i), pattern, seed);
    before.emplace_back();
    for (std::int64_t index = 0; index < elements(work.tensors[i]); ++index) {
      before.back().push_back(values(index));
    }
  }
  return before;
}

inline void expect_right(Backend& backend, const std::string& op_text, Pattern pattern, Preparation preparation = {}) {
  SCOPED_TRACE(op_text + " with " + text(pattern) + " data");
  const Op op = parse_op(op_text);
  const Support support = backend.supports(op, 0);
  ASSERT_TRUE(support.yes) << support.reason;
  const Work work = single(op);
  constexpr std::uint64_t seed = 7;
  const auto program = backend.prepare(work, 0, preparation);
  program->fill(pattern, seed);
  program->run(1);
  const auto before = values_before(work, pattern, seed);
  const Reader reader = [&](int operand, std::int64_t index) {
    return before.at(static_cast<std::size_t>(work.steps[0].operands.at(static_cast<std::size_t>(operand))))
        .at(static_cast<std::size_t>(index));
  };
  const auto all = operands(op);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].access == Access::read) {
      continue;
    }
    const int tensor = work.steps[0].operands[i];
    const std::int64_t count = elements(work.tensors[static_cast<std::size_t>(tensor)]);
    const auto got = program->read(tensor, 0, count);
    // Every place of small results; of large ones every few, a step that shares no factor with usual row lengths.
    const std::int64_t step = count <= 400 ? 1 : (count / 400) | 1;
    for (std::int64_t index = count - 1; index >= 0; index -= step) {
      const double want = expected(op, static_cast<int>(i), index, reader);
      const double value = got[static_cast<std::size_t>(index)];
      if (pattern == Pattern::exact && exact_on_integers(op)) {
        const Element element = all[i].format.element;
        ASSERT_EQ(value, decode(element, encode(element, want))) << all[i].name << " at " << index;
      } else {
        ASSERT_LE(std::abs(value - want), tolerance(op, static_cast<int>(i), index, reader))
            << all[i].name << " at " << index << " is " << value << " and must be " << want;
      }
    }
  }
}

// Exact data shows a wrong index at once, typical data a wrong rounding.
inline void expect_right_on_all_data(Backend& backend, const std::string& op, const Preparation& preparation = {}) {
  expect_right(backend, op, Pattern::exact, preparation);
  expect_right(backend, op, Pattern::typical, preparation);
}

}  // namespace assay
