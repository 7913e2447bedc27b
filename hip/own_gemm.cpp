// Own matrix products: what the kernel is told, and how it is launched.
// SPDX-License-Identifier: Apache-2.0
#include "own_gemm.h"

#include "core/checked.h"
#include "core/error.h"
#include "matrix_types.h"

namespace vendor {
namespace {

using assay::Element;
using assay::Gemm;
using assay::Support;
using assay::text;

std::int64_t tiles(std::int64_t extent) { return (extent + own_tile - 1) / own_tile; }

std::int64_t blocks_of(const Gemm& gemm) { return assay::checked_product({tiles(gemm.m), tiles(gemm.n), gemm.batch}); }

// Of the `rows` rows along M or N by K, which lie with K innermost or, where `across`, with the rows innermost.
OwnOperand operand(const void* memory, std::int64_t rows, std::int64_t k, bool across) {
  return {memory, across ? 1 : k, across ? rows : 1, assay::checked_multiply(rows, k)};
}

OwnProduct product_of(const Gemm& gemm, const MatrixOperands& operands) {
  OwnProduct product{};
  product.a = operand(operands.a, gemm.m, gemm.k, gemm.transpose_a);
  product.b = operand(operands.b, gemm.n, gemm.k, !gemm.transpose_b);
  product.bias = gemm.bias ? operands.bias : nullptr;
  product.d = operands.d;
  product.element = gemm.a.element;
  product.d_element = gemm.d.element;
  product.m = gemm.m;
  product.n = gemm.n;
  product.k = gemm.k;
  product.tile_rows = tiles(gemm.m);
  product.tile_columns = tiles(gemm.n);
  product.alpha = gemm.alpha;
  product.beta = gemm.beta;
  product.activation = gemm.activation;
  return product;
}

class OwnGemm : public MatrixProduct {
 public:
  OwnGemm(const Gemm& gemm, const MatrixOperands& operands)
      : gemm_(gemm), product_(product_of(gemm, operands)), blocks_(static_cast<unsigned>(blocks_of(gemm))) {}

  int ways() const override { return 1; }
  std::int64_t workspace(int) const override { return 0; }
  void enqueue(int, void*, Stream stream) override { launch_own_product(product_, blocks_, stream); }

  assay::Choice choice(int) const override {
    assay::Choice choice;
    choice.method = "own multiply-adds, tile 64x64";
    choice.executed = text(gemm_.a.element);
    choice.accumulated = text(gemm_.accumulate);
    choice.note =
        "no hipBLASLt was used: this is the rate of this program's own kernel on the vector units, far below what the "
        "card can do";
    return choice;
  }

  std::unique_ptr<MatrixProduct> elsewhere(const MatrixOperands& operands) const override {
    return std::make_unique<OwnGemm>(gemm_, operands);
  }

 private:
  Gemm gemm_;
  OwnProduct product_;
  unsigned blocks_;
};

}  // namespace

Support own_gemm_possible(const Gemm& gemm, int architecture) {
  const Support formats = formats_possible(gemm, architecture);
  if (!formats.yes) return formats;
  const Element element = gemm.a.element;
  const bool known = element == Element::fp16 || element == Element::bf16 || element == Element::int8 ||
                     element == Element::fp32 || element == Element::fp64;
  const std::string without = "without hipBLASLt this program's own kernels ";
  if (!known || gemm.a.scaling != assay::Scaling::none) return {false, without + "do not multiply " + text(gemm.a)};
  if (blocks_of(gemm) > most_blocks()) {
    return {false, without + "make at most " + std::to_string(most_blocks()) + " tiles"};
  }
  return {true, ""};
}

std::unique_ptr<MatrixProduct> make_own_product(const Gemm& gemm, const MatrixOperands& operands, int architecture) {
  const Support possible = own_gemm_possible(gemm, architecture);
  if (!possible.yes) throw assay::Unsupported(possible.reason);
  return std::make_unique<OwnGemm>(gemm, operands);
}

}  // namespace vendor
