// Matrix products by OpenBLAS: FP64, and FP32 where oneDNN is not there.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "kernels/cpu/openblas.h"

namespace assay::cpu {
namespace {

constexpr int row_major = 101;
constexpr int as_is = 111;
constexpr int transposed = 112;

// The tanh form of the op.
template <class Number>
Number gelu(Number x) {
  const Number inner = Number(0.7978845608028654) * (x + Number(0.044715) * x * x * x);  // sqrt(2 / pi)
  return Number(0.5) * x * (Number(1) + std::tanh(inner));
}

template <class Number>
class OpenBlasGemm : public Kernel {
 public:
  OpenBlasGemm(const Gemm& gemm, const Pointers& operands, int threads, OpenBlas::GemmFunction<Number>* function,
               void (*set_threads)(int), std::string name, std::string note)
      : gemm_(gemm),
        a_(reinterpret_cast<const Number*>(operands.at(0))),
        b_(reinterpret_cast<const Number*>(operands.at(1))),
        bias_(gemm.bias ? reinterpret_cast<const Number*>(operands.at(2)) : nullptr),
        d_(reinterpret_cast<Number*>(operands.back())),
        threads_(threads),
        function_(function),
        set_threads_(set_threads),
        name_(std::move(name)),
        note_(std::move(note)) {}

  void run() override {
    const auto m = static_cast<int>(gemm_.m);
    const auto n = static_cast<int>(gemm_.n);
    const auto k = static_cast<int>(gemm_.k);
    set_threads_(threads_);
    for (std::int64_t item = 0; item < gemm_.batch; ++item) {
      function_(row_major, gemm_.transpose_a ? transposed : as_is, gemm_.transpose_b ? transposed : as_is, m, n, k,
                Number(gemm_.alpha), a_ + item * gemm_.m * gemm_.k, gemm_.transpose_a ? m : k,
                b_ + item * gemm_.k * gemm_.n, gemm_.transpose_b ? k : n, Number(gemm_.beta),
                d_ + item * gemm_.m * gemm_.n, n);
    }
    if (gemm_.bias || gemm_.activation != Activation::none) {
      finish();
    }
  }

  std::string method() const override {
    std::string method = name_;
    if (gemm_.bias || gemm_.activation != Activation::none) {
      method += " + own";
      method += gemm_.bias ? " bias" : "";
      method += gemm_.activation == Activation::gelu ? " gelu" : gemm_.activation == Activation::relu ? " relu" : "";
    }
    return method;
  }

  Choice choice() const override {
    Choice choice;
    choice.method = method();
    choice.executed = text(gemm_.a);
    choice.accumulated = text(gemm_.a);
    choice.note = note_;
    return choice;
  }

 private:
  // The library has no epilogue, so bias and activation go over the result once more.
  void finish() {
    const std::int64_t rows = gemm_.batch * gemm_.m;
    const std::int64_t n = gemm_.n;
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (std::int64_t row = 0; row < rows; ++row) {
      Number* d = d_ + row * n;
      for (std::int64_t column = 0; column < n; ++column) {
        d[column] = activated(d[column] + (bias_ != nullptr ? bias_[column] : Number(0)));
      }
    }
  }

  Number activated(Number x) const {
    switch (gemm_.activation) {
      case Activation::none:
        return x;
      case Activation::relu:
        return x > 0 ? x : Number(0);
      case Activation::gelu:
        return gelu(x);
    }
    return x;
  }

  Gemm gemm_;
  const Number* a_;
  const Number* b_;
  const Number* bias_;
  Number* d_;
  int threads_;
  OpenBlas::GemmFunction<Number>* function_;
  void (*set_threads_)(int);
  std::string name_, note_;
};

bool fits(std::int64_t dimension) { return dimension <= std::numeric_limits<int>::max(); }

}  // namespace

Support OpenBlas::supports(const Gemm& gemm) const {
  if (!usable()) {
    return {false, reason_};
  }
  const bool one_format = gemm.a == gemm.b && gemm.b == gemm.d && gemm.accumulate == gemm.a.element;
  const bool known = gemm.a == Format{Element::fp64} || gemm.a == Format{Element::fp32};
  if (!one_format || !known) {
    return {false,
            "OpenBLAS multiplies fp64 by fp64 and fp32 by fp32 only, with a result and an accumulator of the "
            "same format"};
  }
  if (!fits(gemm.m) || !fits(gemm.n) || !fits(gemm.k)) {
    return {false, "OpenBLAS counts with 32 bits, and a dimension is larger than that"};
  }
  return {true, ""};
}

std::unique_ptr<Kernel> OpenBlas::gemm(const Gemm& gemm, const Pointers& operands, int threads) const {
  const Support support = supports(gemm);
  if (!support.yes) {
    throw Unsupported(support.reason);
  }
  const std::string name = "openblas " + version_ + " " + kernels_;
  if (gemm.a.element == Element::fp64) {
    return std::make_unique<OpenBlasGemm<double>>(gemm, operands, threads, gemm_double_, set_threads_, name, note_);
  }
  return std::make_unique<OpenBlasGemm<float>>(gemm, operands, threads, gemm_float_, set_threads_, name, note_);
}

}  // namespace assay::cpu
