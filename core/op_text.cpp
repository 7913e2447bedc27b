// Ops as canonical text and back, their equality and their hash: all from the one list of fields.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/nearest.h"
#include "core/op.h"
#include "core/op_fields.h"

namespace assay {
namespace {

// -- values to text ---------------------------------------------------------------------------------------------------

std::string write_number(double value) {
  std::array<char, 32> buffer{};
  const auto [end, failure] = std::to_chars(buffer.begin(), buffer.end(), value + 0.0);  // + 0.0: no minus zero
  return failure == std::errc() ? std::string(buffer.begin(), end) : std::string("nan");
}

template <class Value>
std::string write_value(const Value& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_same_v<Value, double>) {
    return write_number(value);
  } else if constexpr (std::is_integral_v<Value>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<Value, Format> || std::is_same_v<Value, Element>) {
    return text(value);
  } else if constexpr (std::is_same_v<Value, Place>) {
    const std::string kind = write_value(value.kind);
    return value.index == -1 ? kind : kind + ":" + std::to_string(value.index);
  } else {
    const auto index = static_cast<std::size_t>(value);
    return index < Names<Value>::list.size() ? std::string(Names<Value>::list[index]) : std::string("invalid");
  }
}

// -- text to values ---------------------------------------------------------------------------------------------------

template <class Number>
std::optional<Number> read_number(std::string_view written) {
  Number value{};
  const auto [end, failure] = std::from_chars(written.data(), written.data() + written.size(), value);
  if (written.empty() || failure != std::errc() || end != written.data() + written.size()) return std::nullopt;
  return value;
}

template <class Enumeration>
std::optional<Enumeration> read_name(std::string_view written) {
  const auto& names = Names<Enumeration>::list;
  const auto found = std::find(names.begin(), names.end(), written);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enumeration>(found - names.begin());
}

std::optional<Place> read_place(std::string_view written) {
  const std::size_t colon = written.find(':');
  const std::optional<PlaceKind> kind = read_name<PlaceKind>(written.substr(0, colon));
  if (!kind) return std::nullopt;
  if (colon == std::string_view::npos) return Place{*kind, -1};
  const std::optional<int> index = read_number<int>(written.substr(colon + 1));
  if (!index || *index < 0) return std::nullopt;
  return Place{*kind, *index};
}

template <class Value>
std::optional<Value> read_value(std::string_view written) {
  if constexpr (std::is_same_v<Value, bool>) {
    if (written == "true") return true;
    if (written == "false") return false;
    return std::nullopt;
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return read_number<Value>(written);
  } else if constexpr (std::is_same_v<Value, Format>) {
    return parse_format(written);
  } else if constexpr (std::is_same_v<Value, Element>) {
    return parse_element(written);
  } else if constexpr (std::is_same_v<Value, Place>) {
    return read_place(written);
  } else {
    return read_name<Value>(written);
  }
}

// -- what a field wants, in words -------------------------------------------------------------------------------------

template <class List>
std::string listed(const List& names) {
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "" : ", ") + std::string(name);
  return list;
}

template <class Struct, class Value>
std::string wanted(const Field<Struct, Value>& field) {
  if constexpr (std::is_same_v<Value, bool>) {
    return "true or false";
  } else if constexpr (std::is_same_v<Value, double>) {
    return "a finite number";
  } else if constexpr (std::is_integral_v<Value>) {
    if (field.most != std::numeric_limits<std::int64_t>::max()) {
      return "a whole number from " + std::to_string(field.least) + " to " + std::to_string(field.most);
    }
    return "a whole number of at least " + std::to_string(field.least);
  } else if constexpr (std::is_same_v<Value, Format>) {
    return "a format such as fp32, bf16 or fp8_e4m3.tensor";
  } else if constexpr (std::is_same_v<Value, Element>) {
    return "an element such as fp32, bf16 or int8";
  } else if constexpr (std::is_same_v<Value, Place>) {
    return "device, host_pinned or host_pageable, with a number behind a colon where it matters (device:0)";
  } else {
    return "one of " + listed(Names<Value>::list);
  }
}

template <class Struct, class Value>
bool in_range(const Field<Struct, Value>& field, const Value& value) {
  if constexpr (std::is_same_v<Value, bool>) {
    return true;
  } else if constexpr (std::is_same_v<Value, double>) {
    return std::isfinite(value);
  } else if constexpr (std::is_integral_v<Value>) {
    return value >= field.least && value <= field.most;
  } else if constexpr (std::is_same_v<Value, Place>) {
    return value.index >= -1 && in_range(Field<Place, PlaceKind>{field.name, &Place::kind}, value.kind);
  } else if constexpr (std::is_same_v<Value, Format>) {
    return parse_format(text(value)) == value;
  } else if constexpr (std::is_same_v<Value, Element>) {
    return parse_element(text(value)) == value;
  } else {
    return static_cast<std::size_t>(value) < Names<Value>::list.size();
  }
}

// -- one op -----------------------------------------------------------------------------------------------------------

template <class Struct>
std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for_each_field<Struct>([&](const auto& field) { names.emplace_back(field.name); });
  return names;
}

struct Word {
  std::string_view name;
  std::string_view value;
  bool used = false;
};

// What was read, fit for a message: it may come from a file that holds anything.
std::string shown(std::string_view written) {
  constexpr std::size_t longest = 200;
  std::string result(written.substr(0, longest));
  for (char& letter : result) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F) letter = '?';
  }
  return "'" + result + (written.size() > longest ? "...'" : "'");
}

