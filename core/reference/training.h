// What happens between the gradients of a step and its weights.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/ops/training.h"
#include "core/reference/scalar.h"

namespace assay::reference {

inline std::int64_t units(const SumSquares&) { return 1; }
inline std::int64_t unit_of(const SumSquares&, int, std::int64_t) { return 0; }

template <class Number, class Read, class Write>
void compute(const SumSquares& op, std::int64_t, const Read& read, const Write& write) {
  Sum<Number> sum(Terms::independent);
  for (std::int64_t i = 0; i < op.count; ++i) {
    const Number x = read(0, i);
    sum.add(x * x);
  }
  write(1, 0, op.accumulate ? read(1, 0) + sum.result() : sum.result());
}

inline std::int64_t units(const AdamControl&) { return 1; }
inline std::int64_t unit_of(const AdamControl&, int, std::int64_t) { return 0; }

template <class Number, class Read, class Write>
void compute(const AdamControl& op, std::int64_t, const Read& read, const Write& write) {
  constexpr double largest_loss_scale = 16777216;  // 2^24
  std::vector<Number> s;
  for (std::int64_t i = 0; i < 8; ++i) s.push_back(read(1, i));
  const Number total = read(0, 0);
  const bool finite = std::isfinite(number(total));
  const Number loss_scale = s[5];
  if (finite) {
    s[7] = s[7] + Number(1.0);
    const double taken = number(s[7]);
    s[0] = Number(op.rate);
    if (op.warmup > 0 && taken < static_cast<double>(op.warmup)) {
      s[0] = Number(op.rate) * s[7] / Number(static_cast<double>(op.warmup));
    }
    s[1] = Number(0.9) * s[1] + Number(0.1);
    s[2] = Number(0.95) * s[2] + Number(0.05);
    const Number norm = sqrt(total) / loss_scale;
    const bool clipped = op.clip > 0 && number(norm) > op.clip;
    s[3] = (clipped ? Number(op.clip) / norm : Number(1.0)) / loss_scale;
  }
  s[4] = Number(finite ? 0.0 : 1.0);
  if (op.interval > 0) {
    s[6] = finite ? s[6] + Number(1.0) : Number(0.0);
    if (!finite) {
      s[5] = larger(Number(0.5) * loss_scale, Number(1.0));
    } else if (number(s[6]) >= static_cast<double>(op.interval)) {
      s[6] = Number(0.0);
      if (number(loss_scale) < largest_loss_scale) s[5] = Number(2.0) * loss_scale;
    }
  }
  for (std::int64_t i = 0; i < 8; ++i) write(1, i, s[static_cast<std::size_t>(i)]);
}

inline std::int64_t units(const TensorScale&) { return 1; }
inline std::int64_t unit_of(const TensorScale&, int, std::int64_t) { return 0; }

// The least power of two that is not below `ratio`.
inline double power_not_below(double ratio) {
  int exponent = 0;
  const double mantissa = std::frexp(ratio, &exponent);  // in [1/2, 1)
  return std::ldexp(1.0, mantissa == 0.5 ? exponent - 1 : exponent);
}

template <class Number, class Read, class Write>
void compute(const TensorScale& op, std::int64_t, const Read& read, const Write& write) {
  double most = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < op.count; ++i) {
    const double x = std::abs(number(read(0, i)));
    finite = finite && std::isfinite(x);
    most = std::max(most, x);
  }
  const bool plain = !finite || most == 0;
  write(1, 0, Number(plain ? 1.0 : power_not_below(most / largest(op.to.element))));
}

constexpr std::int64_t moment_group = 128;
constexpr double moment_top = 448;             // the largest e4m3
constexpr double moment_bottom = 0.001953125;  // 2^-9, the smallest

inline std::int64_t units(const AdamW8& op) { return (op.count + moment_group - 1) / moment_group; }
inline std::int64_t unit_of(const AdamW8&, int operand, std::int64_t index) {
  return operand == 4 || operand == 6 ? index : index / moment_group;
}

template <class Number, class Read, class Write>
void compute(const AdamW8& op, std::int64_t group, const Read& read, const Write& write) {
  const std::int64_t begin = group * moment_group;
  const std::int64_t end = std::min(begin + moment_group, op.count);
  const bool has_weight = op.weight != Format{};
  if (!is_zero(read(0, 4))) {  // skipped
    for (const int operand : {2, 3, 5}) {
      for (std::int64_t i = begin; i < end; ++i) write(operand, i, read(operand, i));
    }
    write(4, group, read(4, group));
    write(6, group, read(6, group));
    for (std::int64_t i = begin; has_weight && i < end; ++i) write(7, i, read(2, i));
    return;
  }
  std::vector<Number> firsts, roots, masters;
  Number largest_first(0.0), largest_root(0.0);
  for (std::int64_t i = begin; i < end; ++i) {
    const Number g = read(1, i) * read(0, 3);
    const Number root = read(5, i) * read(6, group);
    const Number first = Number(0.9) * (read(3, i) * read(4, group)) + Number(0.1) * g;
    const Number second = Number(0.95) * (root * root) + Number(0.05) * g * g;
    const Number step = first / read(0, 1) / (sqrt(second / read(0, 2)) + Number(1e-8));
    masters.push_back(read(2, i) - read(0, 0) * (step + Number(0.1) * read(2, i)));
    firsts.push_back(first);
    roots.push_back(sqrt(second));
    largest_first = larger(largest_first, magnitude_of(first));
    largest_root = larger(largest_root, roots.back());
  }
  const Number first_scale = is_zero(largest_first) ? Number(1.0) : largest_first / Number(moment_top);
  const Number root_scale = is_zero(largest_root) ? Number(1.0) : largest_root / Number(moment_top);
  for (std::int64_t i = begin; i < end; ++i) {
    const auto at = static_cast<std::size_t>(i - begin);
    write(2, i, masters[at]);
    write(3, i, firsts[at] / first_scale);
    write(5, i, is_zero(roots[at]) ? Number(0.0) : larger(roots[at] / root_scale, Number(moment_bottom)));
    if (has_weight) write(7, i, masters[at]);
  }
  write(4, group, first_scale);
  write(6, group, root_scale);
}

}  // namespace assay::reference
