// What the ops along rows and down columns compute: a unit is one row, or one column.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/error.h"
#include "core/ops/rows.h"
#include "core/reference/scalar.h"

namespace assay::reference {

// -- softmax ----------------------------------------------------------------------------------------------------------

inline std::int64_t units(const Softmax& op) { return op.rows; }
inline std::int64_t unit_of(const Softmax& op, int, std::int64_t index) { return index / op.columns; }

// Columns that a row sees.
inline std::int64_t visible_columns(const Softmax& op, std::int64_t row) {
  return op.period == 0 ? op.columns : row % op.period + op.columns - op.period + 1;
}

// exp(x - max) of a row and their sum.
template <class Number>
struct Exponentials {
  std::vector<Number> each;
  Number largest;
  Number sum;
};

template <class Number, class ReadColumn>
Exponentials<Number> exponentials(std::int64_t columns, const ReadColumn& column) {
  Exponentials<Number> result;
  result.largest = column(0);
  for (std::int64_t i = 1; i < columns; ++i) result.largest = larger(result.largest, column(i));
  Sum<Number> sum(Terms::related);
  result.each.reserve(static_cast<std::size_t>(columns));
  for (std::int64_t i = 0; i < columns; ++i) {
    result.each.push_back(exp(column(i) - result.largest));
    sum.add(result.each.back());
  }
  result.sum = sum.result();
  return result;
}

template <class Number, class Read, class Write>
void compute(const Softmax& op, std::int64_t row, const Read& read, const Write& write) {
  const std::int64_t first = row * op.columns;
  const std::int64_t visible = visible_columns(op, row);
  const int output = op.direction == Direction::forward ? 1 : 2;
  if (op.direction == Direction::forward) {
    const auto terms = exponentials<Number>(visible, [&](std::int64_t i) { return read(0, first + i); });
    for (std::int64_t i = 0; i < visible; ++i) {
      write(output, first + i, terms.each[static_cast<std::size_t>(i)] / terms.sum);
    }
  } else {
    Sum<Number> dot(Terms::related);
    for (std::int64_t i = 0; i < visible; ++i) dot.add(read(0, first + i) * read(1, first + i));
    for (std::int64_t i = 0; i < visible; ++i) {
      write(output, first + i, read(1, first + i) * (read(0, first + i) - dot.result()));
    }
  }
  for (std::int64_t i = visible; i < op.columns; ++i) write(output, first + i, Number(0.0));
}

// -- norms ------------------------------------------------------------------------------------------------------------

constexpr double norm_epsilon = 1e-5;

inline std::int64_t units(const Norm& op) { return op.rows; }
inline std::int64_t unit_of(const Norm& op, int operand, std::int64_t index) {
  const bool statistics = op.direction == Direction::forward && operand == (op.kind == NormKind::layer ? 4 : 3);
  return index / (statistics ? 2 : op.columns);
}

template <class Number, class Read, class Write>
void norm_forward(const Norm& op, std::int64_t row, const Read& read, const Write& write) {
  const bool layer = op.kind == NormKind::layer;
  const std::int64_t first = row * op.columns;
  const Number count(static_cast<double>(op.columns));
  Number mean(0.0);
  if (layer) {
    Sum<Number> sum(Terms::related);
    for (std::int64_t i = 0; i < op.columns; ++i) sum.add(read(0, first + i));
    mean = sum.result() / count;
  }
  Sum<Number> squares(Terms::related);
  for (std::int64_t i = 0; i < op.columns; ++i) {
    const Number off = read(0, first + i) - mean;
    squares.add(off * off);
  }
  const Number inverse = Number(1.0) / sqrt(squares.result() / count + Number(norm_epsilon));
  for (std::int64_t i = 0; i < op.columns; ++i) {
    Number y = read(1, i) * ((read(0, first + i) - mean) * inverse);
    if (layer) y = y + read(2, i);
    write(layer ? 3 : 2, first + i, y);
  }
  write(layer ? 4 : 3, 2 * row, mean);
  write(layer ? 4 : 3, 2 * row + 1, inverse);
}

template <class Number, class Read, class Write>
void norm_backward(const Norm& op, std::int64_t row, const Read& read, const Write& write) {
  const std::int64_t first = row * op.columns;
  const Number count(static_cast<double>(op.columns));
  const Number mean = read(3, 2 * row);
  const Number inverse = read(3, 2 * row + 1);
  const auto e = [&](std::int64_t i) { return read(2, i) * read(0, first + i); };
  const auto h = [&](std::int64_t i) { return (read(1, first + i) - mean) * inverse; };
  Sum<Number> sum_e(Terms::related);
  Sum<Number> sum_eh(Terms::related);
  for (std::int64_t i = 0; i < op.columns; ++i) {
    sum_e.add(e(i));
    sum_eh.add(e(i) * h(i));
  }
  const Number mean_e = op.kind == NormKind::layer ? sum_e.result() / count : Number(0.0);
  const Number mean_eh = sum_eh.result() / count;
  for (std::int64_t i = 0; i < op.columns; ++i) {
    Number dx = inverse * (e(i) - mean_e - h(i) * mean_eh);
    if (op.accumulate) dx = dx + read(4, first + i);
    write(4, first + i, dx);
  }
}

template <class Number, class Read, class Write>
void compute(const Norm& op, std::int64_t row, const Read& read, const Write& write) {
  if (op.direction == Direction::forward) {
    norm_forward<Number>(op, row, read, write);
  } else {
    norm_backward<Number>(op, row, read, write);
  }
}

// -- column reductions ------------------------------------------------------------------------------------------------

inline std::int64_t units(const NormWeights& op) { return op.columns; }
inline std::int64_t unit_of(const NormWeights&, int, std::int64_t index) { return index; }

template <class Number, class Read, class Write>
void compute(const NormWeights& op, std::int64_t column, const Read& read, const Write& write) {
  Sum<Number> weight(Terms::related);
  Sum<Number> bias(Terms::independent);
  for (std::int64_t row = 0; row < op.rows; ++row) {
    const std::int64_t at = row * op.columns + column;
    const Number dy = read(0, at);
    weight.add(dy * ((read(1, at) - read(2, 2 * row)) * read(2, 2 * row + 1)));
    bias.add(dy);
  }
  const auto total = [&](int operand, const Number& sum) { return op.accumulate ? read(operand, column) + sum : sum; };
  write(3, column, total(3, weight.result()));
  if (op.kind == NormKind::layer) write(4, column, total(4, bias.result()));
}

inline std::int64_t units(const ColumnSum& op) { return op.columns; }
inline std::int64_t unit_of(const ColumnSum&, int, std::int64_t index) { return index; }

template <class Number, class Read, class Write>
void compute(const ColumnSum& op, std::int64_t column, const Read& read, const Write& write) {
  Sum<Number> sum(Terms::independent);
  for (std::int64_t row = 0; row < op.rows; ++row) sum.add(read(0, row * op.columns + column));
  write(1, column, op.accumulate ? read(1, column) + sum.result() : sum.result());
}

// -- loss -------------------------------------------------------------------------------------------------------------

// An index that a tensor holds, checked: a wrong one would read elsewhere.
template <class Number>
std::int64_t checked_index(const Number& held, std::int64_t bound, const char* what) {
  const double value = number(held);
  if (!(value >= 0 && value < static_cast<double>(bound))) {
    throw Error(std::string("computing a reference: a ") + what + " is " + std::to_string(value) + ", expected 0 to " +
                std::to_string(bound - 1));
  }
  return static_cast<std::int64_t>(value);
}

inline std::int64_t units(const CrossEntropy& op) { return op.rows; }
inline std::int64_t unit_of(const CrossEntropy& op, int operand, std::int64_t index) {
  return operand == 2 ? index : index / op.columns;
}

template <class Number, class Read, class Write>
void compute(const CrossEntropy& op, std::int64_t row, const Read& read, const Write& write) {
  const std::int64_t first = row * op.columns;
  const std::int64_t target = checked_index<Number>(read(1, row), op.columns, "target");
  const Number rows(static_cast<double>(op.rows) * static_cast<double>(op.parts));
  const auto terms = exponentials<Number>(op.columns, [&](std::int64_t i) { return read(0, first + i); });
  write(2, row, log(terms.sum) + (terms.largest - read(0, first + target)));
  for (std::int64_t i = 0; i < op.columns; ++i) {
    const Number probability = terms.each[static_cast<std::size_t>(i)] / terms.sum;
    const Number gradient = (probability - Number(i == target ? 1.0 : 0.0)) / rows;
    write(3, first + i, op.scaled ? gradient * read(4, 5) : gradient);
  }
}

}  // namespace assay::reference
