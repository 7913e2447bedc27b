// Own matrix products: which kernel, and how it is launched.
// SPDX-License-Identifier: Apache-2.0
#include "own_gemm.h"

#include <cstdint>

#include "core/checked.h"
#include "core/error.h"
#include "matrix_types.h"

namespace vendor {
namespace {

using assay::Element;
using assay::Gemm;
using assay::Scaling;
using assay::Support;
using assay::text;

std::int64_t tiles(std::int64_t extent, int tile) { return (extent + tile - 1) / tile; }

std::int64_t blocks_of(const Gemm& gemm) {
  const int tile = own_tile(own_kind(gemm));
  return assay::checked_product({tiles(gemm.m, tile), tiles(gemm.n, tile), gemm.batch});
}

// Of the `rows` rows along M or N by K, which lie with K innermost or, where `across`, with the rows innermost.
OwnOperand operand(const void* memory, Element element, std::int64_t rows, std::int64_t k, bool across) {
  const std::int64_t bytes = assay::bits(element) / 8;
  OwnOperand result{};
  result.memory = memory;
  result.row_stride = across ? 1 : k;
  result.k_stride = across ? rows : 1;
  result.batch_stride = assay::checked_multiply(rows, k);
  result.order = across && bytes == 2 ? TileOrder::across_k : TileOrder::along_k;
  const bool contiguous = !across || result.order == TileOrder::across_k;
  const std::int64_t leading = across ? rows : k;
  const bool aligned =
      leading * bytes % piece_bytes == 0 && reinterpret_cast<std::uintptr_t>(memory) % piece_bytes == 0;
  result.whole = contiguous && aligned;
  return result;
}

class OwnGemm : public MatrixProduct {
 public:
  OwnGemm(const Gemm& gemm, const MatrixOperands& operands)
      : gemm_(gemm),
        kind_(own_kind(gemm)),
        product_(own_product(gemm, operands)),
        blocks_(static_cast<unsigned>(blocks_of(gemm))) {}

  int ways() const override { return 1; }
  std::int64_t workspace(int) const override { return 0; }
  void enqueue(int, void*, Stream stream) override { launch_own_product(kind_, product_, blocks_, stream); }

  assay::Choice choice(int) const override {
    assay::Choice choice;
    const bool plain = kind_ == OwnKind::fp32 || kind_ == OwnKind::fp64;
    choice.method = plain ? "own multiply-adds, tile 64x64" : "own mma.sync, tile 128x128";
    choice.executed = text(gemm_.a.element);
    choice.accumulated = text(gemm_.accumulate);
    choice.note = "no cuBLASLt was found: this is the rate of this program's own kernel, below what the card can do";
    return choice;
  }

  std::unique_ptr<MatrixProduct> elsewhere(const MatrixOperands& operands) const override {
    return std::make_unique<OwnGemm>(gemm_, operands);
  }

 private:
  Gemm gemm_;
  OwnKind kind_;
  OwnProduct product_;
  unsigned blocks_;
};

}  // namespace

Support own_gemm_possible(const Gemm& gemm, int architecture) {
  const Support formats = formats_possible(gemm, architecture);
  if (!formats.yes) return formats;
  const Element element = gemm.a.element;
  const bool known = element == Element::fp16 || element == Element::bf16 || element == Element::tf32 ||
                     element == Element::int8 || element == Element::fp32 || element == Element::fp64;
  const std::string without = "without cuBLASLt this program's own kernels ";
  if (!known || gemm.a.scaling != Scaling::none) return {false, without + "do not multiply " + text(gemm.a)};
  if (element == Element::fp16 && gemm.accumulate == Element::fp16) {
    return {false, without + "accumulate FP16 in FP32 alone"};
  }
  if (element == Element::int8 && architecture < 80) return {false, without + "multiply INT8 from sm_80 on"};
  if (blocks_of(gemm) > most_blocks()) return {false, without + "make at most 2147483647 tiles"};
  return {true, ""};
}

OwnKind own_kind(const Gemm& gemm) {
  switch (gemm.a.element) {
    case Element::fp16:
      return OwnKind::fp16;
    case Element::bf16:
      return OwnKind::bf16;
    case Element::tf32:
      return OwnKind::tf32;
    case Element::int8:
      return OwnKind::int8;
    case Element::fp32:
      return OwnKind::fp32;
    case Element::fp64:
      return OwnKind::fp64;
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::int32:
    case Element::int64:
    case Element::fp4_e2m1:
    case Element::ue8m0:
      break;
  }
  throw assay::Unsupported("this program has no kernel of its own for products of " + text(gemm.a));
}

OwnProduct own_product(const Gemm& gemm, const MatrixOperands& operands) {
  const int tile = own_tile(own_kind(gemm));
  OwnProduct product{};
  product.a = operand(operands.a, gemm.a.element, gemm.m, gemm.k, gemm.transpose_a);
  product.b = operand(operands.b, gemm.b.element, gemm.n, gemm.k, !gemm.transpose_b);
  product.bias = gemm.bias ? operands.bias : nullptr;
  product.d = operands.d;
  product.d_element = gemm.d.element;
  product.m = gemm.m;
  product.n = gemm.n;
  product.k = gemm.k;
  product.tile_rows = tiles(gemm.m, tile);
  product.tile_columns = tiles(gemm.n, tile);
  product.alpha = gemm.alpha;
  product.beta = gemm.beta;
  product.activation = gemm.activation;
  return product;
}

std::unique_ptr<MatrixProduct> make_own_product(const Gemm& gemm, const MatrixOperands& operands, int architecture) {
  const Support possible = own_gemm_possible(gemm, architecture);
  if (!possible.yes) throw assay::Unsupported(possible.reason);
  return std::make_unique<OwnGemm>(gemm, operands);
}

}  // namespace vendor
