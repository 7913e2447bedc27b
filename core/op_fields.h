// The fields of every op, said once: text, parsing, equality, hashing and range checks all walk this list, so they
// cannot disagree. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>

#include "core/op.h"

namespace assay {

// One member of an op. Numbers lie in [least, most]; a default below `least` makes the field a required one.
template <class Struct, class Value>
struct Field {
  std::string_view name;
  Value Struct::*member;
  std::int64_t least = std::numeric_limits<std::int64_t>::min();
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

template <class Struct, class Value>
constexpr Field<Struct, Value> any_field(std::string_view name, Value Struct::*member) {
  return {name, member};
}
// A dimension: at least 1.
template <class Struct, class Value>
constexpr Field<Struct, Value> size_field(std::string_view name, Value Struct::*member) {
  return {name, member, 1};
}
// A number that may be 0.
template <class Struct, class Value>
constexpr Field<Struct, Value> range_field(std::string_view name, Value Struct::*member, std::int64_t least,
                                           std::int64_t most = std::numeric_limits<std::int64_t>::max()) {
  return {name, member, least, most};
}

// The names of an enumeration's values, in its order.
template <class Enumeration>
struct Names;
template <>
struct Names<Activation> {
  static constexpr std::array<std::string_view, 3> list{"none", "relu", "gelu"};
};
template <>
struct Names<Unit> {
  static constexpr std::array<std::string_view, 2> list{"vector", "matrix"};
};
template <>
struct Names<StreamKind> {
  static constexpr std::array<std::string_view, 6> list{"copy", "scale", "add", "triad", "read", "write"};
};
template <>
struct Names<Store> {
  static constexpr std::array<std::string_view, 2> list{"plain", "nontemporal"};
};
template <>
struct Names<PlaceKind> {
  static constexpr std::array<std::string_view, 3> list{"device", "host_pinned", "host_pageable"};
};
template <>
struct Names<CopyPath> {
  static constexpr std::array<std::string_view, 2> list{"engine", "kernel"};
};
template <>
struct Names<LaunchKind> {
  static constexpr std::array<std::string_view, 4> list{"kernel", "graph", "allocate", "synchronise"};
};
template <>
struct Names<PointwiseKind> {
  static constexpr std::array<std::string_view, 6> list{"gelu", "gelu_backward", "swiglu", "swiglu_backward",
                                                        "add",  "zero"};
};
template <>
struct Names<Direction> {
  static constexpr std::array<std::string_view, 2> list{"forward", "backward"};
};
template <>
struct Names<NormKind> {
  static constexpr std::array<std::string_view, 2> list{"rms", "layer"};
};

// The name and the fields of one op, in the order of its struct.
template <class Struct>
struct Fields;
template <>
struct Fields<Gemm> {
  static constexpr std::string_view name = "gemm";
  static constexpr auto list = std::tuple{
      size_field("batch", &Gemm::batch),
      size_field("m", &Gemm::m),
      size_field("n", &Gemm::n),
      size_field("k", &Gemm::k),
      any_field("a", &Gemm::a),
      any_field("b", &Gemm::b),
      any_field("d", &Gemm::d),
      any_field("accumulate", &Gemm::accumulate),
      any_field("transpose_a", &Gemm::transpose_a),
      any_field("transpose_b", &Gemm::transpose_b),
      range_field("beta", &Gemm::beta, 0, 1),
      any_field("bias", &Gemm::bias),
      any_field("activation", &Gemm::activation),
      any_field("alpha", &Gemm::alpha),
      any_field("scales", &Gemm::scales),
  };
};
template <>
struct Fields<Issue> {
  static constexpr std::string_view name = "issue";
  static constexpr auto list = std::tuple{
      any_field("operands", &Issue::operands),
      any_field("accumulate", &Issue::accumulate),
      any_field("unit", &Issue::unit),
      size_field("count", &Issue::count),
  };
};
template <>
struct Fields<Stream> {
  static constexpr std::string_view name = "stream";
  static constexpr auto list = std::tuple{
      any_field("kind", &Stream::kind),   size_field("count", &Stream::count), any_field("format", &Stream::format),
      any_field("store", &Stream::store), size_field("turns", &Stream::turns),
  };
};
template <>
struct Fields<Chase> {
  static constexpr std::string_view name = "chase";
  static constexpr auto list = std::tuple{
      size_field("bytes", &Chase::bytes),
      size_field("stride", &Chase::stride),
      size_field("loads", &Chase::loads),
  };
};
template <>
struct Fields<Transfer> {
  static constexpr std::string_view name = "transfer";
  static constexpr auto list = std::tuple{
      size_field("bytes", &Transfer::bytes),
      any_field("from", &Transfer::from),
      any_field("to", &Transfer::to),
      any_field("path", &Transfer::path),
      any_field("both_ways", &Transfer::both_ways),
  };
};
template <>
struct Fields<Launch> {
  static constexpr std::string_view name = "launch";
  static constexpr auto list = std::tuple{
      any_field("kind", &Launch::kind),
      size_field("count", &Launch::count),
      range_field("bytes", &Launch::bytes, 0),
  };
};
template <>
struct Fields<Pointwise> {
  static constexpr std::string_view name = "pointwise";
  static constexpr auto list = std::tuple{
      any_field("kind", &Pointwise::kind),
      size_field("rows", &Pointwise::rows),
      size_field("columns", &Pointwise::columns),
      any_field("format", &Pointwise::format),
  };
};
template <>
struct Fields<Cast> {
  static constexpr std::string_view name = "cast";
  static constexpr auto list = std::tuple{
      size_field("count", &Cast::count),
      any_field("from", &Cast::from),
      any_field("to", &Cast::to),
  };
};
template <>
struct Fields<AdamW> {
  static constexpr std::string_view name = "adamw";
  static constexpr auto list = std::tuple{
      size_field("count", &AdamW::count),
      any_field("weight", &AdamW::weight),
      any_field("gradient", &AdamW::gradient),
  };
};
template <>
struct Fields<Softmax> {
  static constexpr std::string_view name = "softmax";
  static constexpr auto list = std::tuple{
      any_field("direction", &Softmax::direction), size_field("rows", &Softmax::rows),
      size_field("columns", &Softmax::columns),    any_field("format", &Softmax::format),
      range_field("period", &Softmax::period, 0),
  };
};
template <>
struct Fields<Norm> {
  static constexpr std::string_view name = "norm";
  static constexpr auto list = std::tuple{
      any_field("kind", &Norm::kind),     any_field("direction", &Norm::direction),
      size_field("rows", &Norm::rows),    size_field("columns", &Norm::columns),
      any_field("format", &Norm::format), any_field("accumulate", &Norm::accumulate),
  };
};
template <>
struct Fields<NormWeights> {
  static constexpr std::string_view name = "norm_weights";
  static constexpr auto list = std::tuple{
      any_field("kind", &NormWeights::kind),
      size_field("rows", &NormWeights::rows),
      size_field("columns", &NormWeights::columns),
      any_field("format", &NormWeights::format),
      any_field("accumulate", &NormWeights::accumulate),
  };
};
template <>
struct Fields<ColumnSum> {
  static constexpr std::string_view name = "column_sum";
  static constexpr auto list = std::tuple{
      size_field("rows", &ColumnSum::rows),
      size_field("columns", &ColumnSum::columns),
      any_field("format", &ColumnSum::format),
      any_field("accumulate", &ColumnSum::accumulate),
  };
};
template <>
struct Fields<CrossEntropy> {
  static constexpr std::string_view name = "cross_entropy";
  static constexpr auto list = std::tuple{
      size_field("rows", &CrossEntropy::rows),    size_field("columns", &CrossEntropy::columns),
      any_field("format", &CrossEntropy::format), size_field("parts", &CrossEntropy::parts),
      any_field("scaled", &CrossEntropy::scaled),
  };
};
template <>
struct Fields<Embedding> {
  static constexpr std::string_view name = "embedding";
  static constexpr auto list = std::tuple{
      any_field("direction", &Embedding::direction),    size_field("rows", &Embedding::rows),
      size_field("vocabulary", &Embedding::vocabulary), size_field("columns", &Embedding::columns),
      any_field("format", &Embedding::format),
  };
};
template <>
struct Fields<Rope> {
  static constexpr std::string_view name = "rope";
  static constexpr auto list = std::tuple{
      any_field("direction", &Rope::direction), size_field("batch", &Rope::batch),
      size_field("length", &Rope::length),      size_field("heads", &Rope::heads),
      size_field("kv_heads", &Rope::kv_heads),  size_field("head_size", &Rope::head_size),
      any_field("format", &Rope::format),       any_field("rotate", &Rope::rotate),
  };
};
template <>
struct Fields<Heads> {
  static constexpr std::string_view name = "heads";
  static constexpr auto list = std::tuple{
      any_field("direction", &Heads::direction),  size_field("batch", &Heads::batch),
      size_field("length", &Heads::length),       size_field("heads", &Heads::heads),
      size_field("head_size", &Heads::head_size), any_field("format", &Heads::format),
  };
};

template <>
struct Fields<Attention> {
  static constexpr std::string_view name = "attention";
  static constexpr auto list = std::tuple{
      any_field("direction", &Attention::direction),
      size_field("batch", &Attention::batch),
      size_field("query_length", &Attention::query_length),
      size_field("key_length", &Attention::key_length),
      size_field("heads", &Attention::heads),
      size_field("kv_heads", &Attention::kv_heads),
      size_field("head_size", &Attention::head_size),
      size_field("value_size", &Attention::value_size),
      any_field("format", &Attention::format),
      any_field("cache", &Attention::cache),
      any_field("causal", &Attention::causal),
      range_field("window", &Attention::window, 0),
  };
};
template <>
struct Fields<CacheAppend> {
  static constexpr std::string_view name = "cache_append";
  static constexpr auto list = std::tuple{
      size_field("batch", &CacheAppend::batch),
      size_field("heads", &CacheAppend::heads),
      size_field("length", &CacheAppend::length),
      size_field("capacity", &CacheAppend::capacity),
      range_field("position", &CacheAppend::position, 0),
      size_field("head_size", &CacheAppend::head_size),
      any_field("from", &CacheAppend::from),
      any_field("to", &CacheAppend::to),
  };
};
template <>
struct Fields<SumSquares> {
  static constexpr std::string_view name = "sum_squares";
  static constexpr auto list = std::tuple{
      size_field("count", &SumSquares::count),
      any_field("format", &SumSquares::format),
      any_field("accumulate", &SumSquares::accumulate),
  };
};
template <>
struct Fields<AdamControl> {
  static constexpr std::string_view name = "adam_control";
  static constexpr auto list = std::tuple{
      any_field("rate", &AdamControl::rate),
      any_field("clip", &AdamControl::clip),
      range_field("warmup", &AdamControl::warmup, 0),
      range_field("interval", &AdamControl::interval, 0),
  };
};
template <>
struct Fields<TensorScale> {
  static constexpr std::string_view name = "tensor_scale";
  static constexpr auto list = std::tuple{
      size_field("count", &TensorScale::count),
      any_field("from", &TensorScale::from),
      any_field("to", &TensorScale::to),
  };
};
template <>
struct Fields<AdamW8> {
  static constexpr std::string_view name = "adamw8";
  static constexpr auto list = std::tuple{
      size_field("count", &AdamW8::count),
      any_field("weight", &AdamW8::weight),
      any_field("gradient", &AdamW8::gradient),
  };
};

// Calls visit(field) for each.
template <class Struct, class Visitor>
constexpr void for_each_field(Visitor&& visit) {
  std::apply([&](const auto&... each) { (visit(each), ...); }, Fields<Struct>::list);
}

// Throws BadInput where a field is outside its range; check() adds the rules between fields.
void check_fields(const Op& op);

}  // namespace assay
