// Own matrix products: what the kernels are told, and how they are started.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/format.h"
#include "core/ops/gemm.h"
#include "gpu/runtime.h"
#include "own_gemm_tiles.h"

namespace vendor {

// One operand in elements: element (row of M or N, k) lies at row * row_stride + k * k_stride.
struct OwnOperand {
  const void* memory;
  std::int64_t row_stride;
  std::int64_t k_stride;
  std::int64_t batch_stride;
  TileOrder order;  // how its tiles lie in shared memory
  bool whole;       // pieces of 16 bytes can be copied as they are: contiguous there, and aligned
};

struct OwnProduct {
  OwnOperand a;
  OwnOperand b;
  const void* bias;  // null where there is none
  void* d;
  assay::Element d_element;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
  std::int64_t tile_rows;
  std::int64_t tile_columns;
  double alpha;
  int beta;
  assay::Activation activation;
};

// What multiplies.
enum class OwnKind : int { fp16, bf16, tf32, int8, fp32, fp64 };

// Extent of the tiles of D that one block makes.
int own_tile(OwnKind kind);

// One block a tile. Throws what vendor::launch does.
void launch_own_product(OwnKind kind, const OwnProduct& product, unsigned blocks, Stream stream);

}  // namespace vendor
