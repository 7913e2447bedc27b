// Widening, the library's product, and what comes behind it, as one kernel. Every FP8 number is a BF16 number and every
// FP16 number an FP32 number, so that the products are those of the narrow formats to the last bit.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/widened_gemm.h"

#include <utility>

#include "kernels/convert.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/parallel.h"
#include "kernels/element.h"

namespace assay::cpu {
namespace {

bool is_fp8(Element element) { return element == Element::fp8_e4m3 || element == Element::fp8_e5m2; }

bool takes(Format format, bool scales) {
  const bool scaled = format.scaling == Scaling::tensor;
  return scales ? scaled || format.scaling == Scaling::none : format.scaling == Scaling::none;
}

Element wide_element(const Gemm& gemm) { return is_fp8(gemm.a.element) ? Element::bf16 : Element::fp32; }

bool is_result(Format format) {
  return format.scaling == Scaling::none &&
         (format.element == Element::fp32 || format.element == Element::bf16 || format.element == Element::fp16);
}

// Bytes in whole cache lines.
std::int64_t lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

Format unscaled(Format format) { return {format.element, Scaling::none}; }

class WidenedGemm : public Kernel {
 public:
  WidenedGemm(const Gemm& gemm, Pointers operands, const KernelSetup& setup)
      : gemm_(gemm), operands_(std::move(operands)), setup_(setup) {
    setup_.algorithm = Algorithm::by_default;
    setup_.workspace_limit.reset();
    setup_.constant.clear();
    // Made once without operands, to hear what scratch memory the product takes: ours begins behind that.
    multiply_ = make_gemm_kernel(widened(gemm), {nullptr, nullptr, nullptr}, setup_);
    a_ = lines(multiply_->choice().workspace);
    b_ = a_ + widened_bytes(gemm.m);
    product_ = b_ + widened_bytes(gemm.n);
    end_ = product_ + lines(gemm.batch * gemm.m * gemm.n * static_cast<std::int64_t>(sizeof(float)));
    setup_.scratch->need(end_);
  }

  // The scratch memory is there only after all kernels have said what they need.
  void refresh() override {
    std::byte* const scratch = setup_.scratch->data();
    if (scratch == bound_to_) return;
    const Format wide{wide_element(gemm_), Scaling::none};
    widen_a_ = make_body_kernel(Cast{gemm_.batch * gemm_.m * gemm_.k, unscaled(gemm_.a), wide},
                                {operands_.at(0), scratch + a_}, setup_.threads);
    widen_b_ = make_body_kernel(Cast{gemm_.batch * gemm_.k * gemm_.n, unscaled(gemm_.b), wide},
                                {operands_.at(1), scratch + b_}, setup_.threads);
    multiply_ = make_gemm_kernel(widened(gemm_), {scratch + a_, scratch + b_, scratch + product_}, setup_);
    bound_to_ = scratch;
  }

  void run() override {
    refresh();
    widen_a_->run();
    widen_b_->run();
    multiply_->run();
    with_storage(gemm_.d.element, [&](auto storage) { finish<decltype(storage)>(); });
  }

  std::string method() const override {
    return multiply_->method() + " of " + text(wide_element(gemm_)) + ", widened from " + text(gemm_.a.element);
  }

  Choice choice() const override {
    Choice choice = multiply_->choice();
    choice.method = method();
    choice.executed = text(wide_element(gemm_));
    choice.accumulated = "fp32";
    choice.workspace = end_;
    choice.note = "the processor multiplies no " + text(gemm_.a.element) + ": widening is part of the time";
    return choice;
  }

 private:
  std::int64_t widened_bytes(std::int64_t outer) const {
    return lines(gemm_.batch * outer * gemm_.k * bits(wide_element(gemm_)) / 8);
  }

  // Scales, what was there, bias and activation, rounded once.
  template <class Storage>
  void finish() {
    float scale = static_cast<float>(gemm_.alpha);
    if (gemm_.scales) scale *= *as<float>(operands_.at(2)) * *as<float>(operands_.at(3));
    const Storage* const bias = gemm_.bias ? as<Storage>(operands_.at(gemm_.scales ? 4 : 2)) : nullptr;
    Storage* const result = as<Storage>(operands_.back());
    const auto* const product = as<float>(bound_to_ + product_);
    const std::int64_t n = gemm_.n;
    const bool add = gemm_.beta == 1;
    const Activation activation = gemm_.activation;
    over_rows(gemm_.batch * gemm_.m, n, setup_.threads, [=](std::int64_t row) {
      for (std::int64_t i = 0; i < n; ++i) {
        float value = product[row * n + i] * scale;
        if (add) value += bodies::to_float(result[row * n + i]);
        if (bias != nullptr) value += bodies::to_float(bias[i]);
        if (activation == Activation::relu) value = value > 0 ? value : 0;
        if (activation == Activation::gelu) value = bodies::gelu(value);
        result[row * n + i] = bodies::from_float<Storage>(value);
      }
    });
  }

  Gemm gemm_;
  Pointers operands_;
  KernelSetup setup_;
  std::int64_t a_ = 0, b_ = 0, product_ = 0, end_ = 0;  // where each begins in the scratch memory
  std::byte* bound_to_ = nullptr;
  std::unique_ptr<Kernel> widen_a_, widen_b_, multiply_;
};

}  // namespace

bool widens(const Gemm& gemm) {
  const bool fp8 = is_fp8(gemm.a.element) && is_fp8(gemm.b.element);
  const bool fp16 = gemm.a.element == Element::fp16 && gemm.b.element == Element::fp16;
  return (fp8 || fp16) && takes(gemm.a, gemm.scales) && takes(gemm.b, gemm.scales) && is_result(gemm.d) &&
         gemm.accumulate == Element::fp32;
}

Gemm widened(const Gemm& gemm) {
  Gemm inner;
  inner.batch = gemm.batch;
  inner.m = gemm.m;
  inner.n = gemm.n;
  inner.k = gemm.k;
  inner.a = inner.b = {wide_element(gemm), Scaling::none};
  inner.d = {Element::fp32, Scaling::none};
  inner.transpose_a = gemm.transpose_a;
  inner.transpose_b = gemm.transpose_b;
  return inner;
}

std::unique_ptr<Kernel> make_widened_gemm(const Gemm& gemm, const Pointers& operands, const KernelSetup& setup) {
  return std::make_unique<WidenedGemm>(gemm, operands, setup);
}

}  // namespace assay::cpu
