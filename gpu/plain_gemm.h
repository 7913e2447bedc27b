// Own matrix products by plain multiply-adds, for where there is no library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/format.h"
#include "gpu/matrix.h"

namespace vendor {

// One operand in elements: element (row of M or N, k) lies at row * row_stride + k * k_stride.
struct PlainOperand {
  const void* memory;
  std::int64_t row_stride;
  std::int64_t k_stride;
  std::int64_t batch_stride;
};

struct PlainProduct {
  PlainOperand a;
  PlainOperand b;
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

constexpr int plain_tile = 64;  // extent of the tiles of D that one block makes

// One block a tile. Throws what vendor::launch does.
void launch_plain_product(const PlainProduct& product, unsigned blocks, Stream stream);

// A kernel that makes one tile of D a block by matrix instructions: of which extent, by which, and how it is started.
struct TileKernel {
  int tile = 0;
  std::string instruction;  // "v_mfma_f32_32x32x8_f16"
  void (*launch)(const PlainProduct& product, unsigned blocks, Stream stream) = nullptr;
};

// FP16, BF16, INT8, FP32 and FP64 without scales. The vendor says before whether the formats go together at all.
assay::Support plain_gemm_possible(const assay::Gemm& gemm);

// `note` says in the row why no library did it. Throws Unsupported.
std::unique_ptr<MatrixProduct> make_plain_product(const assay::Gemm& gemm, const MatrixOperands& operands,
                                                  const std::string& note);

// The same by matrix instructions, of a kernel that the vendor has for the product's element.
std::unique_ptr<MatrixProduct> make_tile_product(const assay::Gemm& gemm, const MatrixOperands& operands,
                                                 const TileKernel& kernel, const std::string& note);

}  // namespace vendor
