// Single elements of an op's result, and how far a right result may be from them, by the formulas of core/reference.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/checked.h"
#include "core/error.h"
#include "core/number.h"
#include "core/op.h"
#include "core/reference/attention.h"
#include "core/reference/gemm.h"
#include "core/reference/memory.h"
#include "core/reference/pointwise.h"
#include "core/reference/rows.h"
#include "core/reference/scalar.h"
#include "core/reference/tokens.h"
#include "core/reference/training.h"

namespace assay {
namespace {

using reference::Tracked;

// Throws where the op does not write that element.
Operand written_operand(const Op& op, int operand, std::int64_t index) {
  const std::vector<Operand> all = operands(op);
  const std::string place =
      "element " + std::to_string(index) + " of operand " + std::to_string(operand) + " of '" + text(op) + "': ";
  if (operand < 0 || static_cast<std::size_t>(operand) >= all.size()) {
    throw Error("expecting " + place + "it has " + std::to_string(all.size()) + " operands");
  }
  const Operand& chosen = all[static_cast<std::size_t>(operand)];
  if (chosen.access == Access::read) throw Error("expecting " + place + "the op does not write " + chosen.name);
  if (index < 0 || index >= elements_of(chosen.shape)) throw Error("expecting " + place + "it is out of range");
  return chosen;
}

// Computes the unit that writes the element, and keeps that one number.
template <class Number, class Read>
Number element(const Op& op, int operand, std::int64_t index, const Read& read) {
  Number result(0.0);
  const auto keep = [&](int to, std::int64_t at, const Number& value) {
    if (to == operand && at == index) result = value;
  };
  std::visit(
      [&](const auto& each) { reference::compute<Number>(each, reference::unit_of(each, operand, index), read, keep); },
      op);
  return result;
}

// What the arithmetic between reading and the last rounding is done in.
Element arithmetic(Format format) { return format.element == Element::fp64 ? Element::fp64 : Element::fp32; }
template <class Struct>
Element arithmetic_of(const Struct& op) {
  return arithmetic(op.format);
}
Element arithmetic_of(const Gemm& op) { return op.accumulate; }
Element arithmetic_of(const Issue& op) { return op.accumulate; }
Element arithmetic_of(const Chase&) { return Element::int64; }
Element arithmetic_of(const Transfer&) { return Element::int8; }
Element arithmetic_of(const Launch&) { return Element::int64; }
Element arithmetic_of(const AdamW&) { return Element::fp32; }
Element arithmetic_of(const AdamW8&) { return Element::fp32; }
Element arithmetic_of(const AdamControl&) { return Element::fp32; }
Element arithmetic_of(const SumSquares&) { return Element::fp32; }
Element arithmetic_of(const TensorScale&) { return Element::fp32; }
Element arithmetic_of(const CacheAppend& op) {
  return op.from.element == Element::fp64 && op.to.element == Element::fp64 ? Element::fp64 : Element::fp32;
}
Element arithmetic_of(const Cast& op) {
  return op.from.element == Element::fp64 && op.to.element == Element::fp64 ? Element::fp64 : Element::fp32;
}

double arithmetic_roundoff(const Op& op) {
  const Element element = std::visit([](const auto& each) { return arithmetic_of(each); }, op);
  // FP64 is judged by FP64, which is as far off itself.
  return element == Element::fp64 ? 2 * unit_roundoff(element) : unit_roundoff(element);
}

// The error of an operand before the op does anything: a TF32 product drops the mantissa bits below its ten, by
// rounding or by cutting off.
double operand_error(const Operand& operand, double value) {
  return operand.format.element == Element::tf32 ? 2 * unit_roundoff(Element::tf32) * std::abs(value) : 0;
}

// What writing down a number that is `error` off can add.
double storing_error(Element element, double value, double error) {
  const double magnitude = std::abs(value) + error;
  // The smallest number, or the smallest normal one where processors may flush those below it to zero.
  const bool flushed = element == Element::fp32 || element == Element::tf32 || element == Element::bf16;
  const double floor = flushed ? 1.1754943508222875e-38 : decode(element, 1) / 2;
  const double rounding = std::max(unit_roundoff(element) * magnitude, floor);
  const double beyond = magnitude - largest(element);
  if (beyond <= 0) return rounding;
  const bool has_infinity = std::isinf(decode(element, encode(element, std::numeric_limits<double>::infinity())));
  return has_infinity ? std::numeric_limits<double>::infinity() : rounding + beyond;
}

}  // namespace

double expected(const Op& op, int operand, std::int64_t index, const Reader& before) {
  written_operand(op, operand, index);
  return element<double>(op, operand, index, before);
}

double tolerance(const Op& op, int operand, std::int64_t index, const Reader& before) {
  const Operand written = written_operand(op, operand, index);
  const std::vector<Operand> all = operands(op);
  const double roundoff = arithmetic_roundoff(op);
  const auto read = [&](int from, std::int64_t at) {
    const double value = before(from, at);
    return Tracked(value, operand_error(all[static_cast<std::size_t>(from)], value), roundoff);
  };
  const auto result = element<Tracked>(op, operand, index, read);
  if (std::isnan(result.value)) return std::numeric_limits<double>::infinity();
  return result.error + storing_error(written.format.element, result.value, result.error);
}

}  // namespace assay
