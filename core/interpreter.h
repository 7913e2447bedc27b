// Runs any work in plain FP64, slowly and obviously: the judge of every back end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/fill.h"
#include "core/work.h"

namespace assay {

// One value an element for each tensor, indexed as Work::tensors.
using Values = std::vector<std::vector<double>>;

// The tensors as Program::fill leaves them.
Values initial_values(const Work& work, Pattern pattern, std::uint64_t seed);

// One op in FP64, unrounded. `operands` are in the order of operands(op) and changed in place.
void interpret(const Op& op, const std::vector<std::vector<double>*>& operands);

// All steps in order. Where `round` is set, each written operand is rounded to its element after each step, as a back
// end that keeps tensors in memory must.
void interpret(const Work& work, Values& values, bool round);

}  // namespace assay
