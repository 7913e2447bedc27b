// Matrix products by the vendor's library: which algorithm, and who holds its workspace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/ops/gemm.h"
#include "gpu/matrix.h"
#include "kernels/gpu/kernel.h"

namespace assay::gpu {

// Algorithm::best tries the library's ways on the operands as they are, overwriting D: their order is that of real work
// only where something like it lies there. Throws Unsupported, OutOfMemory, DeviceLost, Error.
std::unique_ptr<Kernel> make_product_kernel(const Gemm& gemm, const Pointers& operands, const KernelSetup& setup,
                                            vendor::MatrixLibrary& library);

}  // namespace assay::gpu
