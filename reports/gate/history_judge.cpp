// A new result against those before it.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "reports/gate/history.h"
#include "reports/gate/prepared.h"

namespace assay::gate {
namespace {

double cost(const PointValue& one) { return one.less_is_better ? std::log(one.value) : -std::log(one.value); }

struct Earlier {
  std::vector<double> costs, values;
};

Earlier earlier_of(const std::vector<const Point*>& baseline, const Key& key) {
  Earlier found;
  for (const Point* point : baseline) {
    const auto value = point->values.find(key);
    if (value == point->values.end()) continue;
    found.costs.push_back(cost(value->second));
    found.values.push_back(value->second.value);
  }
  return found;
}

// The verdict of one metric that was measured before and now.
void judge_value(MetricVerdict& one, const Earlier& earlier, const PointValue& now, bool recording) {
  const double middle_cost = median(earlier.costs);
  const double worse = cost(now) - middle_cost, allowed = history_limit(earlier.costs, one.bar) - middle_cost;
  const std::string words = fmt::format("{:+.1f} % against the middle of {} earlier results; the limit is {:+.1f} %",
                                        100 * std::expm1(worse), earlier.costs.size(), 100 * std::expm1(allowed));
  const bool sure = earlier.costs.size() >= sure_points;
  const char* const provisional = "; provisional: fewer than 10";
  one.reason = words;
  if (worse > allowed) {
    one.verdict = sure ? Verdict::slower : Verdict::inconclusive;
    one.reason += sure ? "; runs of both states in turn decide (--before, --after)" : provisional;
  } else if (!sure) {  // a history that is still being recorded lets pass what raises no alarm
    one.verdict = recording ? Verdict::ok : Verdict::inconclusive;
    one.reason += provisional;
  } else if (allowed > std::log1p(one.bar)) {
    one.verdict = Verdict::inconclusive;
    one.reason += "; the history scatters too much to see the bar";
  } else {
    one.verdict = Verdict::ok;
  }
}

MetricVerdict judged(const Key& key, const PointValue& now, const SideValues& seen, const Earlier& earlier,
                     const GateRules& rules) {
  MetricVerdict one;
  one.key = key;
  one.unit = now.unit;
  one.less_is_better = now.less_is_better;
  one.bar = rules.bar;
  one.gated = gated_by_default(key.metric);
  if (rules.metrics) {
    const GatedMetric* named = gated_by(*rules.metrics, key);
    one.gated = named != nullptr;
    one.bar = named != nullptr && named->bar ? *named->bar : rules.metrics->bar.value_or(rules.bar);
  }
  one.units = "results";
  one.after = seen;
  one.before.values = earlier.values;
  one.before.starts = earlier.values.size();
  if (!earlier.values.empty()) one.before.middle = median(earlier.values);
  if (earlier.costs.size() < least_runs) {
    one.verdict = Verdict::incomparable;
    one.new_metric = true;
    one.reason =
        fmt::format("the history holds {} comparable results of it; three are the least", earlier.costs.size());
  } else {
    judge_value(one, earlier, now, rules.no_baseline_records);
  }
  return one;
}

// How far it is from the middle of the earlier ones, as a logarithm.
double moved(const MetricVerdict& one) {
  if (!one.before.middle || !one.after.middle) return 0;
  return std::abs(std::log(*one.after.middle / *one.before.middle));
}

bool fit_for_use(const SideValues& seen) {
  constexpr double most_unfit = 0.2;
  return static_cast<double>(seen.unfit) <= most_unfit * static_cast<double>(seen.starts);
}

// What the newest results all have, and this one has not.
void add_gone(const std::vector<const Point*>& baseline, const Side& side, const Point& point, const GateRules& rules,
              Gate& gate) {
  if (baseline.empty()) return;
  for (const auto& [key, value] : baseline.back()->values) {
    if (point.values.count(key) != 0) continue;
    const Earlier earlier = earlier_of(baseline, key);
    const auto series = side.series.find(key);
    MetricVerdict one =
        judged(key, value, series == side.series.end() ? SideValues{} : summarised(series->second), earlier, rules);
    one.new_metric = false;
    const bool disturbed = series != side.series.end() && one.after.unfit > 0;
    one.verdict = disturbed ? Verdict::unfit : Verdict::broken;
    one.reason =
        disturbed ? "its runs were disturbed; repeat them" : "measured before, and failed, mistrusted or gone now";
    gate.metrics.push_back(std::move(one));
  }
}

}  // namespace

Point point_of(const std::vector<Run>& runs, const GateRules& rules) {
  if (runs.empty()) throw BadInput("a history takes runs: assay gate --history DIR --after RUN...");
  Point point;
  point.fields = key_fields(runs.front().info);
  for (const Run& run : runs) {
    const std::string other =
        first_difference(key_fields(run.info), point.fields, Allowance{{}, rules.allowance.fields});
    if (!other.empty())
      throw BadInput("the runs of one result must be alike, but " + run.info.id + " differs in " + other +
                     "; give them one by one");
    point.runs.push_back(run.info.id);
    point.utc = std::max(point.utc, run.info.started_utc);
  }
  const Side side = observe(runs, rules.planted_counts);
  for (const auto& [key, series] : side.series) {
    const SideValues seen = summarised(series);
    if (!seen.middle || !fit_for_use(seen)) continue;
    const Row* row = nullptr;
    for (const Observation& one : series)
      if (one.value) row = one.row;
    point.values[key] = {*seen.middle, row->unit, better(*row) == "lower", seen.values.size()};
  }
  return point;
}

Gate judge_point(const History& history, const std::vector<Run>& runs, const GateRules& rules, Point& point) {
  Gate gate;
  for (const Point& known : history.points())
    for (const std::string& id : point.runs)
      if (std::find(known.runs.begin(), known.runs.end(), id) != known.runs.end())
        throw BadInput("the run " + id + " is in the history already; a run counts once");
  const Side side = observe(runs, rules.planted_counts);
  const std::vector<const Point*> baseline = history.baseline(point.fields, rules.allowance);
  for (const auto& [key, value] : point.values)
    gate.metrics.push_back(judged(key, value, summarised(side.series.at(key)), earlier_of(baseline, key), rules));
  add_gone(baseline, side, point, rules, gate);
  gate.starts_after = side.starts.size();
  gate.planted = side.planted;
  gate.design = fmt::format(
      "One result of {} against {} earlier ones. Where nothing changed, about 1 to 2 metrics in 100 lie above the "
      "limit; "
      "an alarm is a reason to measure both states in turn.",
      side.starts.size() == 1 ? "one process start" : fmt::format("{} process starts", side.starts.size()),
      baseline.size());
  gate.remarks = history.remarks();
  const std::string other = history.nearest_difference(point.fields, rules.allowance);
  if (baseline.empty() && !other.empty())
    gate.remarks.push_back("The history has results, but none that is comparable: " + other + ".");
  if (side.starts.size() < least_runs)
    gate.remarks.push_back("A result of three process starts or more is steadier; this one has fewer.");
  std::stable_sort(gate.metrics.begin(), gate.metrics.end(), [](const MetricVerdict& a, const MetricVerdict& b) {
    if (a.gated != b.gated) return a.gated;
    return a.verdict != b.verdict ? a.verdict < b.verdict : moved(a) > moved(b);
  });
  point.accepted = count(gate, Verdict::slower) + count(gate, Verdict::broken) == 0;
  return gate;
}

}  // namespace assay::gate
