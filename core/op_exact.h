// How large integers may be for an op to compute with them without any rounding but the last.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/op.h"

namespace assay {

// Largest magnitude of integers in operand `operand` with which every sum of the op stays exact in its accumulator,
// where the other operands keep to theirs. May be below 1: then nothing is promised. For ops that exact() denies, a
// range in which they behave (logits that exp() does not overflow on).
double exact_magnitude(const Op& op, int operand);

}  // namespace assay
