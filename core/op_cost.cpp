// What each op must do at least, which combinations of fields make sense, and the family each op belongs to.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/checked.h"
#include "core/error.h"
#include "core/op.h"
#include "core/op_fields.h"

namespace assay {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

// -- flops ------------------------------------------------------------------------------------------------------------
// Counted from the formulas beside the ops: +, -, *, /, max and each elementary function are one; negations and the
// folding of constants are none.

double flops(const Gemm& op) { return 2 * real(op.batch) * real(op.m) * real(op.n) * real(op.k); }
double flops(const Issue& op) { return 2 * real(op.count); }

double flops(const Stream& op) {
  switch (op.kind) {
    case StreamKind::copy:
    case StreamKind::write:
      return 0;
    case StreamKind::scale:
    case StreamKind::add:
      return real(op.count);
    case StreamKind::read:
      return real(op.count) * real(op.turns);
    case StreamKind::triad:
      return 2 * real(op.count);
  }
  return 0;
}

double flops(const Chase&) { return 0; }
double flops(const Transfer&) { return 0; }
double flops(const Launch&) { return 0; }

double flops(const Pointwise& op) {
  const double outputs = real(op.rows) * real(op.columns);
  switch (op.kind) {
    case PointwiseKind::gelu:
      return 9 * outputs;  // u = c1 (x + c2 x x x): 5; (0.5 x) (1 + tanh(u)): 4
    case PointwiseKind::gelu_backward:
      return 19 * outputs;  // u, t = tanh(u): 6; dy (0.5 (1 + t) + (0.5 x) (1 - t t) (c1 (1 + c3 x x))): 13
    case PointwiseKind::swiglu:
      return 4 * outputs;  // g / (1 + exp(-g)) up
    case PointwiseKind::swiglu_backward:
      return 11 * outputs;  // s = 1 / (1 + exp(-g)): 3; dup = dy g s: 2; dgate = dy up s (1 + g (1 - s)): 6
    case PointwiseKind::add:
      return outputs;
    case PointwiseKind::zero:
      return 0;
  }
  return 0;
}

double flops(const Cast& op) { return op.to.scaling == Scaling::tensor ? real(op.count) : 0; }
// gradient scale 1, first 3, second 4, bias corrections 2, sqrt, epsilon, quotient 3, decay 2, master 2
double flops(const AdamW& op) { return 17 * real(op.count); }

// Elements that the rows of a softmax see. The last row of a period sees all columns, each one before it one less.
double visible(const Softmax& op) {
  if (op.period == 0) return real(op.rows) * real(op.columns);
  const auto first_rows = [&](std::int64_t rows) {  // of one period: each sees columns - period + 1, + 2, ...
    return real(rows) * real(op.columns - op.period) + real(rows) * (real(rows) + 1) / 2;
  };
  return real(op.rows / op.period) * first_rows(op.period) + first_rows(op.rows % op.period);
}

double flops(const Softmax& op) {
  // forward: max, subtract, exp, sum, divide; backward: multiply and add, subtract, multiply
  return (op.direction == Direction::forward ? 5 : 4) * visible(op);
}

double flops(const Norm& op) {
  const double elements = real(op.rows) * real(op.columns);
  const bool rms = op.kind == NormKind::rms;
  if (op.direction == Direction::forward) {
    return (rms ? 4 : 7) * elements;  // square and sum 2, deviation 1, weight 1; layer: sum 1, subtract 1, bias 1
  }
  // weight 1, h 1, sum of e h 2, dx 3; layer: h 1 more, sum of e 1, its mean 1
  return ((rms ? 7 : 10) + (op.accumulate ? 1 : 0)) * elements;
}

double flops(const NormWeights& op) {
  const bool rms = op.kind == NormKind::rms;
  const double added = op.accumulate ? (rms ? 1 : 2) * real(op.columns) : 0;
  return (rms ? 3 : 5) * real(op.rows) * real(op.columns) + added;  // h 1 or 2, sum of dy h 2, dbias 1
}

double flops(const ColumnSum& op) { return (real(op.rows) + (op.accumulate ? 1 : 0)) * real(op.columns); }
// softmax 5, then one subtraction or division, then the loss scale
double flops(const CrossEntropy& op) { return (op.scaled ? 7 : 6) * real(op.rows) * real(op.columns); }

double flops(const Embedding& op) { return op.direction == Direction::forward ? 0 : real(op.rows) * real(op.columns); }

double flops(const Rope& op) {
  const double turned = real(op.batch) * real(op.length) * (real(op.heads) + real(op.kv_heads)) * real(op.head_size);
  return op.rotate ? 3 * turned : 0;
}

double flops(const Heads&) { return 0; }

// Keys that the queries of one head see, all together.
double visible(const Attention& op) {
  const double queries = real(op.query_length);
  const double keys = real(op.key_length);
  if (!op.causal) return queries * keys;
  // Query i sees keys - queries + i + 1 keys, or the window where that is less: the last `wide` of them.
  const double window = op.window == 0 ? keys : std::min(real(op.window), keys);
  const double wide = std::clamp(keys - window, 0.0, queries);
  const double narrow = queries - wide;  // these see first + 1, first + 2, ... first + narrow
  const double first = keys - queries;
  return wide * window + narrow * first + narrow * (narrow + 1) / 2;
}

// A pair of query and key: 2 head_size for its score, 2 value_size to add its value, and 5 as in a softmax. Backward
// makes the score again, its probability (2), the gradient of that from dy v and of the score (3), and adds to dq, dk
// and dv; the sum of dy y takes 2 value_size a query.
double flops(const Attention& op) {
  const double heads = real(op.batch) * real(op.heads);
  const double size = real(op.head_size);
  const double value = real(op.value_size);
  if (op.direction == Direction::forward) return heads * visible(op) * (2 * size + 2 * value + 5);
  return heads * (visible(op) * (6 * size + 4 * value + 5) + 2 * real(op.query_length) * value);
}

double flops(const CacheAppend&) { return 0; }
double flops(const SumSquares& op) { return 2 * real(op.count); }
double flops(const AdamControl&) { return 12; }
double flops(const TensorScale& op) { return real(op.count); }
// As AdamW; moments multiplied by their scales 3, a square root, two largest 2, two quotients 2
double flops(const AdamW8& op) { return 25 * real(op.count); }

// -- bytes ------------------------------------------------------------------------------------------------------------

std::int64_t bytes_of(const Operand& operand) {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < operand.shape.size(); ++i) rows = checked_multiply(rows, operand.shape[i]);
  const std::int64_t columns = operand.shape.empty() ? 1 : operand.shape.back();
  return checked_add(element_bytes(operand.format.element, rows, columns), scale_bytes(operand.format, rows, columns));
}

