// Charts of what the run measured: matrix products, roofline, bandwidth and latency by working set.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/catalogue.h"
#include "reports/phrase.h"
#include "reports/run_sections.h"

namespace assay {
namespace {

double moved(const Known& known) { return known.cost.bytes_read + known.cost.bytes_written; }

using Points = std::map<double, double>;

std::vector<Series> series_of(const std::map<std::string, Points>& lines, bool joined_up = true) {
  std::vector<Series> all;
  for (const auto& [name, points] : lines) {
    Series series{name, {}, {}, joined_up};
    for (const auto& [x, y] : points) {
      series.x.push_back(x);
      series.y.push_back(y);
    }
    all.push_back(series);
  }
  return all;
}

Chart product_chart(const Rates& rates) {
  Chart chart;
  chart.id = "gemm";
  chart.title = "Square matrix products by size and format";
  chart.kind = ChartKind::line;
  chart.x = {"rows and columns", ReportUnit::none, true, {}};
  chart.y = {"rate", ReportUnit::flops_per_second, false, {}};
  std::map<std::string, Points> lines;
  for (const Known& known : rates.known()) {
    const auto* gemm = std::get_if<Gemm>(&known.op);
    const bool square = gemm != nullptr && gemm->m == gemm->n && gemm->n == gemm->k && gemm->batch == 1;
    if (!square || gemm->transpose_a || gemm->transpose_b) continue;
    double& rate = lines[text(gemm->a)][static_cast<double>(gemm->m)];
    rate = std::max(rate, known.cost.flops / known.seconds);
  }
  chart.series = series_of(lines);
  std::vector<std::string> bests;
  for (const auto& [name, points] : lines) {
    const auto best = std::max_element(points.begin(), points.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    bests.push_back(
        fmt::format("{} reaches {} at {:.0f}", name, shown(best->second, ReportUnit::flops_per_second), best->first));
  }
  chart.caption = joined(bests, "; ") + ".";
  return chart;
}

std::string roof_group(const Op& op) {
  if (const auto* gemm = std::get_if<Gemm>(&op)) return "matrix products, " + text(gemm->a.element);
  if (std::holds_alternative<Stream>(op)) return "streams";
  if (std::holds_alternative<Issue>(op) || std::holds_alternative<Chase>(op) || std::holds_alternative<Launch>(op) ||
      std::holds_alternative<Transfer>(op))
    return "";
  return "element and row ops";
}

// The peak of each format and the bandwidth, as two straight lines each that meet at the ridge.
void add_roofs(Chart& chart, const Rates& rates, const std::set<Element>& elements, double first, double last) {
  const auto bandwidth = rates.memory_bandwidth();
  for (const Element element : elements) {
    const auto peak = rates.peak_flops(element);
    if (!peak || !bandwidth) continue;
    const double ridge = *peak / *bandwidth;
    Series roof{"roof, " + text(element), {}, {}, true};
    for (const double x : {std::min(first, ridge), ridge, std::max(last, ridge)}) {
      if (!roof.x.empty() && x <= roof.x.back()) continue;
      roof.x.push_back(x);
      roof.y.push_back(std::min(*peak, x * *bandwidth));
    }
    chart.series.push_back(roof);
  }
}

Chart roofline_chart(const Rates& rates) {
  Chart chart;
  chart.id = "roofline";
  chart.title = "Roofline: what was measured under what is possible";
  chart.kind = ChartKind::scatter;
  chart.x = {"flops a byte", ReportUnit::none, true, {}};
  chart.y = {"rate", ReportUnit::flops_per_second, true, {}};
  std::map<std::string, Series> groups;
  std::set<Element> elements;
  double first = HUGE_VAL, last = 0;
  for (const Known& known : rates.known()) {
    const std::string group = roof_group(known.op);
    if (group.empty() || !(moved(known) > 0) || !(known.cost.flops > 0)) continue;
    if (const auto* gemm = std::get_if<Gemm>(&known.op)) elements.insert(gemm->a.element);
    Series& series = groups[group];
    series.name = group;
    series.line = false;
    series.x.push_back(known.cost.flops / moved(known));
    series.y.push_back(known.cost.flops / known.seconds);
    first = std::min(first, series.x.back());
    last = std::max(last, series.x.back());
  }
  for (const auto& [name, series] : groups) chart.series.push_back(series);
  if (!groups.empty()) add_roofs(chart, rates, elements, first, last);
  const auto bandwidth = rates.memory_bandwidth();
  chart.caption = bandwidth
                      ? "Left of the ridge the memory decides (" + shown(*bandwidth, ReportUnit::bytes_per_second) +
                            "), right of it the arithmetic. Points above a roof worked in a cache."
                      : "No stream was measured, so there is no roof.";
  return chart;
}

// The published dense peak that a product of this op can reach on this card: 16-bit results that were summed in 16 bits
// have a peak of their own.
std::optional<double> peak_of(const Gpu& gpu, const Gemm& gemm) {
  const bool half_sum = gemm.a.element == Element::fp16 && gemm.accumulate == Element::fp16;
  return half_sum ? gpu.fp16_accumulate : peak(gpu, gemm.a.element);
}

std::string peak_note(const Gpu& gpu) {
  return "Of peak: of the dense peak published for the " + gpu.name + " (" + gpu.sources.front() + ").";
}

Table product_table(const Rates& rates, const Gpu* gpu) {
  Table table{"gemm", "Matrix products", {"Case", "m n k", "Batch", "Time", "Rate"}, {}, ""};
  if (gpu != nullptr) {
    table.columns.emplace_back("Of peak");
    table.note = peak_note(*gpu);
  }
  for (const Known& known : rates.known()) {
    const auto* gemm = std::get_if<Gemm>(&known.op);
    if (gemm == nullptr) continue;
    table.rows.push_back({known.case_name, fmt::format("{} {} {}", gemm->m, gemm->n, gemm->k),
                          quantity(static_cast<double>(gemm->batch), ReportUnit::count),
                          quantity(known.seconds, known.lower, known.upper, ReportUnit::seconds),
                          quantity(known.cost.flops / known.seconds, ReportUnit::flops_per_second)});
    if (gpu == nullptr) continue;
    const auto most = peak_of(*gpu, *gemm);
    table.rows.back().push_back(most ? Cell(quantity(known.cost.flops / known.seconds / *most, ReportUnit::share))
                                     : Cell(""));
  }
  return table;
}

const char* stream_name(StreamKind kind) {
  switch (kind) {
    case StreamKind::copy:
      return "copy";
    case StreamKind::scale:
      return "scale";
    case StreamKind::add:
      return "add";
    case StreamKind::triad:
      return "triad";
    case StreamKind::read:
      return "read";
    case StreamKind::write:
      return "write";
  }
  return "";
}

Chart bandwidth_chart(const Rates& rates, const Gpu* gpu) {
  Chart chart;
  chart.id = "bandwidth";
  chart.title = "Memory bandwidth by working set";
  chart.kind = ChartKind::line;
  chart.x = {"working set", ReportUnit::bytes, true, {}};
  chart.y = {"bandwidth", ReportUnit::bytes_per_second, true, {}};
  std::map<std::string, Points> lines;
  for (const Known& known : rates.known()) {
    const auto* stream = std::get_if<Stream>(&known.op);
    if (stream == nullptr) continue;
    const std::string name =
        std::string(stream_name(stream->kind)) + (stream->store == Store::plain ? "" : ", nontemporal stores");
    lines[name][moved(known)] = moved(known) / known.seconds;
  }
  chart.series = series_of(lines);
  const auto bandwidth = rates.memory_bandwidth();
  chart.caption = bandwidth ? "Beyond the caches the best plain stream moves " +
                                  shown(*bandwidth, ReportUnit::bytes_per_second) + "."
                            : "No stream was measured.";
  if (bandwidth && gpu != nullptr && gpu->bandwidth) {
    chart.limits.emplace_back("published", quantity(*gpu->bandwidth, ReportUnit::bytes_per_second));
    chart.caption += " That is " + shown(*bandwidth / *gpu->bandwidth, ReportUnit::share) +
                     " of what is published for the " + gpu->name + ".";
  }
  return chart;
}

Chart latency_chart(const Rates& rates) {
  Chart chart;
  chart.id = "latency";
  chart.title = "Latency of dependent loads by working set";
  chart.kind = ChartKind::line;
  chart.x = {"working set", ReportUnit::bytes, true, {}};
  chart.y = {"time a load", ReportUnit::seconds, true, {}};
  std::map<std::string, Points> lines;
  for (const Known& known : rates.known())
    if (const auto* chase = std::get_if<Chase>(&known.op))
      lines["pointer chase"][static_cast<double>(chase->bytes)] = known.seconds / static_cast<double>(chase->loads);
  chart.series = series_of(lines);
  if (!lines.empty()) {
    const Points& points = lines.begin()->second;
    chart.caption = "From " + shown(points.begin()->second, ReportUnit::seconds) + " in the first cache to " +
                    shown(points.rbegin()->second, ReportUnit::seconds) + " over " +
                    shown_bytes(points.rbegin()->first) + ".";
  }
  return chart;
}

Table moving_table(const Rates& rates) {
  Table table{"moving", "Ops that live on bandwidth", {"Case", "Bytes", "Time", "Rate"}, {}, ""};
  for (const Known& known : rates.known()) {
    if (std::holds_alternative<Gemm>(known.op) || std::holds_alternative<Issue>(known.op) ||
        std::holds_alternative<Launch>(known.op) || std::holds_alternative<Chase>(known.op))
      continue;
    if (!(moved(known) > 0)) continue;
    table.rows.push_back({known.case_name, quantity(moved(known), ReportUnit::bytes),
                          quantity(known.seconds, known.lower, known.upper, ReportUnit::seconds),
                          quantity(moved(known) / known.seconds, ReportUnit::bytes_per_second)});
  }
  return table;
}

void keep(Section& section, const Chart& chart) {
  if (!chart.series.empty()) section.charts.push_back(chart);
}
void keep(Section& section, const Table& table) {
  if (!table.rows.empty()) section.tables.push_back(table);
}

}  // namespace

Section product_section(const Rates& rates, const DeviceInfo& device) {
  Section section{"products", "Matrix products, measured", {}, {}, {}};
  keep(section, product_chart(rates));
  keep(section, roofline_chart(rates));
  keep(section, product_table(rates, recognise_gpu(device.name)));
  if (section.tables.empty()) section.paragraphs.push_back("No matrix product was measured.");
  return section;
}

Section memory_speed_section(const Rates& rates, const DeviceInfo& device) {
  Section section{"bandwidth", "Memory, measured", {}, {}, {}};
  keep(section, bandwidth_chart(rates, recognise_gpu(device.name)));
  keep(section, latency_chart(rates));
  keep(section, moving_table(rates));
  if (section.charts.empty()) section.paragraphs.push_back("No stream through memory was measured.");
  return section;
}

}  // namespace assay
