// A metric on its way to a verdict: its values by start, and by the unit that counts as evidence.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/gate/gate.h"

namespace assay::gate {

// Logarithms, more is worse; absent where a start has no value that counts.
struct Logarithms {
  std::vector<std::optional<double>> before, after;
};
Logarithms logarithms(const std::vector<Observation>& before, const std::vector<Observation>& after,
                      bool less_is_better);

// What the sides are made of: process starts, or driver loads where the change came with one.
struct Units {
  bool by_load = false;
  double load_error = 0;                          // of a shift, where there are too few loads
  std::vector<std::string> before, after;         // the load of each start
  std::size_t loads_before = 0, loads_after = 0;  // 0: not recorded
};
Units units_of(const Side& before, const Side& after, const GateRules& rules);

// The values that the statistics take: those of starts, or the median of each load's.
Sides sides_of(const Logarithms& values, const Units& units);

SideValues summarised(const std::vector<Observation>& series);

// What may have caused it, as far as the rows show: clock, power, temperature, another algorithm, a narrower link.
std::vector<std::string> hints(const std::vector<Observation>& before, const std::vector<Observation>& after,
                               const MetricVerdict& verdict);

}  // namespace assay::gate
