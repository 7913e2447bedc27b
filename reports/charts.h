// A chart made ready to be drawn or told: its numbers as a table, and its axes with ticks that read as show() writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/report.h"

namespace assay {

// Where `value` stands along the axis, as people see it: a category's name, or a number in the axis' unit.
Cell along(const Axis& axis, double value);

// Every number of the chart. Points of a scatter chart are rows of their own (series, x, y); else one column a series
// and one row an x. Limits are in the note, so that no number is only drawn.
Table chart_table(const Chart& chart);

struct Tick {
  double at;  // in drawing coordinates
  std::string label;
};

// Drawing coordinates are plain linear numbers: the value itself on a linear axis, log10(value / minimum) on a
// logarithmic one. A drawing library then needs no opinion about logarithms or units.
struct AxisLayout {
  bool logarithmic = false;
  double minimum = 0, maximum = 1;  // in the axis' unit
  std::vector<Tick> ticks;

  double length() const;
  std::optional<double> place(double value) const;  // empty: it cannot be drawn on this axis (0 on a logarithmic one)
};

// An axis over `values` (not finite ones are ignored). A linear axis starts at zero unless there are negative values.
AxisLayout lay_out(const Axis& axis, const std::vector<double>& values);

}  // namespace assay
