// The rate at which the matrix units take instructions, by own kernels that touch no memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/backend.h"
#include "core/ops/gemm.h"
#include "launchable.h"
#include "matrix_issue_kernels.h"

namespace vendor {

// All kernels that could answer on this architecture (90 for 9.0), the family that is expected to be fastest first.
std::vector<IssueKernel> matrix_issue_kernels(const assay::Issue& issue, int architecture);

// For Unit::matrix. The reason names the architecture and the format.
assay::Support matrix_issue_possible(const assay::Issue& issue, int architecture);

// Turns of the kernel's loop so that every thread stands for issue.count multiply-adds at least. Throws Unsupported
// where that is more than a loop counts.
int turns_for(const assay::Issue& issue, const IssueKernel& kernel);

// By which power of two `turns` that take `seconds` must be multiplied so that they last 5 ms: starting a kernel and
// making its operands takes about 10 us, which then is 0.2 %.
int lengthening(double seconds, int turns);

// matrix_issue_possible() for a device. Never throws; where the device cannot be asked, that is the reason.
assay::Support supports_matrix_issue(const assay::Issue& issue, int device);

// For the device in use. Each kernel that could answer is proved by its sums, and the fastest is taken; the note says
// what the others did. choice().flops is what one enqueue() really does, choice().method the instruction
// ("mma.sync m16n8k16.row.col.f32.bf16.bf16.f32"). Throws Unsupported, OutOfMemory, DeviceLost, Error.
std::unique_ptr<Launchable> make_matrix_issue(const assay::Issue& issue, int device);

}  // namespace vendor
