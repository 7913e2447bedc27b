// What a matrix product is made of, in NVIDIA's words; what hardware and library can do with it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/backend.h"
#include "core/format.h"
#include "core/ops/gemm.h"

namespace vendor {

// The library's name of an element's storage; absent where it has none. tf32 is stored as fp32.
std::optional<cudaDataType_t> data_type(assay::Element element);

// How a product of these elements multiplies and adds.
struct Arithmetic {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType_t scale = CUDA_R_32F;  // of alpha and beta
};

// True FP32 is CUBLAS_COMPUTE_32F: with FP32 operands it multiplies in full FP32 unless the environment says otherwise,
// which is reported. The pedantic mode would also forbid ways of adding that cost nothing in precision, and nobody
// trains with it. TF32 is the library's own FAST_TF32.
Arithmetic arithmetic(const assay::Gemm& gemm);

// Bytes that one number takes as alpha or beta, and the bits of `value` there.
struct ScaleValue {
  alignas(8) unsigned char bytes[8] = {};
};
ScaleValue scale_value(cudaDataType_t type, double value);

// Whether the elements, scalings and accumulator go together at all on cards of this architecture (90 for 9.0), by
// whatever means. The reason says which hardware has it.
assay::Support formats_possible(const assay::Gemm& gemm, int architecture);

}  // namespace vendor
