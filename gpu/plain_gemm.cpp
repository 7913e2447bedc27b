// Own matrix products: what the kernel is told, and how it is launched.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/plain_gemm.h"

#include <utility>

#include "core/checked.h"
#include "core/error.h"

namespace vendor {
namespace {

using assay::Element;
using assay::Gemm;
using assay::Support;
using assay::text;

std::int64_t tiles(std::int64_t extent, int tile) { return (extent + tile - 1) / tile; }

std::int64_t blocks_of(const Gemm& gemm, int tile) {
  return assay::checked_product({tiles(gemm.m, tile), tiles(gemm.n, tile), gemm.batch});
}

// Of the `rows` rows along M or N by K, which lie with K innermost or, where `across`, with the rows innermost.
PlainOperand operand(const void* memory, std::int64_t rows, std::int64_t k, bool across) {
  return {memory, across ? 1 : k, across ? rows : 1, assay::checked_multiply(rows, k)};
}

PlainProduct product_of(const Gemm& gemm, const MatrixOperands& operands, int tile) {
  PlainProduct product{};
  product.a = operand(operands.a, gemm.m, gemm.k, gemm.transpose_a);
  product.b = operand(operands.b, gemm.n, gemm.k, !gemm.transpose_b);
  product.bias = gemm.bias ? operands.bias : nullptr;
  product.d = operands.d;
  product.element = gemm.a.element;
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

class OwnGemm : public MatrixProduct {
 public:
  OwnGemm(const Gemm& gemm, const MatrixOperands& operands, TileKernel kernel, std::string note)
      : gemm_(gemm),
        kernel_(std::move(kernel)),
        note_(std::move(note)),
        product_(product_of(gemm, operands, kernel_.tile)),
        blocks_(static_cast<unsigned>(blocks_of(gemm, kernel_.tile))) {}

  int ways() const override { return 1; }
  std::int64_t workspace(int) const override { return 0; }
  void enqueue(int, void*, Stream stream) override { kernel_.launch(product_, blocks_, stream); }

  assay::Choice choice(int) const override {
    const std::string extent = std::to_string(kernel_.tile);
    assay::Choice choice;
    choice.method = "own " + kernel_.instruction + ", tile " + extent + "x" + extent;
    choice.executed = text(gemm_.a.element);
    choice.accumulated = text(gemm_.accumulate);
    choice.note = note_ + ": this is the rate of this program's own kernel, far below what the card can do";
    return choice;
  }

  std::unique_ptr<MatrixProduct> elsewhere(const MatrixOperands& operands) const override {
    return std::make_unique<OwnGemm>(gemm_, operands, kernel_, note_);
  }

 private:
  Gemm gemm_;
  TileKernel kernel_;
  std::string note_;
  PlainProduct product_;
  unsigned blocks_;
};

}  // namespace

Support plain_gemm_possible(const Gemm& gemm) {
  const Element element = gemm.a.element;
  const bool known = element == Element::fp16 || element == Element::bf16 || element == Element::int8 ||
                     element == Element::fp32 || element == Element::fp64;
  if (!known || gemm.b.element != element || gemm.a.scaling != assay::Scaling::none) {
    return {false, "this program's own kernels do not multiply " + text(gemm.a)};
  }
  if (blocks_of(gemm, plain_tile) > most_blocks()) {
    return {false, "this program's own kernels make at most " + std::to_string(most_blocks()) + " tiles"};
  }
  return {true, ""};
}

std::unique_ptr<MatrixProduct> make_plain_product(const Gemm& gemm, const MatrixOperands& operands,
                                                  const std::string& note) {
  const Support possible = plain_gemm_possible(gemm);
  if (!possible.yes) throw assay::Unsupported(possible.reason);
  return std::make_unique<OwnGemm>(gemm, operands, TileKernel{plain_tile, "multiply-adds", launch_plain_product}, note);
}

std::unique_ptr<MatrixProduct> make_tile_product(const Gemm& gemm, const MatrixOperands& operands,
                                                 const TileKernel& kernel, const std::string& note) {
  const Support possible = plain_gemm_possible(gemm);
  if (!possible.yes) throw assay::Unsupported(possible.reason);
  return std::make_unique<OwnGemm>(gemm, operands, kernel, note);
}

}  // namespace vendor
