// The table of ops: who makes which kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "gpu/matrix.h"
#include "kernels/gpu/kernel.h"

namespace assay::gpu {

// Never throws. `devices`: how many there are.
Support step_support(const Op& op, vendor::MatrixLibrary& library, int device, int devices);

// For every op but Launch. Throws what the makers throw.
std::unique_ptr<Kernel> make_kernel(const Op& op, const Pointers& operands, const KernelSetup& setup,
                                    vendor::MatrixLibrary& library);

}  // namespace assay::gpu
