// Own matrix products by plain multiply-adds, for where there is no library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "core/format.h"
#include "matrix.h"

namespace vendor {

// One operand in elements: element (row of M or N, k) lies at row * row_stride + k * k_stride.
struct OwnOperand {
  const void* memory;
  std::int64_t row_stride;
  std::int64_t k_stride;
  std::int64_t batch_stride;
};

struct OwnProduct {
  OwnOperand a;
  OwnOperand b;
  const void* bias;  // null where there is none
  void* d;
  assay::Element element;    // of A and B
  assay::Element d_element;  // of D and bias
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t tile_rows;
  std::int64_t tile_columns;
  double alpha;
  int beta;
  assay::Activation activation;
};

constexpr int own_tile = 64;  // extent of the tiles of D that one block makes

// One block a tile. Throws what vendor::launch does.
void launch_own_product(const OwnProduct& product, unsigned blocks, Stream stream);

assay::Support own_gemm_possible(const assay::Gemm& gemm, int architecture);

// Throws Unsupported.
std::unique_ptr<MatrixProduct> make_own_product(const assay::Gemm& gemm, const MatrixOperands& operands,
                                                int architecture);

}  // namespace vendor
