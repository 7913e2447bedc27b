// The rate at which the matrix units take instructions, by own kernels that touch no memory: which there
// are, and how their sums are proved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/backend.h"
#include "core/ops/gemm.h"
#include "matrix_issue_kernels.h"
#include "matrix_issue_proof.h"

namespace vendor {

// All kernels that could answer on this architecture (90 for 9.0), the family that is expected to be fastest first.
std::vector<IssueKernel> matrix_issue_kernels(const assay::Issue& issue, int architecture);

// For Unit::matrix. The reason names the architecture and the format.
assay::Support matrix_issue_possible(const assay::Issue& issue, int architecture);

}  // namespace vendor
