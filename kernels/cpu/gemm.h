// Which library does a matrix product here.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/cpu/make_kernel.h"

namespace assay::cpu {

Support gemm_support(const Gemm& gemm, Libraries& libraries);

// By default: oneDNN on row-major operands, or OpenBLAS for FP64 and where oneDNN is not there. Best: whichever of
// plain oneDNN, oneDNN with a packed second matrix (where that one does not change) and OpenBLAS was fastest just now.
std::unique_ptr<Kernel> make_gemm_kernel(const Gemm& gemm, const Pointers& operands, const KernelSetup& setup);

}  // namespace assay::cpu
