// The rate at which the matrix units take instructions, by own kernels that touch no memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "core/backend.h"
#include "core/ops/gemm.h"
#include "launchable.h"

namespace vendor {

// Never throws; where the device cannot be asked, that is the reason.
assay::Support supports_matrix_issue(const assay::Issue& issue, int device);

// For the device in use. The kernel is proved by its sums. choice().flops is what one enqueue() really does,
// choice().method the instruction ("v_mfma_f32_32x32x8_f16"). Throws Unsupported, OutOfMemory, DeviceLost, Error.
std::unique_ptr<Launchable> make_matrix_issue(const assay::Issue& issue, int device);

}  // namespace vendor
