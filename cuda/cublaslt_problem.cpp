// A matrix product in the library's terms, and which it can do.
// SPDX-License-Identifier: Apache-2.0
#include "cublaslt_problem.h"

#include "core/checked.h"
#include "core/error.h"

namespace vendor {
namespace {

using assay::Activation;
using assay::Element;
using assay::Format;
using assay::Gemm;
using assay::Scaling;
using assay::Support;

constexpr std::int64_t tile_rows = 128;
constexpr std::int64_t tile_scales = 4;
constexpr std::size_t first_with_block_scales = 120800;  // cuBLAS 12.8

std::int64_t round_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

bool is_narrow(Format format) { return assay::bits(format.element) <= 8; }

bool is_block_scaled(Format format) {
  return format.scaling == Scaling::block32_ue8m0 || format.scaling == Scaling::block16_e4m3;
}

Support no(std::string reason) { return {false, std::move(reason)}; }

// Operands of 8 bits and less are read along K by the matrix units; only data-centre Blackwell transposes them itself.
bool must_lie_along_k(const Gemm& gemm, int architecture) {
  if (is_block_scaled(gemm.a)) return true;
  if (gemm.a.element == Element::int8) return true;
  return is_narrow(gemm.a) && (architecture < 100 || architecture >= 120);
}

Support layout_possible(const Gemm& gemm, int architecture) {
  if (must_lie_along_k(gemm, architecture) && (gemm.transpose_a || !gemm.transpose_b)) {
    return no("cuBLASLt multiplies " + text(gemm.a) + " on sm_" + std::to_string(architecture) +
              " only where both operands lie along K: A [m, k] and B [n, k], which is transpose_b alone");
  }
  const std::int64_t multiple = is_block_scaled(gemm.a) ? 32 : gemm.a.element == Element::int8 ? 4 : 16;
  if (is_narrow(gemm.a) && (gemm.k % multiple != 0 || gemm.n % multiple != 0)) {
    return no("cuBLASLt multiplies " + text(gemm.a) + " only where n and k are multiples of " +
              std::to_string(multiple));
  }
  return {true, ""};
}

Support block_scales_possible(const Gemm& gemm, std::size_t version) {
#if CUBLAS_VERSION >= 120800
  if (gemm.batch != 1) return no("block-scaled products are done one at a time, not batched");
  if (version >= first_with_block_scales) return {true, ""};
#else
  static_cast<void>(gemm);
  static_cast<void>(version);
#endif
  return no("block-scaled products need cuBLASLt 12.8 or newer, at build time and here");
}

ColumnMajor column_major(Format format, std::int64_t rows, std::int64_t columns) {
  ColumnMajor matrix;
  matrix.type = data_type(format.element).value();
  matrix.rows = static_cast<std::uint64_t>(rows);
  matrix.columns = static_cast<std::uint64_t>(columns);
  matrix.leading = rows;
  matrix.batch_stride = assay::checked_multiply(rows, columns);
  return matrix;
}

cublasLtEpilogue_t epilogue(const Gemm& gemm) {
  switch (gemm.activation) {
    case Activation::none:
      return gemm.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    case Activation::relu:
      return gemm.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::gelu:
      return gemm.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  }
  throw assay::Error("describing a matrix product: an unknown activation");
}

// Of an operand with `rows` rows along M or N.
BlockScales block_scales(Format format, std::int64_t rows, std::int64_t k) {
  BlockScales scales;
#if CUBLAS_VERSION >= 120800
  if (format.scaling == Scaling::block32_ue8m0) {
    scales = {32, 0, 0x7F, CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0};  // 2^(127 - 127)
  } else if (format.scaling == Scaling::block16_e4m3) {
    scales = {16, 0, 0x38, CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3};  // exponent 7 of bias 7
  }
#endif
  if (scales.block != 0) scales.bytes = tiled_scale_bytes(rows, k, scales.block);
  return scales;
}

}  // namespace

std::int64_t tiled_scale_bytes(std::int64_t rows, std::int64_t columns, int block) {
  const std::int64_t blocks = (columns + block - 1) / block;
  return assay::checked_multiply(round_up(rows, tile_rows), round_up(blocks, tile_scales));
}

std::int64_t tiled_scale_offset(std::int64_t row, std::int64_t block, std::int64_t blocks_a_row) {
  const std::int64_t tiles_a_row = round_up(blocks_a_row, tile_scales) / tile_scales;
  const std::int64_t tile = row / tile_rows * tiles_a_row + block / tile_scales;
  const std::int64_t within = row % tile_rows;
  return tile * tile_rows * tile_scales + within % 32 * 16 + within / 32 * 4 + block % tile_scales;
}

Support cublaslt_possible(const Gemm& gemm, int architecture, std::size_t version) {
  const Support formats = formats_possible(gemm, architecture);
  if (!formats.yes) return formats;
  if (gemm.batch > INT32_MAX) return no("cuBLASLt counts batches in 32 bits");
  if (is_block_scaled(gemm.a)) {
    const Support scales = block_scales_possible(gemm, version);
    if (!scales.yes) return scales;
  }
  if (is_narrow(gemm.a) && gemm.bias && gemm.d.element == Element::fp32) {
    return no("cuBLASLt adds no FP32 bias to products of 8 bits and less");
  }
  return layout_possible(gemm, architecture);
}

CublasLtProblem cublaslt_problem(const Gemm& gemm) {
  CublasLtProblem problem;
  problem.arithmetic = arithmetic(gemm);
  problem.operation_a = gemm.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  problem.operation_b = gemm.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  problem.a = gemm.transpose_b ? column_major(gemm.b, gemm.k, gemm.n) : column_major(gemm.b, gemm.n, gemm.k);
  problem.b = gemm.transpose_a ? column_major(gemm.a, gemm.m, gemm.k) : column_major(gemm.a, gemm.k, gemm.m);
  problem.d = column_major(gemm.d, gemm.n, gemm.m);
  problem.batch = static_cast<std::int32_t>(gemm.batch);
  problem.epilogue = epilogue(gemm);
  problem.tensor_scale_a = gemm.b.scaling == Scaling::tensor;
  problem.tensor_scale_b = gemm.a.scaling == Scaling::tensor;
  problem.block_scales_a = block_scales(gemm.b, gemm.n, gemm.k);
  problem.block_scales_b = block_scales(gemm.a, gemm.m, gemm.k);
  return problem;
}

}  // namespace vendor
