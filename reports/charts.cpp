// A chart made ready to be drawn or told.
// SPDX-License-Identifier: Apache-2.0
#include "reports/charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

namespace assay {
namespace {

Quantity on_axis(const Axis& axis, double value) {
  return {.value = value, .unit = axis.unit, .lower = {}, .upper = {}, .reason = {}};
}

std::vector<std::vector<Cell>> rows_by_point(const Chart& chart) {
  std::vector<std::vector<Cell>> rows;
  for (const Series& series : chart.series) {
    for (std::size_t point = 0; point < std::min(series.x.size(), series.y.size()); ++point) {
      rows.push_back({series.name, along(chart.x, series.x[point]), on_axis(chart.y, series.y[point])});
    }
  }
  return rows;
}

Cell value_at(const Chart& chart, const Series& series, double x) {
  const auto found = std::find(series.x.begin(), series.x.end(), x);
  const auto point = static_cast<std::size_t>(found - series.x.begin());
  return point < std::min(series.x.size(), series.y.size()) ? Cell(on_axis(chart.y, series.y[point])) : Cell("");
}

std::vector<std::vector<Cell>> rows_by_place(const Chart& chart) {
  std::set<double> places;
  for (const Series& series : chart.series) places.insert(series.x.begin(), series.x.end());
  std::vector<std::vector<Cell>> rows;
  for (const double x : places) {
    std::vector<Cell> row{along(chart.x, x)};
    for (const Series& series : chart.series) row.push_back(value_at(chart, series, x));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string limits_note(const Chart& chart) {
  std::string note;
  for (const auto& [name, limit] : chart.limits) {
    note += (note.empty() ? "Limit: " : "; ") + name + " " + show(limit);
  }
  return note.empty() ? note : note + ".";
}

// Round steps of a decimal axis and of a memory axis.
double nice_step(double rough, ReportUnit unit) {
  if (unit == ReportUnit::bytes) return std::exp2(std::ceil(std::log2(rough)));
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * 0.999999) return factor * power;
  }
  return 10 * power;
}

AxisLayout linear(ReportUnit unit, double lowest, double highest) {
  lowest = std::min(lowest, 0.0);
  highest = std::max(highest, 0.0);
  if (highest == lowest) highest = lowest + 1;
  const double step = nice_step((highest - lowest) / 6, unit);
  AxisLayout layout;
  layout.minimum = std::floor(lowest / step) * step;
  layout.maximum = std::ceil(highest / step * 0.999999) * step;
  const auto count = static_cast<int>(std::lround((layout.maximum - layout.minimum) / step));
  for (int index = 0; index <= count; ++index) {
    const double value = layout.minimum + index * step;
    layout.ticks.push_back({value, show_short(value, unit)});
  }
  return layout;
}

// Powers of the unit's own base; within less than two powers of ten also 2 and 5.
std::vector<double> marks(ReportUnit unit, double lowest, double highest) {
  const bool binary = unit == ReportUnit::bytes;
  const double base = binary ? 2 : 10;
  const double room = 1 + 1e-9;
  std::vector<double> factors{1};
  if (!binary && highest / lowest < 200) factors = {1, 2, 5};
  std::vector<double> all;
  const int first = static_cast<int>(std::floor(std::log(lowest) / std::log(base))) - 1;
  const int last = static_cast<int>(std::ceil(std::log(highest) / std::log(base))) + 1;
  for (int exponent = first; exponent <= last; ++exponent) {
    for (const double factor : factors) all.push_back(factor * std::pow(base, exponent));
  }
  // The last mark at or below the lowest value, to the first at or above the highest.
  auto from = std::find_if(all.begin(), all.end(), [&](double mark) { return mark > lowest * room; }) - 1;
  auto to = std::find_if(all.begin(), all.end(), [&](double mark) { return mark * room >= highest; });
  if (from == to) to += 1;
  return {from, to + 1};
}

AxisLayout logarithmic(ReportUnit unit, double lowest, double highest) {
  const std::vector<double> all = marks(unit, lowest, highest);
  AxisLayout layout;
  layout.logarithmic = true;
  layout.minimum = all.front();
  layout.maximum = all.back();
  const std::size_t stride = (all.size() + 7) / 8;  // at most eight labels; on a memory axis 4 KiB, 64 KiB, 1 MiB
  for (std::size_t index = 0; index < all.size(); index += stride) {
    layout.ticks.push_back({std::log10(all[index] / layout.minimum), show_short(all[index], unit)});
  }
  return layout;
}

}  // namespace

Cell along(const Axis& axis, double value) {
  if (axis.labels.empty()) return on_axis(axis, value);
  const bool counts = value >= 0 && value < static_cast<double>(axis.labels.size());
  return counts ? axis.labels[static_cast<std::size_t>(value)] : std::string("?");
}

Table chart_table(const Chart& chart) {
  const bool by_point = chart.kind == ChartKind::scatter;
  Table table{.id = chart.id, .title = chart.title, .columns = {}, .rows = {}, .note = limits_note(chart)};
  if (by_point) {
    table.columns = {"series", chart.x.name, chart.y.name};
    table.rows = rows_by_point(chart);
    return table;
  }
  table.columns.push_back(chart.x.name);
  for (const Series& series : chart.series) table.columns.push_back(series.name);
  table.rows = rows_by_place(chart);
  return table;
}

double AxisLayout::length() const { return logarithmic ? std::log10(maximum / minimum) : maximum - minimum; }

std::optional<double> AxisLayout::place(double value) const {
  if (!std::isfinite(value)) return std::nullopt;
  if (!logarithmic) return value;
  if (value <= 0) return std::nullopt;
  return std::log10(value / minimum);
}

AxisLayout lay_out(const Axis& axis, const std::vector<double>& values) {
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (const double value : values) {
    if (!std::isfinite(value) || (axis.logarithmic && value <= 0)) continue;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  if (!std::isfinite(lowest)) return axis.logarithmic ? logarithmic(axis.unit, 1, 10) : linear(axis.unit, 0, 1);
  return axis.logarithmic ? logarithmic(axis.unit, lowest, highest) : linear(axis.unit, lowest, highest);
}

}  // namespace assay
