// A report as JSON for programs, in the form that report.schema.json describes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "reports/charts.h"
#include "reports/render.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr int schema_version = 1;

// JSON knows neither NaN nor infinity; both are as unknown to a reader as a value that is not there.
Json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json json(const Quantity& quantity) {
  std::string reason = quantity.reason;
  if (quantity.value && !std::isfinite(*quantity.value) && reason.empty()) reason = "not a finite number";
  return {{"value", number(quantity.value)}, {"unit", text(quantity.unit)}, {"lower", number(quantity.lower)},
          {"upper", number(quantity.upper)}, {"shown", show(quantity)},     {"reason", reason}};
}

Json json(const Cell& cell) {
  if (const auto* quantity = std::get_if<Quantity>(&cell)) return json(*quantity);
  if (const auto* answer = std::get_if<Answer>(&cell)) return text(*answer);
  return std::get<std::string>(cell);
}

Json named(const std::string& name, const Quantity& quantity) { return {{"name", name}, {"quantity", json(quantity)}}; }

Json json(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json cells = Json::array();
    for (const Cell& cell : row) cells.push_back(json(cell));
    rows.push_back(std::move(cells));
  }
  return {{"id", table.id}, {"title", table.title}, {"columns", table.columns}, {"rows", rows}, {"note", table.note}};
}

std::string text(ChartKind kind) {
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

Json json(const Axis& axis) {
  return {{"name", axis.name}, {"unit", text(axis.unit)}, {"logarithmic", axis.logarithmic}, {"labels", axis.labels}};
}

Json json(const Chart& chart, const Series& series) {
  Json points = Json::array();
  for (std::size_t index = 0; index < std::min(series.x.size(), series.y.size()); ++index) {
    points.push_back({{"x", json(along(chart.x, series.x[index]))}, {"y", json(along(chart.y, series.y[index]))}});
  }
  return {{"name", series.name}, {"points", points}};
}

Json json(const Chart& chart) {
  Json series = Json::array();
  for (const Series& each : chart.series) series.push_back(json(chart, each));
  Json limits = Json::array();
  for (const auto& [name, limit] : chart.limits) limits.push_back(named(name, limit));
  return {{"id", chart.id},     {"title", chart.title}, {"kind", text(chart.kind)}, {"x", json(chart.x)},
          {"y", json(chart.y)}, {"series", series},     {"caption", chart.caption}, {"limits", limits}};
}

Json json(const Section& section) {
  Json tables = Json::array();
  for (const Table& table : section.tables) tables.push_back(json(table));
  Json charts = Json::array();
  for (const Chart& chart : section.charts) charts.push_back(json(chart));
  return {{"id", section.id},
          {"title", section.title},
          {"paragraphs", section.paragraphs},
          {"tables", tables},
          {"charts", charts}};
}

Json json(const std::optional<Verdict>& verdict) {
  if (!verdict) return nullptr;
  return {{"answer", text(verdict->answer)},
          {"sentence", verdict->sentence},
          {"deciding_term", verdict->deciding_term},
          {"changes", verdict->changes}};
}

}  // namespace

std::string render_json(const Report& report) {
  Json headline = Json::array();
  for (const auto& [name, quantity] : report.headline) headline.push_back(named(name, quantity));
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    findings.push_back({{"severity", text(finding.severity)},
                        {"sentence", finding.sentence},
                        {"evidence", finding.evidence},
                        {"advice", finding.advice}});
  }
  Json sections = Json::array();
  for (const Section& section : report.sections) sections.push_back(json(section));
  Json provenance = Json::array();
  for (const auto& [name, value] : report.provenance) provenance.push_back({{"name", name}, {"value", value}});
  const Json document{{"format", "assay report"},
                      {"schema", schema_version},
                      {"title", report.title},
                      {"subtitle", report.subtitle},
                      {"verdict", json(report.verdict)},
                      {"headline", headline},
                      {"findings", findings},
                      {"sections", sections},
                      {"provenance", provenance}};
  // Pure ASCII, so that printing the file cannot steer a terminal; broken UTF-8 becomes U+FFFD instead of an error.
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay
