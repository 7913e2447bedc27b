// Matrix products: by hipBLASLt, else by hipBLAS, else by own kernels; each row says by which.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/matrix.h"

#include "gpu/matrix_chain.h"
#include "gpu/plain_gemm.h"
#include "hipblas.h"
#include "hipblaslt_gemm.h"
#include "matrix_types.h"
#include "own_gemm.h"

namespace vendor {
namespace {

using assay::Gemm;
using assay::Support;

MatrixSource by_hipblaslt(const std::filesystem::path& root) {
  const HipblasLtFound found = find_hipblaslt(root);
  MatrixSource source{"hipblaslt", found.library != nullptr, found.path, found.refused, "", hipblaslt_possible, {}};
  source.without =
      ": matrix products run on hipBLAS, which can be several times slower, or where that is not there either on this "
      "program's own kernels; install ROCm's package hipblaslt, or set ASSAY_HIPBLASLT to the library or its folder";
  source.describe = [library = found.library](const Gemm& gemm, const MatrixOperands& operands,
                                              std::optional<std::int64_t> limit, int device) {
    return describe_to_hipblaslt(library, gemm, operands, limit, device);
  };
  return source;
}

MatrixSource by_hipblas(const std::filesystem::path& root) {
  const HipblasFound found = find_hipblas(root);
  MatrixSource source{"hipblas", found.library != nullptr, found.path, found.refused, "", hipblas_possible, {}};
  source.without = "; it stands in where hipBLASLt does not serve a card";
  source.describe = [library = found.library](const Gemm& gemm, const MatrixOperands& operands,
                                              std::optional<std::int64_t>, int device) {
    return describe_to_hipblas(library, gemm, operands, device);
  };
  return source;
}

MatrixSource by_own_kernels() {
  MatrixSource source;
  source.there = true;
  source.possible = [](const Gemm& gemm, int number) {
    const Support formats = formats_possible(gemm, number);
    return formats.yes ? plain_gemm_possible(gemm) : formats;
  };
  source.describe = [](const Gemm& gemm, const MatrixOperands& operands, std::optional<std::int64_t>, int device) {
    const std::string note = "neither hipBLASLt nor hipBLAS served this product";
    const auto kernel = own_tile_kernel(gemm, architecture(device));
    return kernel ? make_tile_product(gemm, operands, *kernel, note) : make_plain_product(gemm, operands, note);
  };
  return source;
}

}  // namespace

std::unique_ptr<MatrixLibrary> open_matrix_library(const std::filesystem::path& root) {
  return make_matrix_chain([&] {
    return std::vector<MatrixSource>{by_hipblaslt(root), by_hipblas(root), by_own_kernels()};
  });
}

}  // namespace vendor
