// The rate at which the matrix units take instructions, by the vendor's kernels that touch no memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/ops/gemm.h"
#include "kernels/gpu/kernel.h"
#include "matrix_issue.h"

namespace assay::gpu {

// For Unit::matrix. Never throws; where the device cannot be asked, that is the reason.
Support matrix_rate_support(const Issue& issue, int device);

// Turns of the kernel's loop so that every thread stands for issue.count multiply-adds at least. Throws Unsupported
// where that is more than a loop counts.
int turns_for(const Issue& issue, const vendor::IssueKernel& kernel);

// By which power of two `turns` that take `seconds` must be multiplied so that they last 5 ms: starting a kernel and
// making its operands takes about 10 us, which then is 0.2 %.
int lengthening(double seconds, int turns);

// Each kernel that could answer is proved by its sums, and the fastest is taken; the note says what the others did.
// choice().flops is what one enqueue() really does, choice().method the instruction. Throws Unsupported, OutOfMemory,
// DeviceLost, Error.
std::unique_ptr<Kernel> make_matrix_rate_kernel(const Issue& issue, const KernelSetup& setup);

}  // namespace assay::gpu
