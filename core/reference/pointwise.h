// What the pointwise ops, casts and the optimizer do to one element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/ops/pointwise.h"
#include "core/reference/scalar.h"

namespace assay::reference {

constexpr double gelu_scale = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double gelu_cubic = 0.044715;            // Hendrycks and Gimpel 2016, section 2

template <class Number>
Number gelu(const Number& x) {
  const Number inner = Number(gelu_scale) * (x + Number(gelu_cubic) * x * x * x);
  return Number(0.5) * x * (Number(1.0) + tanh(inner));
}

template <class Number>
Number gelu_slope(const Number& x) {
  const Number t = tanh(Number(gelu_scale) * (x + Number(gelu_cubic) * x * x * x));
  const Number inner_slope = Number(gelu_scale) * (Number(1.0) + Number(3 * gelu_cubic) * x * x);
  return Number(0.5) * (Number(1.0) + t) + Number(0.5) * x * (Number(1.0) - t * t) * inner_slope;
}

template <class Number>
Number sigmoid(const Number& x) {
  return Number(1.0) / (Number(1.0) + exp(-x));
}

inline std::int64_t units(const Pointwise& op) { return op.rows * op.columns; }

inline std::int64_t unit_of(const Pointwise& op, int, std::int64_t index) {
  if (op.kind != PointwiseKind::swiglu_backward) return index;
  const std::int64_t column = index % (2 * op.columns);  // of dgate_up: a gate or an up
  return index / (2 * op.columns) * op.columns + column % op.columns;
}

template <class Number, class Read, class Write>
void compute(const Pointwise& op, std::int64_t unit, const Read& read, const Write& write) {
  const std::int64_t gate_at = unit / op.columns * 2 * op.columns + unit % op.columns;
  const std::int64_t up_at = gate_at + op.columns;
  switch (op.kind) {
    case PointwiseKind::gelu:
      write(1, unit, gelu<Number>(read(0, unit)));
      break;
    case PointwiseKind::gelu_backward:
      write(2, unit, read(0, unit) * gelu_slope<Number>(read(1, unit)));
      break;
    case PointwiseKind::swiglu: {
      const Number gate = read(0, gate_at);
      write(1, unit, gate * sigmoid<Number>(gate) * read(0, up_at));
      break;
    }
    case PointwiseKind::swiglu_backward: {
      const Number dy = read(0, unit);
      const Number gate = read(1, gate_at);
      const Number up = read(1, up_at);
      const Number s = sigmoid<Number>(gate);
      write(2, gate_at, dy * up * s * (Number(1.0) + gate * (Number(1.0) - s)));
      write(2, up_at, dy * gate * s);
      break;
    }
    case PointwiseKind::add:
      write(2, unit, read(0, unit) + read(1, unit));
      break;
    case PointwiseKind::zero:
      write(0, unit, Number(0.0));
      break;
  }
}

inline std::int64_t units(const Cast& op) { return op.count; }
inline std::int64_t unit_of(const Cast&, int, std::int64_t index) { return index; }

template <class Number, class Read, class Write>
void compute(const Cast& op, std::int64_t unit, const Read& read, const Write& write) {
  if (op.to.scaling == Scaling::tensor) {
    write(2, unit, read(0, unit) / read(1, 0));
  } else {
    write(1, unit, read(0, unit));
  }
}

inline std::int64_t units(const AdamW& op) { return op.count; }
inline std::int64_t unit_of(const AdamW&, int, std::int64_t index) { return index; }

template <class Number, class Read, class Write>
void compute(const AdamW& op, std::int64_t unit, const Read& read, const Write& write) {
  constexpr double beta1 = 0.9;
  constexpr double beta2 = 0.95;
  constexpr double epsilon = 1e-8;
  constexpr double decay = 0.1;
  const bool has_weight = op.weight != Format{};
  Number master = read(2, unit);
  Number first = read(3, unit);
  Number second = read(4, unit);
  if (is_zero(read(0, 4))) {  // not to be skipped
    const Number g = read(1, unit) * read(0, 3);
    first = Number(beta1) * first + Number(1 - beta1) * g;
    second = Number(beta2) * second + Number(1 - beta2) * g * g;
    const Number step = first / read(0, 1) / (sqrt(second / read(0, 2)) + Number(epsilon));
    master = master - read(0, 0) * (step + Number(decay) * master);
  }
  write(2, unit, master);
  write(3, unit, first);
  write(4, unit, second);
  if (has_weight) write(5, unit, master);
}

}  // namespace assay::reference
