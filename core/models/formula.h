// A whole number that remembers how it came about, so that a count and its formula in words can never disagree.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/error.h"

namespace assay {

// Checked: throws BadInput where a result does not fit into 63 bits, for its numbers come from model files.
class Formula {
 public:
  Formula(std::int64_t value) : value_(value), words_(std::to_string(value)) {}  // NOLINT: numbers are formulas
  Formula(std::int64_t value, const std::string& of_what) : value_(value), words_(std::to_string(value)) {
    if (!of_what.empty()) words_ += " " + of_what;
  }

  std::int64_t value() const { return value_; }
  const std::string& words() const { return words_; }

  friend Formula operator+(const Formula& left, const Formula& right) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(left.value_, right.value_, &sum)) too_large();
    return {sum, left.words_ + " + " + right.words_, true};
  }
  friend Formula operator*(const Formula& left, const Formula& right) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(left.value_, right.value_, &product)) too_large();
    return {product, left.factor() + " x " + right.factor(), false};
  }

 private:
  Formula(std::int64_t value, std::string words, bool is_sum)
      : value_(value), words_(std::move(words)), is_sum_(is_sum) {}
  std::string factor() const { return is_sum_ ? "(" + words_ + ")" : words_; }
  [[noreturn]] static void too_large() {
    throw BadInput("the model's numbers are too large: a count does not fit into 63 bits");
  }

  std::int64_t value_;
  std::string words_;
  bool is_sum_ = false;
};

}  // namespace assay
