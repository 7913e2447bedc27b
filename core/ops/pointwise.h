// One output element from the same element of each input. Arithmetic is in fp32, in fp64 where the format is fp64, and
// rounded once at the end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/format.h"

namespace assay {

enum class PointwiseKind : std::uint8_t {
  gelu,             // y = gelu(x), tanh form
  gelu_backward,    // dx = dy gelu'(x), of the tanh form
  swiglu,           // y = silu(gate) up
  swiglu_backward,  // dgate, dup from dy, gate, up
  add,              // y = x0 + x1 (a residual)
  zero,             // y = 0 (a gradient before anything is added to it)
};

// Operands, each [count] unless said: gelu: x, y; gelu_backward: dy, x, dx; add: x0, x1, y; zero: y.
// swiglu: gate_up [rows, 2 columns] (each row: its gates, then its ups), y [rows, columns]; swiglu_backward: dy [rows,
// columns], gate_up, dgate_up [rows, 2 columns]. For the others rows is 1 and columns is the count.
struct Pointwise {
  PointwiseKind kind = PointwiseKind::gelu;
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  Format format;
};

// y = x / scale rounded to the other format. Operands: x [count], (scale [1] fp32 where `to` is scaled by tensor,
// read), y [count]. x and y stand for their stored elements: no scale is multiplied back.
struct Cast {
  std::int64_t count = 0;
  Format from;
  Format to;
};

// One AdamW step with decoupled weight decay. Operands, each [count] unless said: scalars [8] fp32 (read: learning
// rate, 1 - beta1^t, 1 - beta2^t, gradient scale, skip flag, three that AdamControl keeps), gradient, master fp32
// (read_write), first fp32 (read_write), second fp32 (read_write), and weight (write) where `weight` is not fp32. The
// master is the weight where it is. beta1 0.9, beta2 0.95, epsilon 1e-8, decay 0.1. With g = gradient scalars[3]:
//   first = beta1 first + (1 - beta1) g             second = beta2 second + (1 - beta2) g g
//   master -= scalars[0] ((first / scalars[1]) / (sqrt(second / scalars[2]) + epsilon) + decay master)
// and weight is the new master, rounded. Where the skip flag (scalars[4]) is not 0, master, first and second stay as
// they are and weight is the old master, rounded. All in fp32.
struct AdamW {
  std::int64_t count = 0;
  Format weight;
  Format gradient;
};

}  // namespace assay
