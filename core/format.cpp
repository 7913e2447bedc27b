// The one table of number formats, and what follows from it.
// SPDX-License-Identifier: Apache-2.0
#include "core/format.h"

#include <array>
#include <cmath>

#include "core/error.h"
#include "core/fill.h"
#include "core/number.h"

namespace assay {
namespace {

struct ElementFacts {
  Element element;
  std::string_view name;
  int bits;
};

constexpr std::array<ElementFacts, 14> element_table{{
    {Element::fp64, "fp64", 64},
    {Element::fp32, "fp32", 32},
    {Element::tf32, "tf32", 32},
    {Element::bf16, "bf16", 16},
    {Element::fp16, "fp16", 16},
    {Element::fp8_e4m3, "fp8_e4m3", 8},
    {Element::fp8_e5m2, "fp8_e5m2", 8},
    {Element::fp8_e4m3_fnuz, "fp8_e4m3_fnuz", 8},
    {Element::fp8_e5m2_fnuz, "fp8_e5m2_fnuz", 8},
    {Element::int8, "int8", 8},
    {Element::int32, "int32", 32},
    {Element::int64, "int64", 64},
    {Element::fp4_e2m1, "fp4_e2m1", 4},
    {Element::ue8m0, "ue8m0", 8},
}};

struct ScalingFacts {
  Scaling scaling;
  std::string_view name;
  std::int64_t block;  // elements that share a scale; 0: the whole tensor
  int bits;            // of one scale
  int tensor_bits;     // of a scale for the whole tensor on top
};

constexpr std::array<ScalingFacts, 5> scaling_table{{
    {Scaling::none, "none", 0, 0, 0},
    {Scaling::tensor, "tensor", 0, 0, 32},
    {Scaling::block32_ue8m0, "block32_ue8m0", 32, 8, 0},
    {Scaling::block16_e4m3, "block16_e4m3", 16, 8, 32},
    {Scaling::group128, "group128", 128, 32, 0},
}};

struct PatternName {
  Pattern pattern;
  std::string_view name;
};
constexpr std::array<PatternName, 6> pattern_table{{
    {Pattern::exact, "exact"},
    {Pattern::typical, "typical"},
    {Pattern::integer, "integer"},
    {Pattern::constant, "constant"},
    {Pattern::probe, "probe"},
    {Pattern::zero, "zero"},
}};

const ElementFacts& facts(Element element) { return element_table.at(static_cast<std::size_t>(element)); }
const ScalingFacts& facts(Scaling scaling) { return scaling_table.at(static_cast<std::size_t>(scaling)); }

std::int64_t checked_product(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t product = 0;
  if (a < 0 || b < 0) throw Error(std::string("computing ") + what + ": a dimension is negative");
  if (__builtin_mul_overflow(a, b, &product)) {
    throw Error(std::string("computing ") + what + ": " + std::to_string(a) + " x " + std::to_string(b) +
                " does not fit into 63 bits");
  }
  return product;
}

bool is_integer(Element element) {
  return element == Element::int8 || element == Element::int32 || element == Element::int64;
}

// Significant bits, the implied one included, of what multiplies; 0 for the integers.
int significant_bits(Element element) {
  if (is_integer(element)) return 0;
  if (element == Element::tf32) return 11;
  if (element == Element::ue8m0) return 1;
  return float_layout(element).mantissa_bits + 1;
}

}  // namespace

const std::vector<Element>& elements() {
  static const std::vector<Element> all = [] {
    std::vector<Element> list;
    for (const ElementFacts& entry : element_table) list.push_back(entry.element);
    return list;
  }();
  return all;
}

int bits(Element element) { return facts(element).bits; }

std::int64_t element_bytes(Element element, std::int64_t rows, std::int64_t columns) {
  const int width = bits(element);
  if (columns < 0) throw Error("computing the bytes of a tensor: a dimension is negative");
  if (width == 4) return checked_product(rows, columns / 2 + columns % 2, "the bytes of a tensor");
  return checked_product(checked_product(rows, columns, "the bytes of a tensor"), width / 8, "the bytes of a tensor");
}

std::int64_t scale_bytes(Format format, std::int64_t rows, std::int64_t columns) {
  const ScalingFacts& scaling = facts(format.scaling);
  if (rows < 0 || columns < 0) throw Error("computing the bytes of scales: a dimension is negative");
  std::int64_t total = scaling.tensor_bits / 8;
  if (scaling.block != 0) {
    const std::int64_t blocks = columns / scaling.block + (columns % scaling.block != 0 ? 1 : 0);
    total +=
        checked_product(checked_product(rows, blocks, "the bytes of scales"), scaling.bits / 8, "the bytes of scales");
  }
  return total;
}

std::string text(Element element) { return std::string(facts(element).name); }

std::string text(Scaling scaling) { return std::string(facts(scaling).name); }

std::string text(Format format) {
  return format.scaling == Scaling::none ? text(format.element) : text(format.element) + "." + text(format.scaling);
}

std::optional<Element> parse_element(std::string_view name) {
  for (const ElementFacts& entry : element_table) {
    if (entry.name == name) return entry.element;
  }
  return std::nullopt;
}

std::optional<Format> parse_format(std::string_view name) {
  const std::size_t dot = name.find('.');
  const std::optional<Element> element = parse_element(name.substr(0, dot));
  if (!element) return std::nullopt;
  if (dot == std::string_view::npos) return Format{*element, Scaling::none};
  for (const ScalingFacts& entry : scaling_table) {
    if (entry.scaling != Scaling::none && entry.name == name.substr(dot + 1)) return Format{*element, entry.scaling};
  }
  return std::nullopt;
}

double unit_roundoff(Element element) {
  const int significant = significant_bits(element);
  return significant == 0 ? 0 : power_of_two(-significant);
}

double largest(Element element) {
  switch (element) {
    case Element::int8:
      return 127;
    case Element::int32:
      return 2147483647;
    case Element::int64:
      return 9223372036854775807.0;
    case Element::ue8m0:
      return power_of_two(127);
    case Element::fp64:
    case Element::fp32:
    case Element::tf32:
    case Element::bf16:
    case Element::fp16:
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::fp4_e2m1:
      break;
  }
  const FloatLayout layout = float_layout(element);
  return decode_float(layout, largest_finite_bits(layout));
}

double exact_integers_to(Element element) {
  if (is_integer(element)) return largest(element);
  return std::fmin(power_of_two(significant_bits(element)), largest(element));
}

std::string text(Pattern pattern) { return std::string(pattern_table.at(static_cast<std::size_t>(pattern)).name); }

std::optional<Pattern> parse_pattern(std::string_view name) {
  for (const PatternName& entry : pattern_table) {
    if (entry.name == name) return entry.pattern;
  }
  return std::nullopt;
}

}  // namespace assay
