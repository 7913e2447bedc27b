// Verdicts to tables, findings and a chart.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/gate_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "reports/phrase.h"

namespace assay::gate {
namespace {

constexpr std::size_t most_findings = 5;
constexpr std::size_t most_bars = 8;

Severity severity_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::broken:
    case Verdict::slower:
      return Severity::problem;
    case Verdict::unfit:
    case Verdict::incomparable:
    case Verdict::inconclusive:
      return Severity::warning;
    case Verdict::faster:
    case Verdict::ok:
      return Severity::good;
  }
  return Severity::info;
}

Severity severity_of(int exit_code) {
  return exit_code == 0 ? Severity::good : exit_code == 1 ? Severity::problem : Severity::warning;
}

std::string name_of(const MetricVerdict& one) { return one.key.device.empty() ? one.key.case_name : text(one.key); }

std::string why_not(const MetricVerdict& one) {
  if (one.units == "results") return "a history has one side";
  return one.verdict == Verdict::inconclusive ? "too few runs" : "not judged";
}

using Chosen = std::vector<const MetricVerdict*>;

// Three narrow tables instead of one that no terminal is wide enough for.
std::vector<Table> metric_tables(const std::string& id, const Chosen& metrics) {
  Table verdicts{id, "Verdicts", {"Verdict", "Metric", "Worse by"}, {}, ""};
  Table values{id + "-values", "Values", {"Metric", "Before", "After", "Would show"}, {}, ""};
  Table remarks{id + "-remarks", "Remarks", {"Metric", "Remark"}, {}, ""};
  for (const MetricVerdict* one : metrics) {
    const Quantity shown = one->estimate ? quantity(std::expm1(one->estimate->smallest_found), ReportUnit::share)
                                         : unknown(ReportUnit::share, why_not(*one));
    verdicts.rows.push_back({text(one->verdict), name_of(*one), worse_by(*one)});
    if (one->before.middle || one->after.middle)
      values.rows.push_back({name_of(*one), middle(one->before, one->unit), middle(one->after, one->unit), shown});
    if (const std::string words = remark(*one); !words.empty()) remarks.rows.push_back({name_of(*one), words});
  }
  verdicts.note =
      "\"Worse by\" is the shift between the sides: more time, or less memory. In brackets are its one-sided bounds: "
      "99 % "
      "sure that it is no less, 95 % sure that it is no more.";
  values.note =
      "Before and after are medians over the runs. \"Would show\" is the slowdown that as many runs with this scatter "
      "find "
      "nine times in ten.";
  std::vector<Table> tables{std::move(verdicts)};
  for (Table* table : {&values, &remarks})
    if (!table->rows.empty()) tables.push_back(std::move(*table));
  return tables;
}

Chosen chosen(const Gate& gate, bool gated) {
  Chosen list;
  if (gated && gate.together) list.push_back(&*gate.together);
  for (const MetricVerdict& one : gate.metrics)
    if (one.gated == gated) list.push_back(&one);
  return list;
}

// The bars of the metrics that are furthest from nothing.
Chart chart_of(const Chosen& metrics) {
  Chart chart{"changes", "How much worse", ChartKind::bar, {}, {}, {}, "", {}};
  Series series{"worse by", {}, {}, false};
  for (const MetricVerdict* one : metrics) {
    if (!worse_by(*one).value || series.x.size() == most_bars) continue;
    series.x.push_back(static_cast<double>(series.x.size()));
    series.y.push_back(*worse_by(*one).value);
    chart.x.labels.push_back(name_of(*one));
  }
  chart.x.name = "metric";
  chart.y.name = "worse by";
  chart.y.unit = ReportUnit::share;
  chart.series.push_back(std::move(series));
  chart.caption = "The change of the gated metrics, worst verdict first, at most eight; above nothing is worse.";
  if (!metrics.empty()) chart.limits.emplace_back("bar", quantity(metrics.back()->bar, ReportUnit::share));
  return chart;
}

