// Matrix products on a card, by the library and by own kernels, compared with sums of integers that are exact.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/number.h"
#include "core/op.h"
#include "cuda/matrix_memory.h"
#include "cuda/own_gemm.h"
#include "gpu/matrix.h"
#include "gpu/runtime.h"

namespace vendor {
namespace {

using assay::Activation;
using assay::Element;
using assay::Format;
using assay::Gemm;
using assay::Scaling;

constexpr int device = 0;

// A tensor on the device and its values on the host.
class Matrix {
 public:
  Matrix(Format format, std::int64_t rows, std::int64_t columns, int salt, double bound)
      : format_(format),
        rows_(rows),
        columns_(columns),
        memory_(assay::element_bytes(format.element, rows, columns) + assay::scale_bytes(format, rows, columns)) {
    values_.resize(static_cast<std::size_t>(rows * columns));
    const auto range = static_cast<std::int64_t>(2 * bound) + 1;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const std::uint64_t word = assay::mix(static_cast<std::uint64_t>(salt), i);
      values_[i] = assay::rounded(format.element, static_cast<double>(assay::uniform_below(word, range)) - bound);
    }
    upload();
  }

  void* get() const { return memory_.get(); }
  double value(std::int64_t index) const { return values_[static_cast<std::size_t>(index)]; }

  std::vector<double> download() const {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(memory_.bytes()));
    copy(bytes.data(), memory_.get(), memory_.bytes(), stream());
    synchronise(stream());
    const auto width = static_cast<std::size_t>(assay::bits(format_.element) / 8);
    std::vector<double> result(values_.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes.data() + i * width, width);
      result[i] = assay::decode(format_.element, bits);
    }
    return result;
  }

  static Stream stream() { return nullptr; }

 private:
  void upload() {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(memory_.bytes()), 0);
    const auto element_end = static_cast<std::size_t>(assay::element_bytes(format_.element, rows_, columns_));
    const int width = assay::bits(format_.element);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const std::uint64_t bits = assay::encode(format_.element, values_[i]);
      if (width == 4) {  // columns are even here
        bytes[i / 2] = static_cast<unsigned char>(bytes[i / 2] | (bits << (i % 2 * 4)));
      } else {
        std::memcpy(bytes.data() + i * static_cast<std::size_t>(width / 8), &bits, static_cast<std::size_t>(width / 8));
      }
    }
    if (format_.scaling == Scaling::tensor) {
      const float one = 1;
      std::memcpy(bytes.data() + element_end, &one, sizeof one);
    }
    copy(memory_.get(), bytes.data(), memory_.bytes(), stream());
    synchronise(stream());
  }

  Format format_;
  std::int64_t rows_;
  std::int64_t columns_;
  MatrixMemory memory_;
  std::vector<double> values_;
};

Gemm gemm_of(Element element, Element d, Element accumulate, Scaling scaling = Scaling::none) {
  Gemm gemm;
  gemm.m = 192;
  gemm.n = 320;
  gemm.k = 128;
  gemm.a = gemm.b = {element, scaling};
  gemm.d = {d, Scaling::none};
  gemm.accumulate = accumulate;
  return gemm;
}

Gemm along_k(Gemm gemm) {
  gemm.transpose_b = true;
  return gemm;
}

// All the formats that cards know, as the catalogue asks for them.
std::vector<Gemm> every_format() {
  return {gemm_of(Element::fp64, Element::fp64, Element::fp64),
          gemm_of(Element::fp32, Element::fp32, Element::fp32),
          gemm_of(Element::tf32, Element::fp32, Element::fp32),
          gemm_of(Element::bf16, Element::bf16, Element::fp32),
          gemm_of(Element::bf16, Element::fp32, Element::fp32),
          gemm_of(Element::fp16, Element::fp16, Element::fp32),
          gemm_of(Element::fp16, Element::fp16, Element::fp16),
          along_k(gemm_of(Element::int8, Element::int32, Element::int32)),
          along_k(gemm_of(Element::fp8_e4m3, Element::bf16, Element::fp32, Scaling::tensor)),
          along_k(gemm_of(Element::fp8_e4m3, Element::fp32, Element::fp32, Scaling::tensor)),
          along_k(gemm_of(Element::fp8_e4m3, Element::bf16, Element::fp32, Scaling::block32_ue8m0)),
          along_k(gemm_of(Element::fp4_e2m1, Element::bf16, Element::fp32, Scaling::block16_e4m3))};
}

