// What a matrix product is, element by element. Every file of this folder gives, for its ops: units(op), the number of
// independent pieces; unit_of(op, operand, index), the piece that writes an element; and compute(op, unit, read,
// write), which reads all it needs before it writes. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/ops/gemm.h"
#include "core/ops/launch.h"
#include "core/reference/pointwise.h"
#include "core/reference/scalar.h"

namespace assay::reference {

inline std::int64_t units(const Gemm& op) { return op.batch * op.m * op.n; }
inline std::int64_t unit_of(const Gemm&, int, std::int64_t index) { return index; }

template <class Number, class Read, class Write>
void compute(const Gemm& op, std::int64_t unit, const Read& read, const Write& write) {
  const std::int64_t column = unit % op.n;
  const std::int64_t row = unit / op.n % op.m;
  const std::int64_t batch = unit / op.n / op.m;
  const std::int64_t a_first = batch * op.m * op.k + (op.transpose_a ? row : row * op.k);
  const std::int64_t b_first = batch * op.k * op.n + (op.transpose_b ? column * op.k : column);
  const std::int64_t a_step = op.transpose_a ? op.m : 1;
  const std::int64_t b_step = op.transpose_b ? 1 : op.n;
  Sum<Number> sum(Terms::independent);
  for (std::int64_t i = 0; i < op.k; ++i) sum.add(read(0, a_first + i * a_step) * read(1, b_first + i * b_step));

  Number result = sum.result();
  if (op.alpha != 1) result = Number(op.alpha) * result;
  if (op.scales) result = read(2, 0) * read(3, 0) * result;
  const int bias = op.scales ? 4 : 2;
  const int d = op.bias ? bias + 1 : bias;
  if (op.beta == 1) result = result + read(d, unit);
  if (op.bias) result = result + read(bias, column);
  switch (op.activation) {
    case Activation::none:
      break;
    case Activation::relu:
      result = larger(result, Number(0.0));
      break;
    case Activation::gelu:
      result = gelu(result);
      break;
  }
  write(d, unit, result);
}

// Nothing to compute: these have no operands that they write.
inline std::int64_t units(const Issue&) { return 0; }
inline std::int64_t unit_of(const Issue&, int, std::int64_t) { return 0; }
template <class Number, class Read, class Write>
void compute(const Issue&, std::int64_t, const Read&, const Write&) {}

inline std::int64_t units(const Launch&) { return 0; }
inline std::int64_t unit_of(const Launch&, int, std::int64_t) { return 0; }
template <class Number, class Read, class Write>
void compute(const Launch&, std::int64_t, const Read&, const Write&) {}

}  // namespace assay::reference
