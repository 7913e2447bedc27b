// A matrix product as the library's own descriptors. Needs no device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <memory>
#include <string>

#include "cublaslt_api.h"
#include "cublaslt_problem.h"

namespace vendor {

// Throws by what the library said: Unsupported, OutOfMemory, Error. "asking cuBLASLt for algorithms: not supported".
void check(const CublasLtApi& api, cublasStatus_t status, const std::string& doing);

// Device addresses that descriptors hold, in the library's order: its A is our B. Null where there is none.
struct CublasLtAddresses {
  const void* bias = nullptr;
  const void* scales_a = nullptr;
  const void* scales_b = nullptr;
};

class CublasLtDescriptors {
 public:
  // Throws what check() does.
  CublasLtDescriptors(std::shared_ptr<const CublasLtApi> api, const CublasLtProblem& problem,
                      const CublasLtAddresses& addresses);

  cublasLtMatmulDesc_t operation() const { return operation_.get(); }
  cublasLtMatrixLayout_t a() const { return a_.get(); }
  cublasLtMatrixLayout_t b() const { return b_.get(); }
  cublasLtMatrixLayout_t d() const { return d_.get(); }

 private:
  using Operation = std::unique_ptr<cublasLtMatmulDescOpaque_t, decltype(&cublasLtMatmulDescDestroy)>;
  using Layout = std::unique_ptr<cublasLtMatrixLayoutOpaque_t, decltype(&cublasLtMatrixLayoutDestroy)>;

  Operation make_operation(const CublasLtProblem& problem, const CublasLtAddresses& addresses) const;
  Layout make_layout(const ColumnMajor& matrix, std::int32_t batch) const;

  std::shared_ptr<const CublasLtApi> api_;
  Operation operation_;
  Layout a_;
  Layout b_;
  Layout d_;
};

// What algorithms may use. Alignments in bytes, of the library's A, B and D.
struct CublasLtLimits {
  std::uint64_t workspace = 0;
  std::uint32_t alignment_a = 256;
  std::uint32_t alignment_b = 256;
  std::uint32_t alignment_d = 256;
};

class CublasLtPreference {
 public:
  CublasLtPreference(std::shared_ptr<const CublasLtApi> api, const CublasLtLimits& limits);
  cublasLtMatmulPreference_t get() const { return preference_.get(); }

 private:
  std::shared_ptr<const CublasLtApi> api_;
  std::unique_ptr<cublasLtMatmulPreferenceOpaque_t, decltype(&cublasLtMatmulPreferenceDestroy)> preference_;
};

}  // namespace vendor
