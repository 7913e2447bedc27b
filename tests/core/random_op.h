// Ops with random fields, made from the same list of fields that everything else walks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include "core/error.h"
#include "core/op.h"
#include "core/op_fields.h"

namespace assay::test {

class RandomOps {
 public:
  RandomOps(std::uint64_t seed, std::int64_t largest_dimension, std::vector<Format> formats)
      : random_(seed), largest_(largest_dimension), formats_(std::move(formats)) {}

  // A possible op of the kind at `index` in the variant.
  Op next(std::size_t index) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      Op op = make(index, std::make_index_sequence<std::variant_size_v<Op>>());
      try {
        check(op);
        return op;
      } catch (const BadInput&) {  // fields that do not go together: throw the dice again
      }
    }
    throw Error("no possible op among 1000 random ones of kind " + std::to_string(index));
  }

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }

 private:
  template <std::size_t... Index>
  Op make(std::size_t index, std::index_sequence<Index...>) {
    Op op;
    ((index == Index ? void(op = fields<std::variant_alternative_t<Index, Op>>()) : void()), ...);
    return op;
  }

  template <class Struct>
  Struct fields() {
    Struct op;
    for_each_field<Struct>([&](const auto& field) { op.*(field.member) = value(field, op.*(field.member)); });
    if constexpr (std::is_same_v<Struct, Chase>) {  // dice hardly ever give whole numbers of slots
      op.stride = 8 * between(1, largest_);
      op.bytes = op.stride * between(1, largest_);
    }
    if constexpr (std::is_same_v<Struct, Attention>) {
      for (std::int64_t* dimension : {&op.batch, &op.query_length, &op.kv_heads, &op.head_size, &op.value_size}) {
        *dimension = between(1, std::min<std::int64_t>(largest_, 100));
      }
      op.key_length = op.query_length + between(0, std::min<std::int64_t>(largest_, 100));
      op.heads = op.kv_heads * between(1, std::min<std::int64_t>(largest_, 100));
      op.cache = op.format;
      if (!op.causal) op.window = 0;
    }
    if constexpr (std::is_same_v<Struct, CacheAppend>) {
      for (std::int64_t* dimension : {&op.batch, &op.heads, &op.length, &op.head_size}) {
        *dimension = between(1, std::min<std::int64_t>(largest_, 1000));
      }
      op.position = between(0, std::min<std::int64_t>(largest_, 1000));
      op.capacity = op.position + op.length + between(0, std::min<std::int64_t>(largest_, 1000));
    }
    if constexpr (std::is_same_v<Struct, AdamControl>) {
      op.rate = real(0, 1);
      op.clip = real(0, 2);
    }
    if constexpr (std::is_same_v<Struct, Rope>) {  // nor multiples, nor five dimensions with a product that fits
      for (std::int64_t* dimension : {&op.batch, &op.length, &op.kv_heads, &op.head_size}) {
        *dimension = between(1, std::min<std::int64_t>(largest_, 1000));
      }
      op.heads = op.kv_heads * between(1, std::min<std::int64_t>(largest_, 1000));
    }
    return op;
  }

  template <class FieldType, class Value>
  Value value(const FieldType& field, const Value& usual) {
    if constexpr (std::is_same_v<Value, bool>) {
      return between(0, 1) == 1;
    } else if constexpr (std::is_same_v<Value, double>) {
      return between(0, 1) == 1 ? usual : real(-2, 2);
    } else if constexpr (std::is_integral_v<Value>) {
      return static_cast<Value>(between(field.least, std::min(field.most, largest_)));
    } else if constexpr (std::is_same_v<Value, Format>) {
      return formats_[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(formats_.size()) - 1))];
    } else if constexpr (std::is_same_v<Value, Element>) {
      const auto& all = elements();
      return all[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(all.size()) - 1))];
    } else if constexpr (std::is_same_v<Value, Place>) {
      return Place{static_cast<PlaceKind>(between(0, 2)), static_cast<int>(between(-1, 3))};
    } else {
      return static_cast<Value>(between(0, static_cast<std::int64_t>(Names<Value>::list.size()) - 1));
    }
  }

  std::mt19937_64 random_;
  std::int64_t largest_;
  std::vector<Format> formats_;
};

}  // namespace assay::test
