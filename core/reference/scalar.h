// Two kinds of number for the reference formulas: plain FP64, and FP64 that knows how far off a right result computed
// with less precision may be. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace assay::reference {

// Running error analysis: `error` bounds, to first order, what a computation with unit roundoff `roundoff` may be away
// from `value`. Constants have roundoff 0 and take over that of what they meet.
struct Tracked {
  double value = 0;
  double error = 0;
  double roundoff = 0;

  Tracked() = default;
  Tracked(double exact) : value(exact) {}  // NOLINT(google-explicit-constructor): formulas mix constants with numbers
  Tracked(double nearly, double off, double unit) : value(nearly), error(off), roundoff(unit) {}
};

// Elementary functions of processors and own ones are good to this many roundoffs.
constexpr double function_roundoffs = 8;

// What rounding a result once may change: relative, and what is flushed to zero below fp32's smallest normal number.
inline double rounding(double value, double roundoff) {
  constexpr double smallest_normal = 1.1754943508222875e-38;
  return std::abs(value) * roundoff + (roundoff > 1e-12 ? smallest_normal : 0);
}

inline Tracked finish(double value, double inherited, double roundoff, double times = 1) {
  const double error = inherited + times * rounding(value, roundoff);
  return {value, std::isnan(error) ? std::numeric_limits<double>::infinity() : error, roundoff};
}

inline double coarser(const Tracked& a, const Tracked& b) { return std::max(a.roundoff, b.roundoff); }

inline Tracked operator-(const Tracked& a) { return {-a.value, a.error, a.roundoff}; }
inline Tracked operator+(const Tracked& a, const Tracked& b) {
  return finish(a.value + b.value, a.error + b.error, coarser(a, b));
}
inline Tracked operator-(const Tracked& a, const Tracked& b) { return a + (-b); }
inline Tracked operator*(const Tracked& a, const Tracked& b) {
  const double inherited = std::abs(a.value) * b.error + std::abs(b.value) * a.error + a.error * b.error;
  return finish(a.value * b.value, inherited, coarser(a, b));
}
inline Tracked operator/(const Tracked& a, const Tracked& b) {
  const double value = a.value / b.value;
  const double room = std::abs(b.value) - b.error;  // how near to zero the divisor may be
  const double inherited = a.error == 0 && b.error == 0 ? 0
                           : room > 0                   ? (a.error + std::abs(value) * b.error) / room
                                                        : std::numeric_limits<double>::infinity();
  return finish(value, inherited, coarser(a, b));
}

inline Tracked exp(const Tracked& a) {
  const double value = std::exp(a.value);
  // A relative error that grows with the argument is what exp2(a log2(e)) makes.
  return finish(value, value * std::expm1(a.error), a.roundoff, function_roundoffs + 2 * std::abs(a.value));
}
inline Tracked tanh(const Tracked& a) {
  const double value = std::tanh(a.value);
  const double flattest = std::tanh(std::max(0.0, std::abs(a.value) - a.error));  // the slope is 1 - tanh^2
  const double absolute = function_roundoffs * a.roundoff;  // made from exp, it is absolutely good, not relatively
  return {value, a.error * (1 - flattest * flattest) + absolute, a.roundoff};
}
inline Tracked log(const Tracked& a) {
  const double value = std::log(a.value);
  const double inherited = a.error == 0 ? 0 : a.error / std::max(a.value - a.error, std::numeric_limits<double>::min());
  return finish(value, inherited + a.roundoff, a.roundoff, function_roundoffs);
}
inline Tracked sqrt(const Tracked& a) {
  const double value = std::sqrt(a.value);
  const double inherited = value == 0 ? std::sqrt(a.error) : std::min(a.error / value, std::sqrt(a.error));
  return finish(value, inherited, a.roundoff);
}
inline Tracked larger(const Tracked& a, const Tracked& b) {
  return {std::max(a.value, b.value), std::max(a.error, b.error), coarser(a, b)};
}
inline bool is_zero(const Tracked& a) { return a.value == 0; }
inline double number(const Tracked& a) { return a.value; }
inline Tracked magnitude_of(const Tracked& a) { return {std::abs(a.value), a.error, a.roundoff}; }

inline double exp(double a) { return std::exp(a); }
inline double tanh(double a) { return std::tanh(a); }
inline double log(double a) { return std::log(a); }
inline double sqrt(double a) { return std::sqrt(a); }
inline double larger(double a, double b) { return std::max(a, b); }
inline bool is_zero(double a) { return a == 0; }
inline double number(double a) { return a; }
inline double magnitude_of(double a) { return std::abs(a); }

// How many roundoffs of the sum of magnitudes a sum of `count` numbers may be off in any order: the worst case for
// short sums, and for long ones 16 times what independent roundings do (Higham and Mary 2019), which no right sum
// exceeds and a wrong precision does.
inline double sum_roundoffs(double count) { return std::min(count, 16 * std::sqrt(count)); }

// A sum of many, in an unknown order. Terms are independent where each has a rounding of its own (the products of a
// GEMM), so that their errors do not all point the same way.
enum class Terms : std::uint8_t { related, independent };

template <class Number>
class Sum;

template <>
class Sum<double> {
 public:
  explicit Sum(Terms) {}
  void add(double term) { sum_ += term; }
  double result() const { return sum_; }

 private:
  double sum_ = 0;
};

template <>
class Sum<Tracked> {
 public:
  explicit Sum(Terms terms) : terms_(terms) {}
  void add(const Tracked& term) {
    sum_ += term.value;
    magnitude_ += std::abs(term.value);
    error_ += term.error;
    square_ += term.error * term.error;
    roundoff_ = std::max(roundoff_, term.roundoff);
    ++count_;
  }
  Tracked result() const {
    const double inherited = terms_ == Terms::independent ? std::min(error_, 16 * std::sqrt(square_)) : error_;
    return {sum_, inherited + sum_roundoffs(static_cast<double>(count_)) * rounding(magnitude_, roundoff_), roundoff_};
  }

 private:
  Terms terms_;
  double sum_ = 0;
  double magnitude_ = 0;
  double error_ = 0;
  double square_ = 0;
  double roundoff_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace assay::reference
