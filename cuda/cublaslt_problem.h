// A matrix product in the library's terms, and which products it can do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix_types.h"

namespace vendor {

// One column-major matrix, as the library sees it.
struct ColumnMajor {
  cudaDataType_t type = CUDA_R_32F;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;  // elements from one column to the next
  std::int64_t batch_stride = 0;
};

// What a block-scaled operand needs beside its elements: the library wants one byte for each `block` elements along K,
// in tiles of 128 rows by 4 scales, so both extents are padded to whole tiles.
struct BlockScales {
  int block = 0;           // elements that share a scale; 0: not block-scaled
  std::int64_t bytes = 0;  // of the padded scales
  unsigned char one = 0;   // the byte that stands for 1
  std::int32_t mode = 0;   // cublasLtMatmulMatrixScale_t
};

// The library is column-major and ours is row-major. A row-major matrix is its own transpose column-major, so D is had
// as D^T = op(B)^T op(A)^T: the library's A is our B, its B is our A, its m is our n.
struct CublasLtProblem {
  Arithmetic arithmetic;
  cublasOperation_t operation_a = CUBLAS_OP_N;
  cublasOperation_t operation_b = CUBLAS_OP_N;
  ColumnMajor a;  // our B
  ColumnMajor b;  // our A
  ColumnMajor d;
  std::int32_t batch = 1;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  bool tensor_scale_a = false;  // an fp32 behind the elements of our B
  bool tensor_scale_b = false;
  BlockScales block_scales_a;
  BlockScales block_scales_b;
};

// Bytes of the scales of `rows` rows of `columns` elements along K, `block` to a scale, as the library lays them out.
std::int64_t tiled_scale_bytes(std::int64_t rows, std::int64_t columns, int block);

// Where the scale of row `row` and block `block` lies there: 32 rows of 16 bytes make a tile, in which rows 0, 32, 64
// and 96 share one 16-byte line, 4 scales each; tiles along K come first.
std::int64_t tiled_scale_offset(std::int64_t row, std::int64_t block, std::int64_t blocks_a_row);

// Whether the library of this version can do it on this architecture, as far as can be said without asking it.
assay::Support cublaslt_possible(const assay::Gemm& gemm, int architecture, std::size_t version);

// For products that are possible.
CublasLtProblem cublaslt_problem(const assay::Gemm& gemm);

}  // namespace vendor
