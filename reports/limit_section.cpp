// Shares of limits and ways against each other: what was derived from several cases, and which precision really worked.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "reports/phrase.h"
#include "reports/run_sections.h"

namespace assay {
namespace {

// A derived metric in words; what follows the metric in the case's name says of what.
struct Meaning {
  std::string_view metric;
  bool share;  // of a limit, shown in percent; otherwise so many times
  const char* words;
};

constexpr std::array<Meaning, 14> meanings = {{
    {"issue_utilisation", true, "GEMM of the library, of the rate at which the units take instructions"},
    {"memory_utilisation", true, "best stream, of what the memory's clock and width allow"},
    {"link_utilisation", true, "copies, of the link's own rate"},
    {"hidden_share", true, "of the shorter of two hidden behind the longer"},
    {"concurrency_gain", false, "so many at once over one"},
    {"over_processor", false, "over the host's processor"},
    {"fp16_sums_over_fp32_sums", false, "sums in fp16 over sums in fp32"},
    {"best_over_default", false, "best algorithm over the library's own choice"},
    {"cold_over_hot", false, "operands from memory over operands in the cache"},
    {"sustained_over_burst", false, "after minutes of work over the first moments"},
    {"constant_over_typical", false, "one number everywhere over typical data"},
    {"integer_over_typical", false, "small integers over typical data"},
    {"zero_over_typical", false, "zeros over typical data"},
    {"lowest_over_highest", false, "worst number of rows over the best (tiles and waves left partly empty)"},
}};

const Meaning* meaning_of(const std::string& metric) {
  const auto found =
      std::find_if(meanings.begin(), meanings.end(), [&](const Meaning& one) { return one.metric == metric; });
  return found == meanings.end() ? nullptr : &*found;
}

// "derived/issue_utilisation/bf16" is about "bf16".
std::string subject(const Row& row) {
  const std::string start = "derived/" + row.metric;
  if (row.case_name.rfind(start, 0) != 0) return row.case_name;
  return row.case_name.size() > start.size() + 1 ? row.case_name.substr(start.size() + 1) : "all";
}

Cell derived_cell(const Row& row, bool share) {
  if (row.status != Status::ok) return text(row.status);
  const ReportUnit unit = share ? ReportUnit::share : ReportUnit::none;
  if (row.lower && row.upper) return quantity(*row.value, *row.lower, *row.upper, unit);
  return quantity(*row.value, unit);
}

// Rows of one kind, in the order of the list above.
Table derived_table(const std::vector<Run>& runs, const DeviceInfo& device, bool share) {
  Table table{share ? "shares" : "ratios",
              share ? "What of the limits is reached" : "One way against another",
              {"Of what", share ? "Share" : "Times", "Meaning", "From"},
              {},
              ""};
  for (const Meaning& meaning : meanings) {
    if (meaning.share != share) continue;
    for (const Run& run : runs)
      for (const Row& row : run.rows)
        if (row.family == "derived" && row.device == device.id && row.metric == meaning.metric && row.value)
          table.rows.push_back({subject(row), derived_cell(row, share), meaning.words, row.method});
  }
  // What a newer version derives is shown too, in its own words.
  for (const Run& run : runs)
    for (const Row& row : run.rows)
      if (!share && row.family == "derived" && row.device == device.id && row.value &&
          meaning_of(row.metric) == nullptr)
        table.rows.push_back({subject(row), derived_cell(row, false), row.metric, row.method});
  return table;
}

// Products whose number of rows grows in small steps: full tiles and waves stand out.
Chart steps_chart(const Rates& rates) {
  Chart chart;
  chart.id = "gemm_steps";
  chart.title = "Matrix products while the number of rows grows in small steps";
  chart.kind = ChartKind::line;
  chart.x = {"rows", ReportUnit::none, false, {}};
  chart.y = {"rate", ReportUnit::flops_per_second, false, {}};
  std::map<std::string, std::map<double, double>> lines;
  for (const Known& known : rates.known()) {
    const auto* gemm = std::get_if<Gemm>(&known.op);
    if (gemm == nullptr || known.case_name.find("/steps/") == std::string::npos) continue;
    lines[fmt::format("{}, {} x {}", text(gemm->a), gemm->n, gemm->k)][static_cast<double>(gemm->m)] =
        known.cost.flops / known.seconds;
  }
  double lowest = 0, highest = 0;
  for (const auto& [name, points] : lines) {
    Series series{name, {}, {}, true};
    for (const auto& [rows, rate] : points) {
      series.x.push_back(rows);
      series.y.push_back(rate);
      lowest = lowest == 0 ? rate : std::min(lowest, rate);
      highest = std::max(highest, rate);
    }
    chart.series.push_back(series);
  }
  if (highest > 0)
    chart.caption =
        fmt::format("From {} to {}: the difference is work on tiles that are partly empty.",
                    shown(lowest, ReportUnit::flops_per_second), shown(highest, ReportUnit::flops_per_second));
  return chart;
}

// What the units take from registers, which no library can beat.
Table issue_table(const Rates& rates) {
  Table table{"issue", "Multiply-adds from registers", {"Format", "Added up in", "Unit", "Rate", "Case"}, {}, ""};
  for (const Known& known : rates.known())
    if (const auto* issue = std::get_if<Issue>(&known.op))
      table.rows.push_back({text(issue->operands), text(issue->accumulate),
                            issue->unit == Unit::vector ? "vector" : "matrix",
                            quantity(known.cost.flops / known.seconds, ReportUnit::flops_per_second), known.case_name});
  return table;
}

}  // namespace

Section limit_section(const std::vector<Run>& runs, const DeviceInfo& device, const Rates& rates) {
  Section section{"limits", "What of the limits is reached", {}, {}, {}};
  for (const bool share : {true, false}) {
    Table table = derived_table(runs, device, share);
    if (!table.rows.empty()) section.tables.push_back(std::move(table));
  }
  Table issue = issue_table(rates);
  if (!issue.rows.empty()) section.tables.push_back(std::move(issue));
  Chart chart = steps_chart(rates);
  if (!chart.series.empty()) section.charts.push_back(std::move(chart));
  return section;
}

Section precision_section(const std::vector<Run>& runs, const DeviceInfo& device) {
  Section section{"precision", "Which precision really worked", {}, {}, {}};
  Table table{"precision",
              "What was asked for and what multiplied",
              {"Asked for", "Multiplied in", "Added up in", "Proof", "By", "Cases"},
              {},
              "Proved by numbers that only the stated precision gives, before anything was timed."};
  // asked, executed, accumulated, proof, method without the algorithm of the size
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string>, std::set<std::string>> kinds;
  for (const Run& run : runs)
    for (const Row& row : run.rows)
      if (row.family == "gemm" && row.device == device.id && !row.precision_proof.empty() &&
          row.status != Status::skipped)
        kinds[{row.precision, row.executed, row.accumulated, row.precision_proof,
               row.method.substr(0, row.method.find(' ', row.method.find(' ') + 1))}]
            .insert(row.case_name);
  for (const auto& [kind, cases] : kinds) {
    const auto& [asked, executed, accumulated, proof, method] = kind;
    table.rows.push_back({asked, executed.empty() ? "unknown" : executed, accumulated.empty() ? "unknown" : accumulated,
                          proof, method, quantity(static_cast<double>(cases.size()), ReportUnit::count)});
  }
  if (!table.rows.empty()) section.tables.push_back(table);
  return section;
}

}  // namespace assay