std::string command_to_confirm(const Gate& gate) {
  std::string cases;
  for (const MetricVerdict& one : gate.metrics)
    if (one.gated && one.suspected) cases += (cases.empty() ? "" : "|") + one.key.case_name;
  return "assay run --filter '^(" + cases +
         ")$' on both sides in turn, then the same gate with --confirm-before and "
         "--confirm-after";
}

void add_metric_findings(const Gate& gate, std::vector<Finding>& findings) {
  std::size_t said = 0, more = 0;
  for (const MetricVerdict* one : chosen(gate, true)) {
    if (one->verdict != Verdict::slower && one->verdict != Verdict::broken) continue;
    if (said++ >= most_findings) {
      ++more;
      continue;
    }
    const std::string by = one->estimate ? ": worse by " + show(worse_by(*one)) : "";
    findings.push_back({Severity::problem, text(one->verdict) + ": " + name_of(*one) + by + ".", remark(*one), ""});
  }
  if (more > 0) findings.push_back({Severity::problem, fmt::format("And {} more: see the table.", more), "", ""});
  const bool suspects = std::any_of(gate.metrics.begin(), gate.metrics.end(),
                                    [](const MetricVerdict& one) { return one.gated && one.suspected; });
  if (suspects)
    findings.push_back({Severity::warning, "Some metrics look slower, but these runs alone cannot prove it.",
                        "testing many metrics at once raises chance findings", command_to_confirm(gate)});
}

// Why others have no clear verdict: once for each reason.
void add_open(const Gate& gate, std::vector<Finding>& findings) {
  std::map<std::pair<Verdict, std::string>, std::vector<std::string>> reasons;
  for (const MetricVerdict& one : gate.metrics)
    if (one.gated && (one.verdict == Verdict::unfit || one.verdict == Verdict::incomparable))
      reasons[{one.verdict, one.reason}].push_back(name_of(one));
  constexpr std::size_t most_reasons = 4;
  std::size_t said = 0;
  for (const auto& [reason, names] : reasons) {
    if (said++ == most_reasons) break;
    const std::string whom = names.size() == 1 ? names.front() : counted(names.size(), "metric");
    findings.push_back({Severity::warning, text(reason.first) + ": " + whom + ": " + reason.second + ".",
                        names.size() == 1 ? "" : "the first is " + names.front(), ""});
  }
  const auto unclear = std::count_if(gate.metrics.begin(), gate.metrics.end(), [](const MetricVerdict& one) {
    return one.gated && one.verdict == Verdict::inconclusive && !one.suspected;
  });
  if (unclear > 0)
    findings.push_back({Severity::warning,
                        "INCONCLUSIVE: " + counted(static_cast<std::size_t>(unclear), "metric") +
                            ": these runs can neither show nor rule out a slowdown of the bar.",
                        "the remarks say how near it is",
                        gate.design.empty() ? "assay gate --plan RUN... says how many runs do" : ""});
  if (reasons.size() > most_reasons)
    findings.push_back({Severity::warning,
                        fmt::format("And {} more reasons: see the remarks.", reasons.size() - most_reasons), "", ""});
}

// All moves in one direction, none in the other: that is how another machine looks, or another state of it.
void add_one_sided(const Gate& gate, std::vector<Finding>& findings) {
  std::size_t worse = 0, better = 0;
  for (const MetricVerdict& one : gate.metrics) {
    if (!one.gated || !one.estimate) continue;
    if (one.estimate->shift >= std::log1p(one.bar / 2)) ++worse;
    if (one.estimate->shift <= -std::log1p(one.bar / 2)) ++better;
  }
  constexpr std::size_t many = 6;  // of a fair coin once in 32
  if (worse + better < many || (worse > 0 && better > 0)) return;
  findings.push_back({Severity::info,
                      fmt::format("All {} metrics that moved became {}: a change of the whole machine (heat, power, "
                                  "clocks) looks like that too.",
                                  worse + better, worse > 0 ? "worse" : "better"),
                      "none moved the other way", ""});
}

