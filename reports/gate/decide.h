// From the runs of each metric to its verdict: screened, and confirmed by fresh runs or held against testing many.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/gate/statistics.h"

namespace assay::gate {

// Worst first.
enum class Verdict : std::uint8_t { broken, slower, unfit, incomparable, inconclusive, faster, ok };
std::string text(Verdict verdict);  // "BROKEN", "SLOWER" ...

struct Question {
  Sides sides;
  std::optional<Sides> fresh;  // runs taken after the first ones, to confirm what those raised
  double bar = 0.02;           // the slowdown that is to be found, as a share
  double load_error = 0;       // what too few driver loads add to the error of the shift
  double fresh_load_error = 0;
};

struct Decision {
  Verdict verdict = Verdict::inconclusive;
  std::optional<Estimate> estimate;  // of the runs that decided; absent where there are too few
  bool suspected = false;            // slower at first sight, and neither confirmed nor refuted
  bool by_fresh = false;             // decided by the fresh runs
};

// SLOWER without fresh runs: one-sided 1 %, an effect of half the bar, and it holds against testing all of the metrics
// at a rate of 2 %. With fresh runs: one-sided 5 % in both, independently. FASTER mirrors it. OK: not SLOWER, and the
// upper bound lies below the bar. INCONCLUSIVE otherwise.
std::vector<Decision> decide(const std::vector<Question>& questions);

// All metrics together: the mean of their logarithms for each run, that is the geometric mean. An effect of a quarter
// of the bar counts, since it scatters less than each of them.
Decision decide_together(const Question& question);

}  // namespace assay::gate
