// How many runs a wanted bar takes on this machine's noise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/gate/gate.h"

namespace assay::gate {

struct MetricNoise {
  Key key;
  std::string unit;
  SideValues values;
  double scale = 0;  // from run to run, logarithm
  double bar = 0.02;
  std::size_t needed = 0;  // runs a side; 0: more than 20
  double with_eight = 0;   // the slowdown that 8 runs a side find with 90 %
};

struct RunPlan {
  std::vector<MetricNoise> metrics;  // the most demanding first
  std::size_t starts = 0, loads = 0;
  std::size_t disturbed = 0;  // metrics left out since their runs were
  std::size_t for_all = 0;    // runs a side that find the bar in every metric; 0: not with 20
  std::size_t for_most = 0;   // in nine of ten
};

// From runs of one state. Throws BadInput with fewer than three process starts, or where the runs are not alike.
RunPlan plan_runs(const std::vector<Run>& runs, const GateRules& rules);
Report plan_report(const RunPlan& plan, const GateRules& rules);

}  // namespace assay::gate
