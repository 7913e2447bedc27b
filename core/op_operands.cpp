// Which tensors each op takes: names, formats, shapes, and what it does to them.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/checked.h"
#include "core/op.h"

namespace assay {
namespace {

using Shape = std::vector<std::int64_t>;
constexpr Format fp32{Element::fp32, Scaling::none};
constexpr Format fp64{Element::fp64, Scaling::none};
constexpr Format int8{Element::int8, Scaling::none};
constexpr Format int32{Element::int32, Scaling::none};
constexpr Format int64{Element::int64, Scaling::none};

Operand reads(std::string name, Format format, Shape shape) {
  return {std::move(name), format, std::move(shape), Access::read};
}
Operand writes(std::string name, Format format, Shape shape) {
  return {std::move(name), format, std::move(shape), Access::write};
}
Operand updates(std::string name, Format format, Shape shape) {
  return {std::move(name), format, std::move(shape), Access::read_write};
}

std::vector<Operand> list(const Gemm& op) {
  std::vector<Operand> result{
      reads("a", op.a, op.transpose_a ? Shape{op.batch, op.k, op.m} : Shape{op.batch, op.m, op.k}),
      reads("b", op.b, op.transpose_b ? Shape{op.batch, op.n, op.k} : Shape{op.batch, op.k, op.n}),
  };
  if (op.scales) {
    result.push_back(reads("scale_a", fp32, {1}));
    result.push_back(reads("scale_b", fp32, {1}));
  }
  if (op.bias) result.push_back(reads("bias", op.d, {op.n}));
  const Shape shape{op.batch, op.m, op.n};
  result.push_back(op.beta == 1 ? updates("d", op.d, shape) : writes("d", op.d, shape));
  return result;
}

std::vector<Operand> list(const Issue&) { return {}; }

std::vector<Operand> list(const Stream& op) {
  const auto input = [&](const char* name) { return reads(name, op.format, {op.count}); };
  const auto output = [&](const char* name) { return writes(name, op.format, {op.count}); };
  switch (op.kind) {
    case StreamKind::copy:
    case StreamKind::scale:
      return {input("x"), output("y")};
    case StreamKind::add:
    case StreamKind::triad:
      return {input("x"), input("y"), output("z")};
    case StreamKind::read:
      return {input("x"), writes("sum", fp64, {1})};
    case StreamKind::write:
      return {output("y")};
  }
  return {};
}

std::vector<Operand> list(const Chase& op) { return {reads("ring", int64, {op.bytes / 8})}; }

std::vector<Operand> list(const Transfer& op) {
  std::vector<Operand> result{reads("from", int8, {op.bytes}), writes("to", int8, {op.bytes})};
  if (op.both_ways) {
    result.push_back(reads("back_from", int8, {op.bytes}));
    result.push_back(writes("back_to", int8, {op.bytes}));
  }
  return result;
}

std::vector<Operand> list(const Launch&) { return {}; }

std::vector<Operand> list(const Pointwise& op) {
  const auto narrow = [&] { return op.rows == 1 ? Shape{op.columns} : Shape{op.rows, op.columns}; };
  const auto matrix = [&] { return Shape{op.rows, op.columns}; };
  const auto wide = [&] { return Shape{op.rows, checked_multiply(2, op.columns)}; };
  switch (op.kind) {
    case PointwiseKind::gelu:
      return {reads("x", op.format, narrow()), writes("y", op.format, narrow())};
    case PointwiseKind::gelu_backward:
      return {reads("dy", op.format, narrow()), reads("x", op.format, narrow()), writes("dx", op.format, narrow())};
    case PointwiseKind::swiglu:
      return {reads("gate_up", op.format, wide()), writes("y", op.format, matrix())};
    case PointwiseKind::swiglu_backward:
      return {reads("dy", op.format, matrix()), reads("gate_up", op.format, wide()),
              writes("dgate_up", op.format, wide())};
    case PointwiseKind::add:
      return {reads("x0", op.format, narrow()), reads("x1", op.format, narrow()), writes("y", op.format, narrow())};
    case PointwiseKind::zero:
      return {writes("y", op.format, narrow())};
  }
  return {};
}

std::vector<Operand> list(const Cast& op) {
  std::vector<Operand> result{reads("x", op.from, {op.count})};
  if (op.to.scaling == Scaling::tensor) result.push_back(reads("scale", fp32, {1}));
  result.push_back(writes("y", op.to, {op.count}));
  return result;
}

std::vector<Operand> list(const AdamW& op) {
  std::vector<Operand> result{reads("scalars", fp32, {8}), reads("gradient", op.gradient, {op.count}),
                              updates("master", fp32, {op.count}), updates("first", fp32, {op.count}),
                              updates("second", fp32, {op.count})};
  if (op.weight != fp32) result.push_back(writes("weight", op.weight, {op.count}));
  return result;
}

std::vector<Operand> list(const Softmax& op) {
  const Shape shape{op.rows, op.columns};
  if (op.direction == Direction::forward) return {reads("x", op.format, shape), writes("y", op.format, shape)};
  return {reads("dy", op.format, shape), reads("y", op.format, shape), writes("dx", op.format, shape)};
}

std::vector<Operand> list(const Norm& op) {
  const Shape matrix{op.rows, op.columns};
  const Shape line{op.columns};
  const Shape statistics{op.rows, 2};
  if (op.direction == Direction::backward) {
    return {reads("dy", op.format, matrix), reads("x", op.format, matrix), reads("weight", op.format, line),
            reads("statistics", fp32, statistics),
            op.accumulate ? updates("dx", op.format, matrix) : writes("dx", op.format, matrix)};
  }
  std::vector<Operand> result{reads("x", op.format, matrix), reads("weight", op.format, line)};
  if (op.kind == NormKind::layer) result.push_back(reads("bias", op.format, line));
  result.push_back(writes("y", op.format, matrix));
  result.push_back(writes("statistics", fp32, statistics));
  return result;
}

std::vector<Operand> list(const NormWeights& op) {
  const auto sum = [&](const char* name) {
    return op.accumulate ? updates(name, op.format, {op.columns}) : writes(name, op.format, {op.columns});
  };
  std::vector<Operand> result{reads("dy", op.format, {op.rows, op.columns}),
                              reads("x", op.format, {op.rows, op.columns}), reads("statistics", fp32, {op.rows, 2}),
                              sum("dweight")};
  if (op.kind == NormKind::layer) result.push_back(sum("dbias"));
  return result;
}

std::vector<Operand> list(const ColumnSum& op) {
  return {reads("x", op.format, {op.rows, op.columns}),
          op.accumulate ? updates("y", op.format, {op.columns}) : writes("y", op.format, {op.columns})};
}

std::vector<Operand> list(const CrossEntropy& op) {
  std::vector<Operand> result{reads("logits", op.format, {op.rows, op.columns}), reads("targets", int32, {op.rows}),
                              writes("losses", fp32, {op.rows}), writes("dlogits", op.format, {op.rows, op.columns})};
  if (op.scaled) result.push_back(reads("scalars", fp32, {8}));
  return result;
}

std::vector<Operand> list(const Embedding& op) {
  const Shape table{op.vocabulary, op.columns};
  const Shape rows{op.rows, op.columns};
  if (op.direction == Direction::forward) {
    return {reads("tokens", int32, {op.rows}), reads("table", op.format, table), writes("y", op.format, rows)};
  }
  return {reads("tokens", int32, {op.rows}), reads("dy", op.format, rows), updates("dtable", op.format, table)};
}

std::vector<Operand> list(const Rope& op) {
  const std::int64_t slots = checked_add(op.heads, checked_multiply(2, op.kv_heads));
  const Shape packed{checked_multiply(op.batch, op.length), checked_multiply(slots, op.head_size)};
  const Shape query{op.batch, op.heads, op.length, op.head_size};
  const Shape key{op.batch, op.kv_heads, op.length, op.head_size};
  const Operand table = reads("table", fp32, {op.length, op.head_size});
  std::vector<Operand> result;
  if (op.direction == Direction::forward) {
    result.push_back(reads("packed", op.format, packed));
    if (op.rotate) result.push_back(table);
    result.push_back(writes("q", op.format, query));
    result.push_back(writes("k", op.format, key));
    result.push_back(writes("v", op.format, key));
  } else {
    result.push_back(reads("dq", op.format, query));
    result.push_back(reads("dk", op.format, key));
    result.push_back(reads("dv", op.format, key));
    if (op.rotate) result.push_back(table);
    result.push_back(writes("dpacked", op.format, packed));
  }
  return result;
}

std::vector<Operand> list(const Heads& op) {
  const Shape split{op.batch, op.heads, op.length, op.head_size};
  const Shape merged{checked_multiply(op.batch, op.length), checked_multiply(op.heads, op.head_size)};
  if (op.direction == Direction::forward) return {reads("x", op.format, split), writes("y", op.format, merged)};
  return {reads("dy", op.format, merged), writes("dx", op.format, split)};
}

std::vector<Operand> list(const Attention& op) {
  const Shape query{op.batch, op.heads, op.query_length, op.head_size};
  const Shape result{op.batch, op.heads, op.query_length, op.value_size};
  const Shape key{op.batch, op.kv_heads, op.key_length, op.head_size};
  const Shape value{op.batch, op.kv_heads, op.key_length, op.value_size};
  const Shape row{op.batch, op.heads, op.query_length};
  if (op.direction == Direction::forward) {
    return {reads("q", op.format, query), reads("k", op.cache, key), reads("v", op.cache, value),
            writes("y", op.format, result), writes("logsumexp", fp32, row)};
  }
  return {reads("dy", op.format, result), reads("q", op.format, query),  reads("k", op.cache, key),
          reads("v", op.cache, value),    reads("y", op.format, result), reads("logsumexp", fp32, row),
          writes("dq", op.format, query), writes("dk", op.format, key),  writes("dv", op.format, value)};
}

std::vector<Operand> list(const CacheAppend& op) {
  return {reads("x", op.from, {op.batch, op.heads, op.length, op.head_size}),
          updates("cache", op.to, {op.batch, op.heads, op.capacity, op.head_size})};
}

std::vector<Operand> list(const SumSquares& op) {
  return {reads("x", op.format, {op.count}), op.accumulate ? updates("total", fp32, {1}) : writes("total", fp32, {1})};
}

std::vector<Operand> list(const AdamControl&) { return {reads("total", fp32, {1}), updates("scalars", fp32, {8})}; }

std::vector<Operand> list(const TensorScale& op) {
  return {reads("x", op.from, {op.count}), writes("scale", fp32, {1})};
}

std::vector<Operand> list(const AdamW8& op) {
  constexpr Format moment{Element::fp8_e4m3, Scaling::none};
  const Shape groups{checked_add(op.count, 127) / 128};
  std::vector<Operand> result{reads("scalars", fp32, {8}),          reads("gradient", op.gradient, {op.count}),
                              updates("master", fp32, {op.count}),  updates("first", moment, {op.count}),
                              updates("first_scale", fp32, groups), updates("second", moment, {op.count}),
                              updates("second_scale", fp32, groups)};
  if (op.weight != fp32) result.push_back(writes("weight", op.weight, {op.count}));
  return result;
}

}  // namespace

std::vector<Operand> operands(const Op& op) {
  return std::visit([](const auto& each) { return list(each); }, op);
}

}  // namespace assay
