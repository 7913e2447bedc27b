// Matrix products by NVIDIA's library: algorithms asked for, tried and timed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cublaslt_api.h"
#include "cublaslt_places.h"
#include "gpu/matrix.h"

namespace vendor {

// What the library's environment variables change about a product of this element, or "".
std::string arithmetic_note(const assay::Gemm& gemm, const Environment& environment);

// What multiplies and what adds, from an algorithm's CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS. "" where it does not say.
struct NumericalKind {
  std::string multiplies;  // "tf32"
  std::string adds;        // "fp32"
};
NumericalKind numerical_kind(std::uint64_t flags);

// Bytes that NVIDIA recommends: 32 MiB from Hopper on, 4 MiB before.
std::int64_t recommended_workspace(int architecture);

// The library opened, with a handle for each device that was used.
class CublasLt {
 public:
  explicit CublasLt(std::shared_ptr<const CublasLtApi> api) : api_(std::move(api)) {}
  ~CublasLt();
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  const CublasLtApi& api() const { return *api_; }
  std::shared_ptr<const CublasLtApi> shared_api() const { return api_; }
  cublasLtHandle_t handle(int device);  // for the device in use; throws what check() does

 private:
  std::shared_ptr<const CublasLtApi> api_;
  std::mutex mutex_;
  std::map<int, cublasLtHandle_t> handles_;
};

// Throws Unsupported, OutOfMemory, Error.
std::unique_ptr<MatrixProduct> describe_to_cublaslt(const std::shared_ptr<CublasLt>& library, const assay::Gemm& gemm,
                                                    const MatrixOperands& operands,
                                                    std::optional<std::int64_t> workspace_limit, int device,
                                                    Stream stream);

}  // namespace vendor