Cost by_operands(const Op& op) {
  Cost result;
  for (const Operand& operand : operands(op)) {
    const double size = real(bytes_of(operand));
    if (operand.access != Access::write) result.bytes_read += size;
    if (operand.access != Access::read) result.bytes_written += size;
  }
  return result;
}

// Most ops touch all of every operand. The rest say what they touch.
template <class Struct>
Cost bytes(const Struct& op) {
  return by_operands(op);
}

Cost bytes(const Stream& op) {
  Cost result = by_operands(op);
  result.bytes_read *= real(op.turns);
  return result;
}

Cost bytes(const Chase& op) {
  Cost result;
  result.bytes_read = 8 * real(op.loads);
  return result;
}

Cost bytes(const Transfer& op) {
  Cost result = by_operands(op);
  result.bytes_wire = result.bytes_read;
  return result;
}

Cost bytes(const Softmax& op) {
  Cost result = by_operands(op);
  const double all = real(op.rows) * real(op.columns);
  if (all > 0) result.bytes_read *= visible(op) / all;
  return result;
}

Cost bytes(const Attention& op) {
  Cost result = by_operands(op);
  if (!op.causal || op.window == 0 || op.key_length <= 0) return result;
  const double touched = std::min(real(op.key_length), real(op.query_length) - 1 + real(op.window));
  const std::vector<Operand> all = operands(op);
  const std::size_t key = op.direction == Direction::forward ? 1 : 2;
  for (std::size_t i = key; i < key + 2; ++i) {
    result.bytes_read -= real(bytes_of(all[i])) * (1 - touched / real(op.key_length));
  }
  return result;
}

Cost bytes(const CacheAppend& op) {
  const std::vector<Operand> all = operands(op);
  Operand moved = all[1];
  moved.shape = all[0].shape;
  Cost result;
  result.bytes_read = real(bytes_of(all[0]));
  result.bytes_written = real(bytes_of(moved));
  return result;
}

Cost bytes(const Embedding& op) {
  Embedding touched = op;
  touched.vocabulary = std::min(op.rows, op.vocabulary);
  return by_operands(touched);
}

// -- what makes sense -------------------------------------------------------------------------------------------------

// Empty, or why not.
template <class Struct>
std::string objection(const Struct&) {
  return "";
}

std::string objection(const Gemm& op) {
  const bool sums = op.accumulate == Element::fp32 || op.accumulate == Element::fp16 ||
                    op.accumulate == Element::fp64 || op.accumulate == Element::int32;
  return sums ? "" : "accumulate is " + text(op.accumulate) + ", expected fp32, fp16, fp64 or int32";
}

