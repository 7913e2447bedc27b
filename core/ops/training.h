// What a training step does between its gradients and its weights: the norm of all gradients, the scalars of the step,
// scales for narrow formats, and an optimizer whose moments take 8 bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/format.h"

namespace assay {

// The sum of squares of x [count], in total [1] fp32: written, or added to (read_write) where `accumulate`. Over all
// gradients of a step it is the square of their norm, and not finite where one of them is not. Squares and sums are in
// fp32 or better.
struct SumSquares {
  std::int64_t count = 0;
  Format format;
  bool accumulate = false;
};

// The scalars of the next optimizer step from the square of the gradients' norm, without the host: operands total [1]
// fp32 and scalars [8] fp32 (read_write): 0 learning rate, 1 and 2 the bias corrections 1 - beta^t (0.9 and 0.95), 3
// the factor on gradients, 4 the skip flag, 5 the loss scale, 6 steps since it last changed, 7 steps taken (t). Where
// the total is finite: t grows by 1, the corrections follow, the learning rate is `rate`, in the first `warmup` steps
// rate t / warmup, the factor is min(1, clip / norm) / loss scale with norm = sqrt(total) / loss scale (no limit where
// clip is 0), the flag is 0. Otherwise the flag is 1 and those five stay. Where `interval` is not 0 the loss scale
// follows: halved, but not below 1, where the total is not finite; doubled, up to 2^24, after `interval` finite steps.
struct AdamControl {
  double rate = 1e-3;
  double clip = 1;
  std::int64_t warmup = 0;
  std::int64_t interval = 0;
};

// scale [1] fp32: the least power of two by which x [count], in `from`, can be divided so that all of it fits into
// `to`; 1 where x is zero or not finite. A power of two, so that scaling rounds nothing.
struct TensorScale {
  std::int64_t count = 0;
  Format from;
  Format to;
};

// AdamW (core/ops/pointwise.h) with moments of 8 bits: 128 elements share a scale. Operands, each [count] unless said:
// scalars [8] fp32, gradient, master fp32 (read_write), first fp8_e4m3 (read_write), first_scale [groups] fp32
// (read_write), second fp8_e4m3 (read_write), second_scale [groups] fp32 (read_write), and weight (write) where
// `weight` is not fp32; groups is count / 128, rounded up. first is the first moment over its scale, second the square
// root of the second one over its own, not below 2^-9 where the moment is not 0 (a step divides by it). A scale is the
// largest magnitude of its group over 448, 1 where all are 0.
struct AdamW8 {
  std::int64_t count = 0;
  Format weight;
  Format gradient;
};

}  // namespace assay
