// What a run and its predictions cost at a given price.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/report.h"
#include "results/run.h"

namespace assay {

// `dollars_per_hour` is for the whole machine: what measuring cost, and what a million tokens would at each speed that
// the report's headline predicts. Nothing is said of what is not known.
std::vector<Finding> money_findings(const Report& report, const std::vector<Run>& runs, double dollars_per_hour);

}  // namespace assay
