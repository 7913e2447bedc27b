// Decides how often to run and when enough samples have been taken. Knows no device: time comes from outside.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace assay {

// What a profile allows one case.
struct Limits {
  double warm_up_seconds = 0.05;
  double batch_seconds = 1e-3;  // a run lasts at least this long
  int minimum_samples = 5;
  int maximum_samples = 100;   // batch medians kept
  double half_width = 0.01;    // relative, of the 95 % interval
  double maximum_seconds = 1;  // for warming up and sampling; up to twice that for a third sample
  bool steady_clock = false;   // warm up until the rate no longer drifts
  int runs_per_batch = 3;      // a sample is the median of this many runs, so that one interrupt spoils none
};

struct Sampled {
  std::vector<double> seconds;          // of one execution, one a batch: the median of its runs
  int batch = 1;                        // executions in each run
  std::int64_t executions = 0;          // in all samples together, warm-up not counted
  std::string stop;                     // "steady" (the interval is narrow enough), "time" or "samples"
  std::vector<std::string> conditions;  // "few_samples", "not_steady"
};

// `run(n)` executes n times and returns the seconds for all; `clock()` is the host's monotonic time. What `run` throws
// goes through.
Sampled sample(const std::function<double(int)>& run, const std::function<double()>& clock, const Limits& limits);

}  // namespace assay
