// Charts as the data block that the page's script draws from.
// SPDX-License-Identifier: Apache-2.0
#include "reports/html/drawing.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "reports/charts.h"
#include "reports/text.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

std::string name_of(ChartKind kind) {
  switch (kind) {
    case ChartKind::line:
      return "line";
    case ChartKind::scatter:
      return "scatter";
    case ChartKind::bar:
      return "bar";
    case ChartKind::stacked_bar:
      return "stacked_bar";
  }
  return "line";
}

std::size_t points_of(const Series& series) { return std::min(series.x.size(), series.y.size()); }

bool is_bar(const Chart& chart) { return chart.kind == ChartKind::bar || chart.kind == ChartKind::stacked_bar; }

std::vector<double> heights_of_stacks(const Chart& chart) {
  std::map<double, double> stacks;
  for (const Series& series : chart.series) {
    for (std::size_t index = 0; index < points_of(series); ++index) {
      if (std::isfinite(series.y[index])) stacks[series.x[index]] += series.y[index];
    }
  }
  std::vector<double> heights;
  for (const auto& [place, height] : stacks) heights.push_back(height);
  return heights;
}

AxisLayout lay_out_x(const Chart& chart) {
  std::vector<double> values;
  for (const Series& series : chart.series) values.insert(values.end(), series.x.begin(), series.x.end());
  return lay_out(chart.x, values);
}

AxisLayout lay_out_y(const Chart& chart) {
  Axis axis = chart.y;
  std::vector<double> values;
  if (chart.kind == ChartKind::stacked_bar) {
    axis.logarithmic = false;  // logarithms do not add up
    values = heights_of_stacks(chart);
  } else {
    for (const Series& series : chart.series) values.insert(values.end(), series.y.begin(), series.y.end());
  }
  for (const auto& [name, limit] : chart.limits) {
    if (limit.value) values.push_back(*limit.value * (axis.logarithmic ? 1.2 : 1.08));  // room for its label
  }
  if (axis.logarithmic && is_bar(chart)) {
    // Bars stand on the lower end of the axis; the lowest of them must not vanish.
    const std::size_t count = values.size();
    for (std::size_t index = 0; index < count; ++index) values.push_back(values[index] / 2);
  }
  return lay_out(axis, values);
}

Json json(const Axis& axis, const AxisLayout& layout) {
  Json ticks = Json::array();
  for (const Tick& tick : layout.ticks) ticks.push_back({{"at", tick.at}, {"label", tick.label}});
  Json labels = Json::array();
  for (const std::string& label : axis.labels) labels.push_back(clean(label));
  return {{"name", clean(axis.name)},
          {"minimum", layout.logarithmic ? 0 : layout.minimum},
          {"maximum", layout.logarithmic ? layout.length() : layout.maximum},
          {"ticks", ticks},
          {"labels", labels}};
}

Json json(const Chart& chart, const Series& series, const AxisLayout& x, const AxisLayout& y) {
  Json points = Json::array();
  for (std::size_t index = 0; index < points_of(series); ++index) {
    const auto across = chart.x.labels.empty() ? x.place(series.x[index]) : std::optional(series.x[index]);
    const auto up = y.place(series.y[index]);
    if (!across || !up) continue;  // the table has it
    points.push_back({{"x", *across},
                      {"y", *up},
                      {"x_label", words(along(chart.x, series.x[index]))},
                      {"y_label", words(along(chart.y, series.y[index]))}});
  }
  return {{"name", clean(series.name)}, {"line", series.line}, {"points", points}};
}

Json json(const Chart& chart) {
  const AxisLayout x = lay_out_x(chart);
  const AxisLayout y = lay_out_y(chart);
  Json series = Json::array();
  for (const Series& each : chart.series) series.push_back(json(chart, each, x, y));
  Json limits = Json::array();
  for (const auto& [name, limit] : chart.limits) {
    const auto up = limit.value ? y.place(*limit.value) : std::nullopt;
    if (up) limits.push_back({{"at", *up}, {"label", clean(name) + " " + show(limit)}});
  }
  return {{"kind", name_of(chart.kind)},
          {"x", json(chart.x, x)},
          {"y", json(chart.y, y)},
          {"series", series},
          {"limits", limits}};
}

}  // namespace

std::string drawings(const std::vector<Chart>& charts) {
  Json all = Json::array();
  for (const Chart& chart : charts) all.push_back(json(chart));
  std::string text = all.dump(-1, ' ', true, Json::error_handler_t::replace);
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

}  // namespace assay
