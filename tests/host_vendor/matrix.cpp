// Matrix products by the reference formulas, on what the pretended device holds.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/matrix.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/number.h"
#include "core/op.h"
#include "core/reference/gemm.h"
#include "tests/host_vendor/machine.h"

namespace vendor {
namespace {

using assay::Element;
using assay::Format;
using assay::Gemm;
using assay::Scaling;

// A matrix in memory: elements of whole bytes, and one scale behind them where there is one.
struct Stored {
  const std::byte* data = nullptr;
  Format format;
  std::int64_t count = 0;

  double scale() const {
    if (format.scaling != Scaling::tensor) return 1;
    float value = 1;
    std::memcpy(&value, data + count * assay::bits(format.element) / 8, sizeof value);
    return static_cast<double>(value);
  }
  // As the unit multiplies it: tf32 is stored with more digits than count.
  double operator()(std::int64_t index) const {
    const int width = assay::bits(format.element) / 8;
    std::uint64_t word = 0;
    std::memcpy(&word, data + index * width, static_cast<std::size_t>(width));
    return assay::rounded(format.element, assay::decode(format.element, word)) * scale();
  }
};

// The library's guess is not its best way, and one way that it offers it then refuses.
struct Way {
  double seconds;
  std::int64_t workspace;
  bool works;
};
constexpr Way ways_of_library[] = {{2e-6, 4096, true}, {1e-6, 8192, true}, {1e-7, 0, false}};

class Product : public MatrixProduct {
 public:
  Product(const Gemm& gemm, const MatrixOperands& operands, std::int64_t most)
      : gemm_(gemm), operands_(operands), most_(most) {}

  int ways() const override { return 3; }
  std::int64_t workspace(int way) const override { return std::min(ways_of_library[way].workspace, most_); }

  void enqueue(int way, void* workspace, Stream stream) override {
    if (!ways_of_library[way].works) throw assay::Unsupported("the pretended library refuses what it offered");
    const std::int64_t bytes = this->workspace(way);
    host::queue_work("a product", ways_of_library[way].seconds, stream,
                     [gemm = gemm_, operands = operands_, workspace, bytes] {
                       if (bytes > 0) std::memset(workspace, 0xA5, static_cast<std::size_t>(bytes));
                       compute(gemm, operands);
                     });
  }

  assay::Choice choice(int way) const override {
    assay::Choice choice;
    choice.method = "pretended library 1.0" + (way == 0 ? std::string() : " way " + std::to_string(way));
    choice.executed = assay::text(gemm_.a.element);
    return choice;
  }

  std::unique_ptr<MatrixProduct> elsewhere(const MatrixOperands& operands) const override {
    return std::make_unique<Product>(gemm_, operands, most_);
  }

 private:
  static void compute(const Gemm& gemm, const MatrixOperands& operands) {
    const auto stored = [](const void* data, Format format, std::int64_t count) {
      return Stored{static_cast<const std::byte*>(data), format, count};
    };
    const int last = gemm.bias ? 3 : 2;
    const Stored matrices[] = {stored(operands.a, gemm.a, gemm.batch * gemm.m * gemm.k),
                               stored(operands.b, gemm.b, gemm.batch * gemm.k * gemm.n),
                               stored(gemm.bias ? operands.bias : operands.d, gemm.d, gemm.n),
                               stored(operands.d, gemm.d, gemm.batch * gemm.m * gemm.n)};
    const auto read = [&](int operand, std::int64_t index) { return matrices[operand == last ? 3 : operand](index); };
    const int width = assay::bits(gemm.d.element) / 8;
    const double divisor = matrices[3].scale();
    const auto write = [&](int, std::int64_t index, double value) {
      const std::uint64_t word = assay::encode(gemm.d.element, value / divisor);
      std::memcpy(static_cast<std::byte*>(operands.d) + index * width, &word, static_cast<std::size_t>(width));
    };
    const std::int64_t units = assay::reference::units(gemm);
    for (std::int64_t unit = 0; unit < units; ++unit) assay::reference::compute<double>(gemm, unit, read, write);
  }

  Gemm gemm_;
  MatrixOperands operands_;
  std::int64_t most_;
};

assay::Support format_support(Format format) {
  if (format.scaling != Scaling::none && format.scaling != Scaling::tensor) {
    return {false, "the pretended library has no block scales: " + assay::text(format)};
  }
  if (assay::bits(format.element) < 8) return {false, "the pretended library has no 4-bit elements"};
  return {true, ""};
}

class PlainLoops : public MatrixLibrary {
 public:
  std::vector<assay::Fact> facts() const override {
    assay::Fact fact;
    fact.name = "matrix_library";
    fact.text = "pretended library 1.0";
    fact.source = "made up";
    return {fact};
  }

  assay::Support supports(const Gemm& gemm, int) const override {
    for (const Format format : {gemm.a, gemm.b, gemm.d}) {
      const assay::Support answer = format_support(format);
      if (!answer.yes) return answer;
    }
    return {true, ""};
  }

  std::unique_ptr<MatrixProduct> describe(const Gemm& gemm, const MatrixOperands& operands,
                                          std::optional<std::int64_t> workspace_limit, int, Stream) override {
    host::machine().called(host::Call::plan_matrix, "planning " + assay::text(assay::Op(gemm)));
    return std::make_unique<Product>(gemm, operands, workspace_limit.value_or(8192));
  }
};

}  // namespace

std::unique_ptr<MatrixLibrary> open_matrix_library(const std::filesystem::path&) {
  return std::make_unique<PlainLoops>();
}

}  // namespace vendor