double activated(Activation activation, double x) {
  if (activation == Activation::relu) return std::max(x, 0.0);
  if (activation == Activation::gelu) return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
  return x;
}

class DeviceGemm : public testing::Test {
 protected:
  void SetUp() override {
    const Availability available = availability();
    if (available.devices == 0) GTEST_SKIP() << "no NVIDIA device: " << available.reason;
    use(device);
    library_ = open_matrix_library("/");
  }

  // Integers from -2 to 2: products to 4, sums of 128 of them to 512, which FP16 holds and BF16 rounds once.
  template <class Plan>
  void expect_right(const Gemm& gemm, bool last_way, const Plan& plan) {
    SCOPED_TRACE(assay::text(assay::Op(gemm)));
    const Matrix a(gemm.a, gemm.batch * (gemm.transpose_a ? gemm.k : gemm.m), gemm.transpose_a ? gemm.m : gemm.k, 1, 2);
    const Matrix b(gemm.b, gemm.batch * (gemm.transpose_b ? gemm.n : gemm.k), gemm.transpose_b ? gemm.k : gemm.n, 2, 2);
    const Matrix bias(gemm.d, 1, gemm.n, 3, 2);
    const Matrix d(gemm.d, gemm.batch * gemm.m, gemm.n, 4, 2);
    MatrixOperands operands{a.get(), b.get(), gemm.bias ? bias.get() : nullptr, d.get()};
    std::unique_ptr<MatrixProduct> product;
    try {
      product = plan(operands);
    } catch (const assay::Unsupported& reason) {
      std::printf("  skipped: %s\n", reason.what());
      return;
    }
    const int way = last_way ? product->ways() - 1 : 0;
    const MatrixMemory workspace(product->workspace(way));
    product->enqueue(way, workspace.get(), Matrix::stream());
    synchronise(Matrix::stream());
    std::printf("  %s: %s\n", assay::text(assay::Op(gemm)).c_str(), product->choice(way).method.c_str());
    const std::vector<double> found = d.download();
    for (std::int64_t batch = 0; batch < gemm.batch; ++batch) {
      for (std::int64_t row = 0; row < gemm.m; ++row) {
        for (std::int64_t column = 0; column < gemm.n; ++column) {
          double sum = 0;
          for (std::int64_t at = 0; at < gemm.k; ++at) {
            const std::int64_t in_a = gemm.transpose_a ? at * gemm.m + row : row * gemm.k + at;
            const std::int64_t in_b = gemm.transpose_b ? column * gemm.k + at : at * gemm.n + column;
            sum += a.value(batch * gemm.m * gemm.k + in_a) * b.value(batch * gemm.n * gemm.k + in_b);
          }
          const std::int64_t index = (batch * gemm.m + row) * gemm.n + column;
          double value = gemm.alpha * sum + gemm.beta * d.value(index) + (gemm.bias ? bias.value(column) : 0);
          value = assay::rounded(gemm.d.element, activated(gemm.activation, value));
          const double slack = gemm.activation == Activation::gelu ? 0.02 * std::fabs(value) + 1e-3 : 0;
          ASSERT_NEAR(found[static_cast<std::size_t>(index)], value, slack) << batch << ", " << row << ", " << column;
        }
      }
    }
  }

