// What the operands of issue-rate kernels hold, under the names that they use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/issue_data.h"

namespace vendor {

using assay::element_bits;
using assay::negated_word;
using assay::typical_double;
using assay::typical_element;
using assay::typical_float;
using assay::typical_word;

}  // namespace vendor
