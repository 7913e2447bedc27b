// Products of formats that no library here multiplies: FP8 widened to BF16, FP16 to FP32, before each product.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/cpu/make_kernel.h"

namespace assay::cpu {

// Whether the op is done this way: FP8 or FP16 by the same kind, sums in FP32; with or without scales.
bool widens(const Gemm& gemm);

// The product that a library does instead, with an FP32 result and nothing behind it.
Gemm widened(const Gemm& gemm);

std::unique_ptr<Kernel> make_widened_gemm(const Gemm& gemm, const Pointers& operands, const KernelSetup& setup);

}  // namespace assay::cpu
