// A matrix product as the library's own descriptors.
// SPDX-License-Identifier: Apache-2.0
#include "cublaslt_descriptors.h"

#include "core/error.h"

namespace vendor {
namespace {

template <class Value>
void set(const CublasLtApi& api, cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, Value value,
         const char* what) {
  check(api, api.description_set(operation, attribute, &value, sizeof value),
        std::string("describing a product to cuBLASLt: its ") + what);
}

template <class Value>
void set(const CublasLtApi& api, cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
         Value value, const char* what) {
  check(api, api.preference_set(preference, attribute, &value, sizeof value),
        std::string("telling cuBLASLt what algorithms may use: ") + what);
}

void set_block_scales(const CublasLtApi& api, cublasLtMatmulDesc_t operation, const CublasLtProblem& problem) {
#if CUBLAS_VERSION >= 120800
  if (problem.block_scales_a.block != 0) {
    set(api, operation, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, problem.block_scales_a.mode, "first scale mode");
  }
  if (problem.block_scales_b.block != 0) {
    set(api, operation, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, problem.block_scales_b.mode, "second scale mode");
  }
#else
  static_cast<void>(api);
  static_cast<void>(operation);
  static_cast<void>(problem);
#endif
}

}  // namespace

void check(const CublasLtApi& api, cublasStatus_t status, const std::string& doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const char* told = api.status_string(status);
  const std::string message = doing + ": " + (told == nullptr ? "unknown status" : told) + " (" +
                              std::to_string(static_cast<int>(status)) + ")";
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH) throw assay::Unsupported(message);
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw assay::OutOfMemory(message);
  throw assay::Error(message);
}

CublasLtDescriptors::CublasLtDescriptors(std::shared_ptr<const CublasLtApi> api, const CublasLtProblem& problem,
                                         const CublasLtAddresses& addresses)
    : api_(std::move(api)),
      operation_(make_operation(problem, addresses)),
      a_(make_layout(problem.a, problem.batch)),
      b_(make_layout(problem.b, problem.batch)),
      d_(make_layout(problem.d, problem.batch)) {}

CublasLtDescriptors::Operation CublasLtDescriptors::make_operation(const CublasLtProblem& problem,
                                                                   const CublasLtAddresses& addresses) const {
  cublasLtMatmulDesc_t made = nullptr;
  check(*api_, api_->description_create(&made, problem.arithmetic.compute, problem.arithmetic.scale),
        "describing a product to cuBLASLt");
  Operation operation(made, api_->description_destroy);
  set(*api_, made, CUBLASLT_MATMUL_DESC_TRANSA, problem.operation_a, "first transpose");
  set(*api_, made, CUBLASLT_MATMUL_DESC_TRANSB, problem.operation_b, "second transpose");
  set(*api_, made, CUBLASLT_MATMUL_DESC_EPILOGUE, problem.epilogue, "epilogue");
  if (addresses.bias != nullptr) {
    set(*api_, made, CUBLASLT_MATMUL_DESC_BIAS_POINTER, addresses.bias, "bias");
    set(*api_, made, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, problem.d.type, "type of bias");
  }
  set_block_scales(*api_, made, problem);
  if (addresses.scales_a != nullptr) {
    set(*api_, made, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, addresses.scales_a, "first scales");
  }
  if (addresses.scales_b != nullptr) {
    set(*api_, made, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, addresses.scales_b, "second scales");
  }
  return operation;
}

CublasLtDescriptors::Layout CublasLtDescriptors::make_layout(const ColumnMajor& matrix, std::int32_t batch) const {
  cublasLtMatrixLayout_t made = nullptr;
  check(*api_, api_->layout_create(&made, matrix.type, matrix.rows, matrix.columns, matrix.leading),
        "describing a matrix to cuBLASLt");
  Layout layout(made, api_->layout_destroy);
  if (batch > 1) {
    const char* doing = "describing batches to cuBLASLt";
    check(*api_, api_->layout_set(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch), doing);
    check(*api_,
          api_->layout_set(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &matrix.batch_stride,
                           sizeof matrix.batch_stride),
          doing);
  }
  return layout;
}

CublasLtPreference::CublasLtPreference(std::shared_ptr<const CublasLtApi> api, const CublasLtLimits& limits)
    : api_(std::move(api)), preference_(nullptr, api_->preference_destroy) {
  cublasLtMatmulPreference_t made = nullptr;
  check(*api_, api_->preference_create(&made), "telling cuBLASLt what algorithms may use");
  preference_.reset(made);
  set(*api_, made, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, limits.workspace, "workspace");
  set(*api_, made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, limits.alignment_a, "alignment of its A");
  set(*api_, made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, limits.alignment_b, "alignment of its B");
  set(*api_, made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, limits.alignment_d, "alignment of its C");
  set(*api_, made, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, limits.alignment_d, "alignment of its D");
}

}  // namespace vendor