[[noreturn]] void refuse(std::string_view canonical, const std::string& why) {
  throw BadInput("The op " + shown(canonical) + " cannot be read: " + why + (why.ends_with('?') ? "" : "."));
}

template <class Struct>
Op read_fields(std::string_view canonical, std::vector<Word> words) {
  Struct op;
  for_each_field<Struct>([&](const auto& field) {
    using Value = std::remove_reference_t<decltype(op.*(field.member))>;
    const Struct defaults;
    bool seen = false;
    for (Word& word : words) {
      if (word.name != field.name) continue;
      if (seen) refuse(canonical, std::string(field.name) + " is given twice");
      const std::optional<Value> value = read_value<Value>(word.value);
      if (!value || !in_range(field, *value)) {
        refuse(canonical, std::string(field.name) + " is " + shown(word.value) + ", expected " + wanted(field));
      }
      op.*(field.member) = *value;
      seen = word.used = true;
    }
    if (!seen && !in_range(field, defaults.*(field.member))) {
      refuse(canonical, std::string(field.name) + " is missing, expected " + wanted(field));
    }
  });
  for (const Word& word : words) {
    if (word.used) continue;
    const std::vector<std::string> known = field_names<Struct>();
    refuse(canonical, std::string(Fields<Struct>::name) + " has no field " + shown(word.name) + " (it has " +
                          listed(known) + ")" + did_you_mean(word.name, known));
  }
  return op;
}

std::vector<Word> split(std::string_view canonical, std::string_view fields) {
  std::vector<Word> words;
  while (!fields.empty()) {
    const std::size_t space = fields.find(' ');
    const std::string_view word = fields.substr(0, space);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      refuse(canonical, shown(word) + " is not of the form name=value, with one space between fields");
    }
    words.push_back({word.substr(0, equals), word.substr(equals + 1)});
    if (space == std::string_view::npos) break;
    fields.remove_prefix(space + 1);
    if (fields.empty()) refuse(canonical, "it ends with a space");
  }
  return words;
}

template <std::size_t... Index>
Op read_op(std::string_view canonical, std::string_view name, const std::vector<Word>& words,
           std::index_sequence<Index...>) {
  std::optional<Op> op;
  const auto attempt = [&]<class Struct>(std::type_identity<Struct>) {
    if (Fields<Struct>::name == name) op = read_fields<Struct>(canonical, words);
  };
  (attempt(std::type_identity<std::variant_alternative_t<Index, Op>>{}), ...);
  if (!op) {
    const std::vector<std::string> known{std::string(Fields<std::variant_alternative_t<Index, Op>>::name)...};
    refuse(canonical,
           "there is no op " + shown(name) + " (there are " + listed(known) + ")" + did_you_mean(name, known));
  }
  return *op;
}

// -- equality and hash ------------------------------------------------------------------------------------------------

std::size_t mix_in(std::size_t seed, std::size_t value) {  // as in Boost: order matters
  return seed ^ (value + 0x9E3779B97F4A7C15U + (seed << 6U) + (seed >> 2U));
}

template <class Value>
std::size_t hash_value(const Value& value) {
  if constexpr (std::is_same_v<Value, double>) {
    return std::hash<double>()(value + 0.0);
  } else if constexpr (std::is_same_v<Value, Format>) {
    return mix_in(static_cast<std::size_t>(value.element), static_cast<std::size_t>(value.scaling));
  } else if constexpr (std::is_same_v<Value, Place>) {
    return mix_in(static_cast<std::size_t>(value.kind), static_cast<std::size_t>(value.index));
  } else {
    return static_cast<std::size_t>(value);
  }
}

}  // namespace

std::string text(const Op& op) {
  return std::visit(
      [](const auto& each) {
        using Struct = std::decay_t<decltype(each)>;
        const Struct defaults;
        std::string result(Fields<Struct>::name);
        for_each_field<Struct>([&](const auto& field) {
          if (each.*(field.member) == defaults.*(field.member)) return;
          result += " " + std::string(field.name) + "=" + write_value(each.*(field.member));
        });
        return result;
      },
      op);
}

Op parse_op(std::string_view canonical) {
  const std::size_t space = canonical.find(' ');
  const std::string_view name = canonical.substr(0, space);
  const std::string_view fields = space == std::string_view::npos ? std::string_view() : canonical.substr(space + 1);
  if (space != std::string_view::npos && fields.empty()) refuse(canonical, "it ends with a space");
  const Op op = read_op(canonical, name, split(canonical, fields), std::make_index_sequence<std::variant_size_v<Op>>());
  check(op);
  return op;
}

void check_fields(const Op& op) {
  std::visit(
      [&](const auto& each) {
        using Struct = std::decay_t<decltype(each)>;
        for_each_field<Struct>([&](const auto& field) {
          if (in_range(field, each.*(field.member))) return;
          throw BadInput("The op '" + text(op) + "' is not possible: " + std::string(field.name) + " is " +
                         write_value(each.*(field.member)) + ", expected " + wanted(field) + ".");
        });
      },
      op);
}

bool operator==(const Op& a, const Op& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& left) {
        using Struct = std::decay_t<decltype(left)>;
        const auto& right = std::get<Struct>(b);
        bool same = true;
        for_each_field<Struct>(
            [&](const auto& field) { same = same && left.*(field.member) == right.*(field.member); });
        return same;
      },
      a);
}

std::size_t hash(const Op& op) {
  return std::visit(
      [&](const auto& each) {
        using Struct = std::decay_t<decltype(each)>;
        std::size_t result = op.index();
        for_each_field<Struct>([&](const auto& field) { result = mix_in(result, hash_value(each.*(field.member))); });
        return result;
      },
      op);
}

}  // namespace assay
