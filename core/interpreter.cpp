// Runs ops whole, unit by unit, by the formulas of core/reference.
// SPDX-License-Identifier: Apache-2.0
#include "core/interpreter.h"

#include <limits>

#include "core/checked.h"
#include "core/error.h"
#include "core/number.h"
#include "core/reference/attention.h"
#include "core/reference/gemm.h"
#include "core/reference/memory.h"
#include "core/reference/pointwise.h"
#include "core/reference/rows.h"
#include "core/reference/tokens.h"
#include "core/reference/training.h"

namespace assay {
namespace {

void check_sizes(const Op& op, const std::vector<std::vector<double>*>& given) {
  const std::vector<Operand> wanted = operands(op);
  if (given.size() != wanted.size()) {
    throw Error("interpreting '" + text(op) + "': it takes " + std::to_string(wanted.size()) + " operands, not " +
                std::to_string(given.size()));
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (static_cast<std::int64_t>(given[i]->size()) == elements_of(wanted[i].shape)) continue;
    throw Error("interpreting '" + text(op) + "': operand " + wanted[i].name + " has " +
                std::to_string(given[i]->size()) + " elements");
  }
}

void round_written(const Op& op, const std::vector<std::vector<double>*>& given) {
  const std::vector<Operand> all = operands(op);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].access == Access::read) continue;
    for (double& value : *given[i]) value = decode(all[i].format.element, encode(all[i].format.element, value));
  }
}

}  // namespace

Values initial_values(const Work& work, Pattern pattern, std::uint64_t seed) {
  Values values;
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    const Tensor& tensor = work.tensors[i];
    std::vector<double> numbers(static_cast<std::size_t>(elements(tensor)), std::numeric_limits<double>::quiet_NaN());
    if (tensor.persistent) {
      const Filling fill = filling(work, static_cast<int>(i), pattern, seed);
      for (std::size_t j = 0; j < numbers.size(); ++j) numbers[j] = fill(static_cast<std::int64_t>(j));
    }
    values.push_back(std::move(numbers));
  }
  return values;
}

void interpret(const Op& op, const std::vector<std::vector<double>*>& operands) {
  check(op);
  check_sizes(op, operands);
  const auto read = [&](int operand, std::int64_t index) {
    return (*operands[static_cast<std::size_t>(operand)])[static_cast<std::size_t>(index)];
  };
  const auto write = [&](int operand, std::int64_t index, double value) {
    (*operands[static_cast<std::size_t>(operand)])[static_cast<std::size_t>(index)] = value;
  };
  std::visit(
      [&](const auto& each) {
        const std::int64_t count = reference::units(each);
        for (std::int64_t unit = 0; unit < count; ++unit) reference::compute<double>(each, unit, read, write);
      },
      op);
}

void interpret(const Work& work, Values& values, bool round) {
  check(work);
  if (values.size() != work.tensors.size()) {
    throw Error("interpreting work '" + work.name + "': it has " + std::to_string(work.tensors.size()) +
                " tensors, not " + std::to_string(values.size()));
  }
  for (const Step& step : work.steps) {
    std::vector<std::vector<double>*> given;
    for (const int tensor : step.operands) given.push_back(&values[static_cast<std::size_t>(tensor)]);
    interpret(step.op, given);
    if (round) round_written(step.op, given);
  }
}

}  // namespace assay
