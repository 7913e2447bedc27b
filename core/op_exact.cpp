// Integer ranges in which sums have no rounding, and the ops that are exact then.
// SPDX-License-Identifier: Apache-2.0
#include "core/op_exact.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr double largest_used = 1 << 30;  // enough to fill any mantissa that matters; fill_value() counts in int64
constexpr double tame = 4;                // for arguments of exp and tanh, and for sums of squares

double real(std::int64_t count) { return static_cast<double>(count); }

double held(Format format) { return std::min(exact_integers_to(format.element), largest_used); }

// Sums of rows and columns are in fp32, or in fp64 where the format is.
double sum_limit(Format format) {
  return exact_integers_to(format.element == Element::fp64 ? Element::fp64 : Element::fp32);
}

bool power_of_two_or_zero(double value) {
  int exponent = 0;
  return value == 0 || std::abs(std::frexp(value, &exponent)) == 0.5;
}

// What all k products of a GEMM may add up to. Half of the range is kept for bias and D, where they are added.
double product_limit(const Gemm& op) {
  const double range = std::min(exact_integers_to(op.accumulate), largest(op.d.element));
  return op.bias || op.beta == 1 ? range / 2 : range;
}

double magnitude(const Gemm& op, int operand) {
  if (op.scales && (operand == 2 || operand == 3)) return 1;
  if (operand > 1) return std::min(held(op.d), product_limit(op) / 2);
  const double each = std::floor(std::sqrt(product_limit(op) / real(op.k)));
  return std::min({held(op.a), held(op.b), each});
}

double magnitude(const Issue&, int) { return 1; }

double magnitude(const Stream& op, int) {
  switch (op.kind) {
    case StreamKind::copy:
    case StreamKind::write:
      return held(op.format);
    case StreamKind::scale:
      return held(op.format) / 3;
    case StreamKind::add:
      return held(op.format) / 2;
    case StreamKind::triad:
      return held(op.format) / 4;  // x + 3 y
    case StreamKind::read:
      return std::min(held(op.format), sum_limit(op.format) / real(op.count) / real(op.turns));
  }
  return 1;
}

double magnitude(const Chase&, int) { return largest_used; }
double magnitude(const Transfer&, int) { return 127; }
double magnitude(const Launch&, int) { return 1; }

double magnitude(const Pointwise& op, int) {
  switch (op.kind) {
    case PointwiseKind::add:
      return held(op.format) / 2;
    case PointwiseKind::zero:
      return held(op.format);
    case PointwiseKind::gelu:
    case PointwiseKind::gelu_backward:
    case PointwiseKind::swiglu:
    case PointwiseKind::swiglu_backward:
      return tame;
  }
  return 1;
}

double magnitude(const Cast& op, int) { return std::min(held(op.from), largest(op.to.element)); }
double magnitude(const AdamW&, int) { return tame; }
double magnitude(const Softmax&, int) { return tame; }
double magnitude(const Norm&, int) { return tame; }
double magnitude(const NormWeights&, int) { return tame; }
double magnitude(const ColumnSum& op, int) {
  return std::min(held(op.format), sum_limit(op.format) / (real(op.rows) + (op.accumulate ? 1 : 0)));
}
double magnitude(const CrossEntropy&, int) { return tame; }

double magnitude(const Embedding& op, int) {
  if (op.direction == Direction::forward) return held(op.format);
  return std::min(held(op.format), sum_limit(op.format) / (real(op.rows) + 1));
}

double magnitude(const Rope& op, int) { return held(op.format); }
double magnitude(const Heads& op, int) { return held(op.format); }
double magnitude(const Attention&, int) { return 1; }
double magnitude(const CacheAppend& op, int) { return std::min(held(op.from), held(op.to)); }
double magnitude(const SumSquares& op, int operand) {
  const double limit = exact_integers_to(Element::fp32) / 2;  // half for what is there already
  return operand == 1 ? limit : std::min(held(op.format), std::floor(std::sqrt(limit / real(op.count))));
}
double magnitude(const AdamControl&, int) { return tame; }
double magnitude(const TensorScale& op, int) { return held(op.from); }
double magnitude(const AdamW8&, int) { return tame; }

template <class Struct>
bool always_exact(const Struct&) {
  return false;
}
bool always_exact(const Gemm& op) { return op.activation != Activation::gelu && power_of_two_or_zero(op.alpha); }
bool always_exact(const Stream&) { return true; }
bool always_exact(const Transfer&) { return true; }
bool always_exact(const Pointwise& op) { return op.kind == PointwiseKind::add || op.kind == PointwiseKind::zero; }
bool always_exact(const Cast&) { return true; }
bool always_exact(const ColumnSum&) { return true; }
bool always_exact(const Embedding&) { return true; }
bool always_exact(const Rope& op) { return !op.rotate; }
bool always_exact(const Heads&) { return true; }
bool always_exact(const CacheAppend&) { return true; }
bool always_exact(const SumSquares&) { return true; }
bool always_exact(const TensorScale&) { return true; }

}  // namespace

double exact_magnitude(const Op& op, int operand) {
  return std::visit([&](const auto& each) { return magnitude(each, operand); }, op);
}

bool exact(const Op& op) {
  if (!std::visit([](const auto& each) { return always_exact(each); }, op)) return false;
  const auto count = static_cast<int>(operands(op).size());
  for (int i = 0; i < count; ++i) {
    if (exact_magnitude(op, i) < 1) return false;
  }
  return true;
}

}  // namespace assay
