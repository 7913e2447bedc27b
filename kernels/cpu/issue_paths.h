// The ways of issuing multiply-adds that only some kinds of processors have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/cpu/issue.h"

namespace assay::cpu {

std::vector<IssuePath> vendor_issue_paths();

}  // namespace assay::cpu
