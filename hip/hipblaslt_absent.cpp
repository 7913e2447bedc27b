// In place of hipblaslt_gemm.cpp where the library's header was not there at build time.
// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "hipblaslt_gemm.h"

namespace vendor {

assay::Support hipblaslt_possible(const assay::Gemm&, int) {
  return {false, "this program was built without the header of hipBLASLt"};
}

HipblasLtFound find_hipblaslt(const std::filesystem::path&) {
  return {nullptr, "", {"this program was built without the header of hipBLASLt"}};
}

std::unique_ptr<MatrixProduct> describe_to_hipblaslt(const std::shared_ptr<HipblasLt>&, const assay::Gemm& gemm,
                                                     const MatrixOperands&, std::optional<std::int64_t>, int) {
  throw assay::Unsupported(hipblaslt_possible(gemm, 0).reason);
}

}  // namespace vendor
