// Matrix products, and the rate at which a processor issues multiply-adds from registers alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/format.h"

namespace assay {

enum class Activation : std::uint8_t { none, relu, gelu };

// D = activation(alpha op(A) op(B) + beta D + bias), row-major, strided batches one after the other; the activation is
// the tanh form where it is gelu. Flops are 2 batch m n k: epilogues are not counted.
// A is [batch, m, k] ([batch, k, m] where transpose_a), B is [batch, k, n] ([batch, n, k] where transpose_b), D is
// [batch, m, n], bias is [n] in D's format, the same for all rows and batches. Where `scales`, two numbers multiply the
// product: D = activation(alpha scale_a scale_b op(A) op(B) + ...); they are what the elements of A and B were divided
// by. Operands: a, b, (scale_a [1], scale_b [1], fp32), (bias), d. d is read_write where beta is 1, else write.
struct Gemm {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Format a;
  Format b;
  Format d;
  Element accumulate = Element::fp32;  // fp32, fp16, fp64 or int32
  bool transpose_a = false;
  bool transpose_b = false;
  int beta = 0;  // 0 or 1
  bool bias = false;
  Activation activation = Activation::none;
  double alpha = 1;  // 1/sqrt(head size) for attention scores
  bool scales = false;
};

enum class Unit : std::uint8_t { vector, matrix };

// Multiply-adds on registers only: no memory, no library. `count` multiply-adds by each of the device's lanes at least;
// the back end reports the true number through Choice::flops. cost() is that of one lane: 2 count flops. No operands.
struct Issue {
  Format operands;
  Element accumulate = Element::fp32;
  Unit unit = Unit::vector;
  std::int64_t count = 1 << 20;
};

}  // namespace assay
