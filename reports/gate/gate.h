// Whether a change made a machine slower: runs from before and from after it, metric by metric.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/gate/comparable.h"
#include "reports/gate/decide.h"
#include "reports/gate/metrics_file.h"
#include "reports/judge.h"

namespace assay::gate {

struct GateRules {
  double bar = 0.02;                   // the slowdown that is to be found, as a share
  std::optional<MetricsFile> metrics;  // absent: times and memory are gated
  Allowance allowance;
  // Standard deviation from driver load to driver load, for sides with too few loads to show it: that of the typical
  // machine in docs/gate.md.
  double load_spread = 0.004;
  bool inconclusive_passes = false;
  bool no_baseline_records = false;  // what was not measured before is taken note of, and passes
  bool planted_counts = false;       // for tests of the gate
  const ModelSpec* model = nullptr;  // whose fit is gated too
  Workload workload;
};

struct GateRuns {
  std::vector<Run> before, after;
  std::vector<Run> fresh_before, fresh_after;  // taken later, to confirm what the first ones raised
};

// What one side shows of a metric.
struct SideValues {
  std::vector<double> values;          // one for each start that counts, in the metric's own unit
  std::optional<double> middle;        // their median
  std::optional<double> lower, upper;  // the least and the greatest
  std::size_t starts = 0, unfit = 0, broken = 0;
  std::optional<double> clock_hertz, power_watts, temperature_celsius;  // medians over the starts
  std::string method;
};

struct MetricVerdict {
  Key key;
  std::string unit;  // as the row says it: "s", "bytes"
  bool less_is_better = true;
  Verdict verdict = Verdict::inconclusive;
  bool gated = true;
  bool new_metric = false;  // not measured before
  double bar = 0.02;
  SideValues before, after;
  std::optional<Estimate> estimate;  // of the runs that decided, in units of `units`
  std::string units;                 // "process starts", "driver loads"
  std::string reason;                // why it is not OK, or what is remarkable about it
  std::vector<std::string> hints;    // at the cause
  bool suspected = false, by_fresh = false;
};

// Whether a model fits, by each run of a side.
struct FitVerdict {
  std::string device;
  Answer before = Answer::not_judged, after = Answer::not_judged;  // what most of the runs say
  Verdict verdict = Verdict::inconclusive;
  std::string reason;
};

struct Gate {
  std::vector<MetricVerdict> metrics;     // gated ones first, worst first, then by the size of the effect
  std::optional<MetricVerdict> together;  // the geometric mean of all gated times; absent with fewer than two
  std::vector<FitVerdict> fits;
  std::vector<Difference> differences;
  std::size_t starts_before = 0, starts_after = 0;
  std::size_t loads_before = 0, loads_after = 0;  // 0: not recorded
  bool one_load_a_side = false;                   // too few driver loads for a change of driver: widened
  std::size_t planted = 0;
  std::string design;                // how it was judged, where that is not by the runs of two sides
  std::vector<std::string> remarks;  // sentences about the runs
  std::vector<std::string> missing;  // patterns of the metrics file that no metric matches
};

// Throws BadInput where a side has no runs.
Gate gate(const GateRuns& runs, const GateRules& rules);

// 1: any gated SLOWER or BROKEN. 0: all gated ones OK or FASTER, and at least one. Else 2.
int exit_code_of(const Gate& gate, const GateRules& rules);

// How many gated metrics have this verdict.
std::size_t count(const Gate& gate, Verdict verdict);

// What the whole comes to: the sentence and the word that every output begins with.
std::string summary(const Gate& gate, const GateRules& rules);
std::string outcome(const Gate& gate, const GateRules& rules);  // "passed", "failed", "no verdict"

}  // namespace assay::gate
