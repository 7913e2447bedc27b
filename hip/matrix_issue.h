// The kernels that measure the issue rate of MFMA and WMMA: which there are for a format and an architecture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/backend.h"
#include "core/ops/gemm.h"
#include "gpu/lane_issue.h"

namespace vendor {

// All that could answer on this architecture (942 for gfx942), the fastest first.
std::vector<IssueKernel> matrix_issue_kernels(const assay::Issue& issue, int architecture);

// For Unit::matrix. The reason names the architecture and the format.
assay::Support matrix_issue_possible(const assay::Issue& issue, int architecture);

}  // namespace vendor
