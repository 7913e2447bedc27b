// A matrix unit that takes as long as it is told.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/backend.h"
#include "core/ops/gemm.h"
#include "launchable.h"

namespace vendor {

// For Unit::matrix. Never throws; the reason names the architecture and the format.
assay::Support supports_matrix_issue(const assay::Issue& issue, int device);

// For the device in use. choice().flops is what one enqueue() really does, choice().method the instruction
// ("mma.sync m16n8k16 bf16"). Throws Unsupported.
std::unique_ptr<Launchable> make_matrix_issue(const assay::Issue& issue, int device);

}  // namespace vendor
