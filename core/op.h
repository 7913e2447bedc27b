// An operation is data: shape, formats and attributes only. Everything about it is a pure function of that.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/format.h"
#include "core/ops/attention.h"
#include "core/ops/gemm.h"
#include "core/ops/launch.h"
#include "core/ops/memory.h"
#include "core/ops/pointwise.h"
#include "core/ops/rows.h"
#include "core/ops/tokens.h"
#include "core/ops/training.h"

namespace assay {

using Op = std::variant<Gemm, Issue, Stream, Chase, Transfer, Launch, Pointwise, Cast, AdamW, Softmax, Norm,
                        NormWeights, ColumnSum, CrossEntropy, Embedding, Rope, Heads, Attention, CacheAppend,
                        SumSquares, AdamControl, TensorScale, AdamW8>;

bool operator==(const Op& a, const Op& b);
std::size_t hash(const Op& op);

// Canonical text: "gemm m=1024 n=1024 k=1024 a=bf16 b=bf16 d=bf16". Fields at their default are left out; the order is
// that of the struct. This is the key by which rates are found: parse(text(op)) == op.
std::string text(const Op& op);

// Throws BadInput naming the field and what was expected: unknown op, unknown or repeated field, missing dimension, a
// dimension that is not positive or so large that bytes or flops would not fit into 63 bits.
Op parse_op(std::string_view canonical);

// Throws BadInput where parse_op would for the same op: what it says holds for ops made in code as well.
void check(const Op& op);

// What one execution must do at least. Multiply and add count as two flops; bytes are those the operands occupy, each
// touched once (no write-allocate), scales included; a causal softmax reads and computes only what its rows see (and
// writes all). Any other arithmetic, comparison or elementary function counts as one flop. A read_write operand counts
// on both sides.
struct Cost {
  double flops = 0;
  double bytes_read = 0;
  double bytes_written = 0;
  double bytes_wire = 0;  // over a link: transfers and collectives
};
inline bool operator==(const Cost& a, const Cost& b) {
  return a.flops == b.flops && a.bytes_read == b.bytes_read && a.bytes_written == b.bytes_written &&
         a.bytes_wire == b.bytes_wire;
}
Cost cost(const Op& op);

enum class Access : std::uint8_t { read, write, read_write };

// One tensor that an op takes. The order of operands() is the order of Step::operands.
struct Operand {
  std::string name;  // "a", "b", "d", "x", "y", "weight" ...
  Format format;
  std::vector<std::int64_t> shape;  // row-major, last dimension contiguous
  Access access = Access::read;
};
std::vector<Operand> operands(const Op& op);

// The value of operand `operand` at flat element `index` before the op ran, decoded to a number.
using Reader = std::function<double(int operand, std::int64_t index)>;

// What element `index` of written operand `operand` must be after one execution, in FP64 and unrounded. For a GEMM this
// is one dot product, for a row op one row, for a read stream the sum of everything. Throws Error where the op does not
// write that operand (launches, chases, inputs).
double expected(const Op& op, int operand, std::int64_t index, const Reader& before);

// How far a right result may be from expected(): absolute, for that element, from the roundoff of the operands and the
// accumulator, the length of the accumulation and the magnitudes involved (sum |a b| for a GEMM).
double tolerance(const Op& op, int operand, std::int64_t index, const Reader& before);

// Whether under Pattern::exact a right result is expected() rounded to the operand's element, to the last bit: products
// and sums of integers, and pure moves. Where it is false, compare within tolerance().
bool exact(const Op& op);

// The family of cases an op belongs to by default: "gemm", "issue", "memory", "latency", "transfer", "launch".
std::string family(const Op& op);

}  // namespace assay