void add_differences(const Gate& gate, const GateRules& rules, std::vector<Finding>& findings) {
  std::vector<std::string> refused;
  std::set<std::string> changed, needed;
  for (const Difference& one : gate.differences) {
    changed.insert(one.subject);
    if (one.allowed) continue;
    refused.push_back(sentence(one));
    needed.insert(one.subject.empty() || one.mixed ? "--allow '" + one.field + "'" : "--subject " + one.subject);
  }
  if (!refused.empty())
    findings.push_back({Severity::warning, "The sides are not alike: " + joined(refused, "; ") + ".",
                        "what is compared must differ in nothing but its subject",
                        "if that is what you mean to judge: " + joined({needed.begin(), needed.end()}, " ")});
  for (const std::string& subject : rules.allowance.subjects)
    if (gate.design.empty() && changed.count(subject) == 0)
      findings.push_back({Severity::info, "The declared subject \"" + subject + "\" is the same on both sides.",
                          "this compares a state with itself", ""});
}

void add_design(const Gate& gate, std::vector<Finding>& findings) {
  if (!gate.design.empty())
    for (const std::string& one : gate.remarks) findings.push_back({Severity::info, one, "", ""});
  if (gate.one_load_a_side)
    findings.push_back(
        {Severity::warning,
         fmt::format("Too few driver loads: {} before, {} after. What one load differs from the next cannot be told "
                     "from what the driver changed; the bounds are widened, and no error rate is promised.",
                     gate.loads_before == 0 ? "not recorded" : std::to_string(gate.loads_before),
                     gate.loads_after == 0 ? "not recorded" : std::to_string(gate.loads_after)),
         "three loads a side are the least, eight are good", "scripts/abba alternates the sides over reboots"});
  if (gate.planted > 0)
    findings.push_back({Severity::problem, counted(gate.planted, "row") + " planted on purpose; none is used.",
                        "condition planted", "measure without a planted fault"});
}

Section settings_section(const Gate& gate, const GateRules& rules) {
  Section section{"settings", "What was compared", {}, {}, {}};
  section.paragraphs.push_back(error_rates(gate, rules));
  Table table{"differences", "What differs between the sides", {"Field", "Before", "After", "Allowed"}, {}, ""};
  for (const Difference& one : gate.differences)
    table.rows.push_back({one.field, one.before, one.after, one.allowed ? "yes" : "no"});
  if (!table.rows.empty()) section.tables.push_back(std::move(table));
  for (const std::string& one : gate.remarks) section.paragraphs.push_back(one);
  return section;
}

Section fit_section(const Gate& gate) {
  Table table{"fit", "Whether the model fits", {"Verdict", "Device", "Before", "After"}, {}, ""};
  for (const FitVerdict& one : gate.fits) table.rows.push_back({text(one.verdict), one.device, one.before, one.after});
  return {"fit", "Fit", {}, {table}, {}};
}

std::string list_of(const std::vector<Run>& runs) {
  std::vector<std::string> ids;
  for (const Run& run : runs) ids.push_back(run.info.id);
  return joined(ids);
}

}  // namespace

ReportUnit report_unit(const std::string& unit) {
  if (unit == "s") return ReportUnit::seconds;
  if (unit == "B" || unit == "bytes") return ReportUnit::bytes;
  if (unit == "B/s" || unit == "bytes_per_second") return ReportUnit::bytes_per_second;
  if (unit == "flop/s") return ReportUnit::flops_per_second;
  if (unit == "token/s") return ReportUnit::tokens_per_second;
  return ReportUnit::none;
}

Quantity middle(const SideValues& side, const std::string& unit) {
  if (!side.middle) return unknown(report_unit(unit), "no run counts");
  return quantity(*side.middle, report_unit(unit));
}

