// Ops that reduce along the rows, or down the columns, of a matrix. Arithmetic and sums are in fp32, in fp64 where the
// format is fp64; every operand is in `format` unless said.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/format.h"

namespace assay {

enum class Direction : std::uint8_t { forward, backward };

// Rows of probabilities. Forward: x, y; backward: dy, y, dx; each [rows, columns]. Where `period` is not 0 the softmax
// is causal: row r sees columns 0 .. (r mod period) + columns - period inclusive, and writes 0 beyond; period is at
// most columns. dx = y (dy - sum(dy y)), over what the row sees.
struct Softmax {
  Direction direction = Direction::forward;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Format format;
  std::int64_t period = 0;
};

enum class NormKind : std::uint8_t { rms, layer };

// y = weight (x - mean) / sqrt(variance + 1e-5) (+ bias). The variance is mean((x - mean)^2), without Bessel's
// correction; rms has no bias and its mean is 0 (its variance is mean(x^2), and the statistics hold 0 for the mean).
// Forward: x [rows, columns], weight [columns], (bias [columns]), y, statistics [rows, 2] fp32 (mean, 1/deviation;
// write). Backward: dy, x, weight, statistics, dx (read_write where `accumulate`: dx is added to what is there, the
// residual). Backward believes the statistics: with h = (x - mean)/deviation and e = weight dy,
// dx = (e - mean(e) - h mean(e h)) / deviation; rms leaves mean(e) out. `accumulate` is for backward only.
struct Norm {
  NormKind kind = NormKind::rms;
  Direction direction = Direction::forward;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Format format;
  bool accumulate = false;
};

// Gradients of a norm's weight and bias, down the columns. Operands: dy, x [rows, columns], statistics [rows, 2] fp32,
// dweight [columns] = sum(dy h), (dbias [columns] = sum(dy) for layer); both are overwritten, or added to (read_write)
// where `accumulate`. h as in Norm.
struct NormWeights {
  NormKind kind = NormKind::rms;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Format format;
  bool accumulate = false;
};

// A bias gradient: y [columns] is the sum of x [rows, columns] down the columns; added to what is there (read_write)
// where `accumulate`.
struct ColumnSum {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Format format;
  bool accumulate = false;
};

// Loss and its gradient in one pass. Operands: logits [rows, columns], targets [rows] int32, losses [rows] fp32
// (write): log(sum(exp(logits))) - logits[target], dlogits [rows, columns] (write): (softmax - onehot) / (rows parts),
// `parts` being the number of micro-batches whose gradients are added up. Where `scaled` there is a last operand,
// scalars [8] fp32 (read), and dlogits is multiplied by its loss scale, scalars[5]; see AdamControl. A target outside 0
// .. columns - 1 is an error of the caller.
struct CrossEntropy {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Format format;
  std::int64_t parts = 1;
  bool scaled = false;
};

}  // namespace assay
