// Noise to numbers of runs.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "reports/gate/gate_report.h"
#include "reports/gate/prepared.h"
#include "reports/phrase.h"

namespace assay::gate {
namespace {

std::size_t rank_of(const MetricNoise& one) { return one.needed == 0 ? 1000 : one.needed; }

void check_alike(const Side& side, const Allowance& allowance) {
  for (const Difference& one : differences(side, side, allowance))
    if (!one.allowed)
      throw BadInput("a plan is made from runs of one state, but these differ in " + one.field + ": " + one.before);
}

std::optional<MetricNoise> noise_of(const Key& key, const std::vector<Observation>& series) {
  const Logarithms values = logarithms(series, {}, true);
  Sides sides;
  for (const auto& value : values.before)
    if (value) sides.before.push_back(*value);
  if (sides.before.size() < least_runs) return std::nullopt;
  MetricNoise one;
  one.key = key;
  one.values = summarised(series);
  for (const Observation& seen : series)
    if (seen.value) one.unit = seen.row->unit;
  one.scale = scale(sides);
  return one;
}

std::string needed_words(std::size_t runs) { return runs == 0 ? "more than 20" : std::to_string(runs); }

}  // namespace

RunPlan plan_runs(const std::vector<Run>& runs, const GateRules& rules) {
  const Side side = observe(runs, rules.planted_counts);
  if (side.starts.size() < least_runs)
    throw BadInput(fmt::format("a plan needs three process starts of one state at least, not {}: assay run --repeat 5",
                               side.starts.size()));
  check_alike(side, rules.allowance);
  RunPlan plan;
  plan.starts = side.starts.size();
  std::set<std::string> loads;
  for (const Start& start : side.starts) loads.insert(start.load);
  plan.loads = loads.count("") != 0 ? 0 : loads.size();
  for (const auto& [key, series] : side.series) {
    const GatedMetric* named = rules.metrics ? gated_by(*rules.metrics, key) : nullptr;
    if (rules.metrics && named == nullptr) continue;
    std::optional<MetricNoise> one = noise_of(key, series);
    if (!one) {
      ++plan.disturbed;
      continue;
    }
    one->bar = rules.metrics ? rules.metrics->bar.value_or(rules.bar) : rules.bar;
    if (named != nullptr && named->bar) one->bar = *named->bar;
    one->needed = runs_needed(one->scale, one->bar);
    constexpr std::size_t usual = 8;
    one->with_eight = smallest_found(one->scale, usual, one->bar);
    plan.metrics.push_back(*one);
  }
  std::stable_sort(plan.metrics.begin(), plan.metrics.end(),
                   [](const MetricNoise& a, const MetricNoise& b) { return a.scale > b.scale; });
  if (plan.metrics.empty()) throw BadInput("none of the metrics has three undisturbed values; repeat the runs");
  std::vector<std::size_t> needed;
  for (const MetricNoise& one : plan.metrics) needed.push_back(rank_of(one));
  std::sort(needed.begin(), needed.end());
  const auto bounded = [](std::size_t runs) { return runs == 1000 ? std::size_t{0} : runs; };
  plan.for_all = bounded(needed.back());
  plan.for_most = bounded(needed[(needed.size() * 9 + 9) / 10 - 1]);
  return plan;
}

Report plan_report(const RunPlan& plan, const GateRules& rules) {
  Report report;
  report.title = "How many runs the gate needs here";
  report.subtitle = fmt::format("from {}; bar {:g} %", counted(plan.starts, "process start"), 100 * rules.bar);
  const double middle_scale = plan.metrics[plan.metrics.size() / 2].scale;
  report.headline = {{"metrics", quantity(static_cast<double>(plan.metrics.size()), ReportUnit::count)},
                     {"run-to-run scatter, middle metric", quantity(std::expm1(middle_scale), ReportUnit::share)}};
  report.findings.push_back(
      {plan.for_all != 0 ? Severity::good : Severity::warning,
       fmt::format("{} runs a side find a slowdown of the bar in every metric, {} in nine of ten.",
                   needed_words(plan.for_all), needed_words(plan.for_most)),
       "with a chance of 90 %, and a false alarm in at most 1 metric of 100",
       plan.for_all == 0
           ? "gate the noisy ones with a higher bar (--metrics FILE), or quiet the machine: fixed clocks, "
             "no other work"
           : fmt::format("scripts/abba --runs {} collects them in turn", plan.for_all)});
  constexpr std::size_t few = 10;
  if (plan.starts < few)
    report.findings.push_back({Severity::info,
                               fmt::format("Scatter from {} is itself known roughly; 20 make it firm.",
                                           counted(plan.starts, "process start")),
                               "", ""});
  if (plan.loads == 1)
    report.findings.push_back(
        {Severity::info, "All of these runs share one driver load, so what a reload changes is not in the scatter.",
         "for a change of driver plan from runs of several loads", ""});
  if (plan.disturbed > 0)
    report.findings.push_back({Severity::warning,
                               counted(plan.disturbed, "metric") + " left out: fewer than three undisturbed values.",
                               "failed, or other work ran meanwhile", "repeat the runs on a quiet machine"});
  Table table{"noise",
              "Scatter and runs",
              {"Metric", "Middle", "Run-to-run scatter", "Bar", "Runs a side", "8 a side find"},
              {},
              "Scatter is the standard deviation from one process start to the next."};
  for (const MetricNoise& one : plan.metrics)
    table.rows.push_back({text(one.key), middle(one.values, one.unit),
                          quantity(std::expm1(one.scale), ReportUnit::share), quantity(one.bar, ReportUnit::share),
                          needed_words(one.needed), quantity(one.with_eight, ReportUnit::share)});
  report.sections.push_back({"noise", "Noise", {}, {table}, {}});
  return report;
}

}  // namespace assay::gate
