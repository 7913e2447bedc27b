// How far predictions are from what was measured, by group.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/score/case.h"

namespace assay::score {

// One row and what was predicted for it; or why nothing was.
struct Scored {
  Case row;
  std::optional<double> measured, predicted, lower, upper;  // bytes, or tokens/s
  std::string reason;

  std::optional<double> error() const;  // of the prediction, as a share of the measured
};
Scored score(const Case& row);

struct Group {
  std::string kind, quantity, source;  // "all": of every source; "all full", "all adapters": of the training rows
  std::size_t rows = 0, judged = 0;
  double median = 0, ninth = 0, worst = 0;  // of the absolute errors; ninth: the 90th percentile
  double bias = 0;                          // median of the signed ones
  double covered = 0;                       // share of the judged whose measured value lies inside the interval
  double width = 0;                         // median full width, as a share of the prediction
};
std::vector<Group> groups(const std::vector<Scored>& all);

// Of the rows that carry an architecture, how many are judged.
// 1 where no row carries one.
double judged_share(const std::vector<Scored>& all);

std::string table(const std::vector<Scored>& all, bool each_row);
std::string json(const std::vector<Scored>& all, bool each_row);

}  // namespace assay::score
