// Matrix products by hipBLAS (rocBLAS below it), for cards and installations that hipBLASLt does not serve.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/matrix.h"

namespace vendor {

// Own prototypes, by hipblas.h of ROCm 5.7 to 7: enumerations are ints, and what they hold is proved where the header
// is (tests/hip/link_proof.cpp).
struct HipblasApi {
  using Multiply = int (*)(void* handle, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha,
                           const void* a, int a_type, int lda, std::int64_t stride_a, const void* b, int b_type,
                           int ldb, std::int64_t stride_b, const void* beta, void* c, int c_type, int ldc,
                           std::int64_t stride_c, int batches, int compute, int algorithm);
  int (*create)(void** handle) = nullptr;
  int (*destroy)(void* handle) = nullptr;
  int (*set_stream)(void* handle, Stream stream) = nullptr;
  Multiply multiply = nullptr;
  bool old_names = false;  // types are hipblasDatatype_t's, and what computes is one of them too
  std::string path;
};

// The library opened, with a handle for each device that was used.
class Hipblas;
struct HipblasFound {
  std::shared_ptr<Hipblas> library;  // null: none was fit
  std::string path;
  std::vector<std::string> refused;
};
HipblasFound find_hipblas(const std::filesystem::path& root);

// What stands for a format in either kind of names; absent where hipBLAS has none.
struct HipblasTypes {
  int operand;
  int result;
  int compute;
};
std::optional<HipblasTypes> hipblas_types(const assay::Gemm& gemm, bool old_names);

assay::Support hipblas_possible(const assay::Gemm& gemm, int architecture);

// For the device in use. Throws Unsupported, OutOfMemory, Error.
std::unique_ptr<MatrixProduct> describe_to_hipblas(const std::shared_ptr<Hipblas>& library, const assay::Gemm& gemm,
                                                   const MatrixOperands& operands, int device);

}  // namespace vendor