std::string objection(const Stream& op) {
  return op.turns == 1 || op.kind == StreamKind::read ? "" : "turns is for kind=read only";
}

std::string objection(const Chase& op) {
  if (op.stride % 8 != 0) return "stride is " + std::to_string(op.stride) + ", expected a multiple of 8";
  if (op.bytes % op.stride != 0) return "bytes is " + std::to_string(op.bytes) + ", expected a multiple of the stride";
  return "";
}

std::string objection(const Launch& op) {
  const bool allocates = op.kind == LaunchKind::allocate;
  if (allocates && op.bytes == 0) return "bytes is missing, expected how many to allocate";
  if (!allocates && op.bytes != 0) return "bytes is for kind=allocate only";
  return "";
}

std::string objection(const Pointwise& op) {
  const bool gated = op.kind == PointwiseKind::swiglu || op.kind == PointwiseKind::swiglu_backward;
  return gated || op.rows == 1 ? "" : "rows is for swiglu only, expected all elements in columns";
}

std::string objection(const Softmax& op) {
  return op.period <= op.columns ? "" : "period is " + std::to_string(op.period) + ", expected at most the columns";
}

std::string objection(const Norm& op) {
  return op.accumulate && op.direction == Direction::forward ? "accumulate is for direction=backward only" : "";
}

std::string objection(const Attention& op) {
  if (op.heads % op.kv_heads != 0) {
    return "heads is " + std::to_string(op.heads) + ", expected a multiple of kv_heads";
  }
  if (op.causal && op.query_length > op.key_length) {
    return "query_length is " + std::to_string(op.query_length) + ", expected at most the key_length where causal";
  }
  if (op.window != 0 && !op.causal) return "window is for causal=true only";
  if (op.direction == Direction::backward && op.cache != op.format) {
    return "cache is " + text(op.cache) + ", expected the format, since a backward pass takes one";
  }
  return "";
}

std::string objection(const CacheAppend& op) {
  if (op.position > op.capacity || op.length > op.capacity - op.position) {
    return "position is " + std::to_string(op.position) + ", expected room for the length before the capacity";
  }
  return "";
}

std::string objection(const AdamControl& op) {
  if (op.clip < 0) return "clip is negative, expected the largest norm, or 0 for none";
  if (op.rate < 0) return "rate is negative";
  return "";
}

std::string objection(const TensorScale& op) {
  const bool fits = std::isfinite(largest(op.to.element)) && largest(op.to.element) > 0;
  return fits ? "" : "to is " + text(op.to) + ", expected a format with a largest number";
}

std::string objection(const Rope& op) {
  if (op.heads % op.kv_heads != 0) {
    return "heads is " + std::to_string(op.heads) + ", expected a multiple of kv_heads";
  }
  if (op.rotate && op.head_size % 2 != 0) {
    return "head_size is " + std::to_string(op.head_size) + ", expected an even number to rotate halves";
  }
  return "";
}

std::string too_large(const Op& op) {
  constexpr double limit = 9223372036854775808.0;  // 2^63
  try {
    std::int64_t total = 0;
    for (const Operand& operand : operands(op)) total = checked_add(total, bytes_of(operand));
  } catch (const Error& error) {
    return std::string("its operands are too large: ") + error.what();
  }
  const Cost costs = cost(op);
  if (costs.flops >= limit) return "its flops do not fit into 63 bits";
  if (costs.bytes_read >= limit || costs.bytes_written >= limit || costs.bytes_wire >= limit) {
    return "its bytes do not fit into 63 bits";
  }
  return "";
}

}  // namespace

Cost cost(const Op& op) {
  return std::visit(
      [](const auto& each) {
        Cost result = bytes(each);
        result.flops = flops(each);
        return result;
      },
      op);
}

void check(const Op& op) {
  check_fields(op);
  std::string why = std::visit([](const auto& each) { return objection(each); }, op);
  if (why.empty()) why = too_large(op);
  if (!why.empty()) throw BadInput("The op '" + text(op) + "' is not possible: " + why + ".");
}

std::string family(const Op& op) {
  if (std::holds_alternative<Gemm>(op)) return "gemm";
  if (std::holds_alternative<Issue>(op)) return "issue";
  if (std::holds_alternative<Chase>(op)) return "latency";
  if (std::holds_alternative<Transfer>(op)) return "transfer";
  if (std::holds_alternative<Launch>(op)) return "launch";
  return "memory";
}

}  // namespace assay