Quantity worse_by(const MetricVerdict& one) {
  if (!one.estimate) {
    // A history has no second side to estimate from; its middles are all there is.
    const bool known = one.units == "results" && one.before.middle && one.after.middle && *one.before.middle > 0;
    if (!known) return unknown(ReportUnit::share, why_not(one));
    const double ratio = *one.after.middle / *one.before.middle;
    return quantity((one.less_is_better ? ratio : 1 / ratio) - 1, ReportUnit::share);
  }
  return quantity(std::expm1(one.estimate->shift), std::expm1(one.estimate->at_least),
                  std::expm1(one.estimate->at_most), ReportUnit::share);
}

std::string remark(const MetricVerdict& one) {
  std::vector<std::string> parts;
  if (!one.reason.empty()) parts.push_back(one.reason);
  if (one.verdict != Verdict::ok) parts.insert(parts.end(), one.hints.begin(), one.hints.end());
  if (one.by_fresh) parts.push_back("decided by fresh runs");
  return joined(parts, "; ");
}

std::string error_rates(const Gate& gate, const GateRules& rules) {
  if (!gate.design.empty()) return gate.design;
  const std::string design = fmt::format("{} before and {} after.", counted(gate.starts_before, "process start"),
                                         counted(gate.starts_after, "process start"));
  if (gate.one_load_a_side)
    return design + fmt::format(
                        " With so few driver loads the bounds are widened by {:.1f} % from load to load, and the "
                        "published error rates do not hold.",
                        100 * rules.load_spread);
  constexpr std::size_t good = 5;
  if (std::min(gate.starts_before, gate.starts_after) < good)
    return design + " Five a side are the least that error rates are published for; more runs make it sharper.";
  return design +
         " Where nothing changed, at most 1 metric in 100 and 2 suites of 40 metrics in 100 are called SLOWER "
         "(docs/gate.md).";
}

Report gate_report(const Gate& gate, const GateRuns& runs, const GateRules& rules) {
  Report report;
  report.title = "Gate: " + outcome(gate, rules);
  std::string what = counted(runs.after.size(), "run") + " against a history";
  if (!runs.before.empty())
    what = counted(runs.before.size(), "run") + " before, " + counted(runs.after.size(), "run") + " after";
  const auto& subjects = rules.allowance.subjects;
  report.subtitle = fmt::format("{}; bar {:g} %", what, 100 * rules.bar);
  if (!subjects.empty()) report.subtitle += "; subject " + joined({subjects.begin(), subjects.end()});
  for (const Verdict verdict :
       {Verdict::broken, Verdict::slower, Verdict::unfit, Verdict::incomparable, Verdict::inconclusive, Verdict::ok})
    report.headline.emplace_back(text(verdict), quantity(static_cast<double>(count(gate, verdict)), ReportUnit::count));
  report.findings.push_back({severity_of(exit_code_of(gate, rules)), summary(gate, rules), "", ""});
  for (const FitVerdict& one : gate.fits)
    report.findings.push_back({severity_of(one.verdict), one.reason + ".", "", ""});
  add_metric_findings(gate, report.findings);
  add_differences(gate, rules, report.findings);
  if (std::all_of(gate.differences.begin(), gate.differences.end(), [](const auto& one) { return one.allowed; }))
    add_open(gate, report.findings);
  add_design(gate, report.findings);
  add_one_sided(gate, report.findings);
  std::stable_sort(report.findings.begin() + 1, report.findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  const auto gated = chosen(gate, true), informing = chosen(gate, false);
  Section metrics{"metrics", "Gated metrics", {}, metric_tables("gated", gated), {}};
  if (Chart chart = chart_of(gated); !chart.x.labels.empty()) metrics.charts.push_back(std::move(chart));
  report.sections.push_back(std::move(metrics));
  if (!gate.fits.empty()) report.sections.push_back(fit_section(gate));
  if (!informing.empty())
    report.sections.push_back({"informing", "Metrics that inform", {}, metric_tables("informing", informing), {}});
  report.sections.push_back(settings_section(gate, rules));
  report.provenance = {{"before", list_of(runs.before)}, {"after", list_of(runs.after)}};
  return report;
}

}  // namespace assay::gate
