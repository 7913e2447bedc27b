// Each metric's verdict, and what the whole comes to.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "reports/gate/fit.h"
#include "reports/gate/prepared.h"
#include "reports/phrase.h"

namespace assay::gate {
namespace {

constexpr double most_unfit = 0.2;     // of a side's starts
constexpr double widest_scale = 0.15;  // beyond it a comparison would be a game of dice

// Everything that the verdicts need.
struct Evidence {
  Side before, after, fresh_before, fresh_after;
  Units units, fresh_units;
  std::set<std::string> refused_devices;  // by differences that nobody allowed
  bool all_refused = false;
  std::string refusal;
};

Side only_starts(const Side& one, const Side& other) {
  Side both;
  both.starts = one.starts;
  both.starts.insert(both.starts.end(), other.starts.begin(), other.starts.end());
  return both;
}

std::string first_trouble(const std::vector<Observation>& series) {
  for (const Observation& one : series)
    if (!one.trouble.empty()) return one.trouble;
  return "";
}

bool any_ok(const std::vector<Observation>& series) {
  return std::any_of(series.begin(), series.end(),
                     [](const Observation& one) { return one.value || !one.unfit.empty() || one.planted; });
}

bool any(const std::vector<Observation>& series, bool Observation::*flag) {
  return std::any_of(series.begin(), series.end(), [&](const Observation& one) { return one.*flag; });
}

bool all_broken(const std::vector<Observation>& series) {
  return std::all_of(series.begin(), series.end(), [](const Observation& one) { return one.broken; });
}

// A value that cannot be: not positive, or there twice.
const Observation* impossible(const std::vector<Observation>& series) {
  for (const Observation& one : series)
    if (!one.trouble.empty() && !one.broken && !one.planted && one.row != nullptr) return &one;
  return nullptr;
}

const Row* some_row(const std::vector<Observation>& before, const std::vector<Observation>& after) {
  for (const auto* series : {&before, &after})
    for (const Observation& one : *series)
      if (one.row != nullptr && (one.value || !one.unfit.empty())) return one.row;
  return nullptr;
}

std::string unfit_words(const std::vector<Observation>& before, const std::vector<Observation>& after) {
  std::set<std::string> words;
  for (const auto* series : {&before, &after})
    for (const Observation& one : *series)
      if (!one.unfit.empty()) words.insert(one.unfit);
  return joined({words.begin(), words.end()});
}

// What can be said without statistics. False where they have to decide.
bool settled(MetricVerdict& one, const Evidence& evidence, const Allowance& allowance) {
  const auto& before = evidence.before.series.at(one.key);
  const auto& after = evidence.after.series.at(one.key);
  const auto settle = [&](Verdict verdict, const std::string& reason) {
    one.verdict = verdict;
    one.reason = reason;
    return true;
  };
  if (!any_ok(before)) {
    one.new_metric = all_broken(before);
    return settle(Verdict::incomparable, "nothing to hold it against: " + first_trouble(before) + " before");
  }
  if (evidence.all_refused || evidence.refused_devices.count(one.key.device) != 0)
    return settle(Verdict::incomparable, evidence.refusal);
  if (all_broken(after)) return settle(Verdict::broken, "measured before; after: " + first_trouble(after));
  if (any(before, &Observation::planted) || any(after, &Observation::planted))
    return settle(Verdict::unfit, "rows that were planted on purpose count for nothing");
  for (const auto* series : {&before, &after})
    if (const Observation* bad = impossible(*series)) return settle(Verdict::incomparable, bad->trouble);
  for (const Difference& difference : differences(evidence.before, evidence.after, one.key, allowance))
    if (!difference.allowed) return settle(Verdict::incomparable, sentence(difference));
  for (const SideValues* side : {&one.before, &one.after}) {
    if (static_cast<double>(side->unfit) > most_unfit * static_cast<double>(side->starts))
      return settle(Verdict::unfit,
                    fmt::format("{} of {} runs {} were disturbed ({}); repeat them", side->unfit, side->starts,
                                side == &one.before ? "before" : "after", unfit_words(before, after)));
  }
  return false;
}

Question question_of(const MetricVerdict& one, const Evidence& evidence) {
  Question question;
  question.bar = one.bar;
  question.sides =
      sides_of(logarithms(evidence.before.series.at(one.key), evidence.after.series.at(one.key), one.less_is_better),
               evidence.units);
  question.load_error = evidence.units.load_error;
  const auto fresh_before = evidence.fresh_before.series.find(one.key);
  const auto fresh_after = evidence.fresh_after.series.find(one.key);
  if (fresh_before != evidence.fresh_before.series.end() && fresh_after != evidence.fresh_after.series.end()) {
    question.fresh =
        sides_of(logarithms(fresh_before->second, fresh_after->second, one.less_is_better), evidence.fresh_units);
    question.fresh_load_error = evidence.fresh_units.load_error;
  }
  return question;
}

void explain(MetricVerdict& one, const Evidence& evidence) {
  const Estimate* estimate = one.estimate ? &*one.estimate : nullptr;
  if (estimate == nullptr) {
    one.reason = fmt::format("three {} a side are needed; {} before and {} after count", one.units,
                             one.before.values.size(), one.after.values.size());
    return;
  }
  if (estimate->scale > widest_scale) {
    one.verdict = Verdict::unfit;
    one.reason = fmt::format("its runs differ by {:.0f} % from one to the next: too unruly to judge",
                             100 * std::expm1(estimate->scale));
    return;
  }
  // As often as it failed before, it may fail after; more often is no OK.
  const bool flaky = one.after.broken * one.before.starts > one.before.broken * one.after.starts;
  if (flaky && (one.verdict == Verdict::ok || one.verdict == Verdict::faster)) {
    one.verdict = Verdict::inconclusive;
    one.reason = fmt::format("it failed in {} of {} runs after", one.after.broken, one.after.starts);
  } else if (one.suspected) {
    one.reason = "slower at first sight: confirm it by fresh runs of both sides";
  } else if (one.verdict == Verdict::inconclusive) {
    one.reason = fmt::format("it may be {:.1f} % slower; these runs show no less than {:.1f} %: add runs",
                             100 * std::expm1(estimate->at_most), 100 * std::expm1(estimate->smallest_found));
  }
  if (estimate->two_modes) one.reason += std::string(one.reason.empty() ? "" : "; ") + "its runs fall into two groups";
  one.hints = hints(evidence.before.series.at(one.key), evidence.after.series.at(one.key), one);
}

std::vector<MetricVerdict> gather(const Evidence& evidence, const GateRules& rules, Gate& gate) {
  std::vector<MetricVerdict> all;
  std::size_t nowhere = 0;
  for (const auto& [key, before] : evidence.before.series) {
    const auto& after = evidence.after.series.at(key);
    if (!any_ok(before) && !any_ok(after)) {
      ++nowhere;
      continue;
    }
    MetricVerdict one;
    one.key = key;
    one.before = summarised(before);
    one.after = summarised(after);
    if (const Row* row = some_row(before, after)) {
      one.unit = row->unit;
      one.less_is_better = better(*row) == "lower";
    }
    one.units = evidence.units.by_load ? "driver loads" : "process starts";
    one.bar = rules.bar;
    one.gated = gated_by_default(key.metric);
    if (rules.metrics) {
      const GatedMetric* named = gated_by(*rules.metrics, key);
      one.gated = named != nullptr;
      one.bar = rules.metrics->bar.value_or(rules.bar);
      if (named != nullptr && named->bar) one.bar = *named->bar;
    }
    all.push_back(std::move(one));
  }
  if (nowhere > 0) gate.remarks.push_back(counted(nowhere, "metric") + " could be measured on neither side.");
  return all;
}

// Gated and informing metrics are tested apart: what nobody gates must not make the gate less sharp.
void judge(std::vector<MetricVerdict>& all, const Evidence& evidence, const GateRules& rules, bool gated) {
  std::vector<MetricVerdict*> open;
  std::vector<Question> questions;
  for (MetricVerdict& one : all) {
    if (one.gated != gated || settled(one, evidence, rules.allowance)) continue;
    open.push_back(&one);
    questions.push_back(question_of(one, evidence));
  }
  const std::vector<Decision> decisions = decide(questions);
  for (std::size_t i = 0; i < open.size(); ++i) {
    MetricVerdict& one = *open[i];
    one.verdict = decisions[i].verdict;
    one.estimate = decisions[i].estimate;
    one.suspected = decisions[i].suspected;
    one.by_fresh = decisions[i].by_fresh;
    explain(one, evidence);
  }
}

// The mean of the logarithms of each start, over the times that every start has.
std::optional<MetricVerdict> judge_together(const std::vector<MetricVerdict>& all, const Evidence& evidence,
                                            const GateRules& rules) {
  Logarithms sums;
  sums.before.assign(evidence.before.starts.size(), 0.0);
  sums.after.assign(evidence.after.starts.size(), 0.0);
  std::size_t metrics = 0;
  for (const MetricVerdict& one : all) {
    if (!one.gated || one.key.metric != "seconds" || !one.estimate || one.verdict == Verdict::unfit) continue;
    if (one.before.values.size() != one.before.starts || one.after.values.size() != one.after.starts) continue;
    const Logarithms values = logarithms(evidence.before.series.at(one.key), evidence.after.series.at(one.key), true);
    for (std::size_t i = 0; i < sums.before.size(); ++i) *sums.before[i] += *values.before[i];
    for (std::size_t i = 0; i < sums.after.size(); ++i) *sums.after[i] += *values.after[i];
    ++metrics;
  }
  if (metrics < 2) return std::nullopt;
  for (auto* side : {&sums.before, &sums.after})
    for (auto& value : *side) *value /= static_cast<double>(metrics);
  MetricVerdict together;
  together.key.case_name = fmt::format("all {} times together (geometric mean)", metrics);
  together.key.metric = "seconds";
  together.bar = rules.bar;
  together.units = evidence.units.by_load ? "driver loads" : "process starts";
  const Decision decision =
      decide_together({sides_of(sums, evidence.units), std::nullopt, rules.bar, evidence.units.load_error, 0});
  together.verdict = decision.verdict;
  together.estimate = decision.estimate;
  together.before.starts = sums.before.size();
  together.after.starts = sums.after.size();
  return together;
}

double effect(const MetricVerdict& one) { return one.estimate ? one.estimate->shift : 0; }

bool comes_first(const MetricVerdict& a, const MetricVerdict& b) {
  if (a.gated != b.gated) return a.gated;
  if (a.verdict != b.verdict) return a.verdict < b.verdict;
  if (std::abs(effect(a)) != std::abs(effect(b))) return std::abs(effect(a)) > std::abs(effect(b));
  return a.key < b.key;
}

void refuse_differences(Evidence& evidence, const Gate& gate) {
  std::vector<std::string> sentences;
  for (const Difference& one : gate.differences) {
    if (one.allowed) continue;
    if (one.device.empty()) evidence.all_refused = true;
    evidence.refused_devices.insert(one.device);
    sentences.push_back(sentence(one) + (one.mixed ? " (mixed inside a side)" : ""));
  }
  constexpr std::size_t most = 3;
  if (sentences.size() > most) {
    const std::size_t more = sentences.size() - most;
    sentences.resize(most);
    sentences.push_back(fmt::format("and {} more", more));
  }
  evidence.refusal = joined(sentences, "; ");
}

void remark(Gate& gate, const GateRuns& runs) {
  for (const auto* side : {&runs.before, &runs.after, &runs.fresh_before, &runs.fresh_after})
    for (const Run& run : *side)
      for (const std::string& one : run.remarks) gate.remarks.push_back(run.path.string() + ": " + one);
}

void check_same_run(const GateRuns& runs) {
  std::set<std::string> ids;
  for (const auto* side : {&runs.before, &runs.after, &runs.fresh_before, &runs.fresh_after})
    for (const Run& run : *side)
      if (!ids.insert(run.info.id).second)
        throw BadInput("the run " + run.info.id + " (" + run.path.string() +
                       ") is given twice; a run counts once, on one side");
}

}  // namespace

Gate gate(const GateRuns& runs, const GateRules& rules) {
  if (runs.before.empty() || runs.after.empty())
    throw BadInput("the gate needs runs from before and from after: assay gate --before RUN... --after RUN...");
  check_same_run(runs);
  Gate gate;
  Evidence evidence{observe(runs.before, rules.planted_counts),
                    observe(runs.after, rules.planted_counts),
                    observe(runs.fresh_before, rules.planted_counts),
                    observe(runs.fresh_after, rules.planted_counts),
                    {},
                    {},
                    {},
                    false,
                    ""};
  complete(evidence.before, evidence.after);
  evidence.units = units_of(evidence.before, evidence.after, rules);
  evidence.fresh_units = units_of(evidence.fresh_before, evidence.fresh_after, rules);
  gate.differences = differences(only_starts(evidence.before, evidence.fresh_before),
                                 only_starts(evidence.after, evidence.fresh_after), rules.allowance);
  for (Difference& one : filter_difference(evidence.before, evidence.after, rules.allowance))
    gate.differences.push_back(std::move(one));
  refuse_differences(evidence, gate);
  gate.starts_before = evidence.before.starts.size();
  gate.starts_after = evidence.after.starts.size();
  gate.loads_before = evidence.units.loads_before;
  gate.loads_after = evidence.units.loads_after;
  gate.one_load_a_side = evidence.units.load_error > 0;
  gate.planted =
      evidence.before.planted + evidence.after.planted + evidence.fresh_before.planted + evidence.fresh_after.planted;
  remark(gate, runs);
  gate.metrics = gather(evidence, rules, gate);
  judge(gate.metrics, evidence, rules, true);
  judge(gate.metrics, evidence, rules, false);
  gate.together = judge_together(gate.metrics, evidence, rules);
  if (rules.metrics) {
    for (const GatedMetric& wanted : rules.metrics->metrics) {
      const MetricsFile alone{{}, {wanted}};
      if (std::none_of(gate.metrics.begin(), gate.metrics.end(),
                       [&](const MetricVerdict& one) { return gated_by(alone, one.key) != nullptr; }))
        gate.missing.push_back(wanted.pattern);
    }
  }
  std::stable_sort(gate.metrics.begin(), gate.metrics.end(), comes_first);
  if (rules.model != nullptr) gate.fits = judge_fits(runs, rules);
  return gate;
}

std::size_t count(const Gate& gate, Verdict verdict) {
  std::size_t found = 0;
  for (const MetricVerdict& one : gate.metrics)
    if (one.gated && one.verdict == verdict) ++found;
  if (gate.together && gate.together->verdict == verdict && verdict == Verdict::slower) ++found;
  for (const FitVerdict& one : gate.fits)
    if (one.verdict == verdict) ++found;
  return found;
}

namespace {

std::size_t accepted_news(const Gate& gate, const GateRules& rules) {
  if (!rules.no_baseline_records) return 0;
  return static_cast<std::size_t>(std::count_if(gate.metrics.begin(), gate.metrics.end(),
                                                [](const auto& one) { return one.gated && one.new_metric; }));
}

}  // namespace

int exit_code_of(const Gate& gate, const GateRules& rules) {
  if (count(gate, Verdict::slower) + count(gate, Verdict::broken) > 0) return 1;
  const std::size_t news = accepted_news(gate, rules);
  const std::size_t good = count(gate, Verdict::ok) + count(gate, Verdict::faster) + news;
  std::size_t open = count(gate, Verdict::unfit) + count(gate, Verdict::incomparable) - news + gate.missing.size();
  const std::size_t unclear = count(gate, Verdict::inconclusive);
  if (!rules.inconclusive_passes) open += unclear;
  return open == 0 && good + (rules.inconclusive_passes ? unclear : 0) > 0 ? 0 : 2;
}

std::string outcome(const Gate& gate, const GateRules& rules) {
  const int code = exit_code_of(gate, rules);
  return code == 0 ? "passed" : code == 1 ? "failed" : "no verdict";
}

std::string summary(const Gate& gate, const GateRules& rules) {
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::broken, Verdict::slower, Verdict::unfit, Verdict::incomparable,
                                Verdict::inconclusive, Verdict::faster, Verdict::ok})
    if (const std::size_t found = count(gate, verdict)) parts.push_back(fmt::format("{} {}", found, text(verdict)));
  std::string words = "The gate " + (outcome(gate, rules) == "no verdict" ? "gives no verdict" : outcome(gate, rules)) +
                      ": " + (parts.empty() ? "nothing was measured that could be gated" : joined(parts)) + ".";
  if (gate.one_load_a_side) words += " There are too few driver loads a side for any promise of error rates.";
  if (!gate.missing.empty()) words += " Named but not measured: " + joined(gate.missing) + ".";
  return words;
}

}  // namespace assay::gate
