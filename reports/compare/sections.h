// The parts of a comparison's report.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/compare/comparison.h"

namespace assay {

// One thing worth knowing of every device: a best rate, a time, a size.
struct Characteristic {
  std::string name;
  ReportUnit unit = ReportUnit::none;
  bool less_is_better = false;
  std::vector<std::optional<Quantity>> values;  // by contender
  std::vector<std::optional<double>> peaks;     // sourced, by contender
  std::vector<std::optional<double>> watts;     // while it was measured
};
std::vector<Characteristic> characteristics(const Comparison& comparison);

// Above 1 is better than the first, whichever way better is. Absent where one of the two is.
std::optional<Quantity> against_first(const Characteristic& characteristic, std::size_t contender);

// Where the best and the worst are; nowhere where fewer than two were measured or their intervals all overlap.
struct Ends {
  std::optional<std::size_t> best, worst;
};
Ends ends(const Characteristic& characteristic);

Section characteristics_section(const Comparison& comparison);
Section alike_section(const Comparison& comparison);
Section coverage_section(const Comparison& comparison);
Section devices_section(const Comparison& comparison);

// Geometric mean of the ratios to the first, by family and contender; absent where they share nothing.
struct FamilyMean {
  std::string family;
  std::size_t cases = 0;
  std::vector<std::optional<double>> means;
};
std::vector<FamilyMean> family_means(const Comparison& comparison);

}  // namespace assay
