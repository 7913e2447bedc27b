// Own matrix products, for where there is no library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "gpu/matrix.h"
#include "own_gemm_kernels.h"

namespace vendor {

// Whether the own kernels can do it on this architecture (90 for 9.0).
assay::Support own_gemm_possible(const assay::Gemm& gemm, int architecture);

// What the kernel is told; pure. For products that are possible.
OwnKind own_kind(const assay::Gemm& gemm);
OwnProduct own_product(const assay::Gemm& gemm, const MatrixOperands& operands);

// Throws Unsupported.
std::unique_ptr<MatrixProduct> make_own_product(const assay::Gemm& gemm, const MatrixOperands& operands,
                                                int architecture);

}  // namespace vendor