  void expect_library_right(const Gemm& gemm, bool last_way = false) {
    expect_right(gemm, last_way, [&](const MatrixOperands& operands) {
      return library_->describe(gemm, operands, std::nullopt, device, Matrix::stream());
    });
  }
  void expect_own_right(const Gemm& gemm) {
    expect_right(gemm, false, [&](const MatrixOperands& operands) {
      return make_own_product(gemm, operands, architecture(device));
    });
  }

  std::unique_ptr<MatrixLibrary> library_;
};

TEST_F(DeviceGemm, LibraryIsRightInEveryFormat) {
  for (const Gemm& gemm : every_format()) expect_library_right(gemm);
}

TEST_F(DeviceGemm, LibraryIsRightInEveryLayout) {
  for (int layout = 0; layout < 4; ++layout) {
    Gemm gemm = gemm_of(Element::bf16, Element::bf16, Element::fp32);
    gemm.transpose_a = layout % 2 == 1;
    gemm.transpose_b = layout / 2 == 1;
    expect_library_right(gemm);
  }
}

TEST_F(DeviceGemm, LibraryIsRightWithBatchesAlphaBetaBiasAndActivation) {
  Gemm gemm = gemm_of(Element::bf16, Element::fp32, Element::fp32);
  gemm.batch = 3;
  gemm.alpha = 0.5;
  gemm.beta = 1;
  expect_library_right(gemm);
  gemm = gemm_of(Element::bf16, Element::bf16, Element::fp32);
  gemm.bias = true;
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu}) {
    gemm.activation = activation;
    expect_library_right(gemm);
  }
}

TEST_F(DeviceGemm, TheLastOfTheAlgorithmsIsRightToo) {
  for (const Gemm& gemm : every_format()) expect_library_right(gemm, true);
}

TEST_F(DeviceGemm, AWorkspaceOfNothingIsKept) {
  const Gemm gemm = gemm_of(Element::bf16, Element::bf16, Element::fp32);
  const Matrix a(gemm.a, gemm.m, gemm.k, 1, 2);
  const Matrix b(gemm.b, gemm.k, gemm.n, 2, 2);
  const Matrix d(gemm.d, gemm.m, gemm.n, 3, 2);
  const auto product = library_->describe(gemm, {a.get(), b.get(), nullptr, d.get()}, 0, device, nullptr);
  for (int way = 0; way < product->ways(); ++way) EXPECT_EQ(product->workspace(way), 0);
}

TEST_F(DeviceGemm, OwnKernelsAreRightInEveryFormatAndLayout) {
  for (Gemm gemm : every_format()) {
    for (int layout = 0; layout < 4; ++layout) {
      gemm.transpose_a = layout % 2 == 1;
      gemm.transpose_b = layout / 2 == 1;
      expect_own_right(gemm);
    }
  }
}

TEST_F(DeviceGemm, OwnKernelsAreRightAtRaggedShapes) {
  for (const Element element : {Element::bf16, Element::fp16, Element::tf32, Element::fp32, Element::fp64}) {
    Gemm gemm = gemm_of(element, element == Element::tf32 ? Element::fp32 : element,
                        element == Element::fp64 ? Element::fp64 : Element::fp32);
    gemm.m = 131;
    gemm.n = 67;
    gemm.k = 45;
    gemm.batch = 2;
    expect_own_right(gemm);
    gemm.m = gemm.n = gemm.k = 1;
    expect_own_right(gemm);
  }
}

TEST_F(DeviceGemm, OwnKernelsHaveAlphaBetaBiasAndActivation) {
  Gemm gemm = gemm_of(Element::fp16, Element::fp32, Element::fp32);
  gemm.alpha = 0.5;
  gemm.beta = 1;
  gemm.bias = true;
  for (const Activation activation : {Activation::none, Activation::relu, Activation::gelu}) {
    gemm.activation = activation;
    expect_own_right(gemm);
  }
  gemm = along_k(gemm_of(Element::int8, Element::int32, Element::int32));
  gemm.beta = 1;
  expect_own_right(gemm);
}

}  // namespace
}  // namespace vendor
