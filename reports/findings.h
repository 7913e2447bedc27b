// What a reader must know about the run before believing its numbers, worst first.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/rates.h"
#include "reports/report.h"
#include "results/run.h"

namespace assay {

std::vector<Finding> run_findings(const std::vector<Run>& runs, const DeviceInfo& device, const Rates& rates);

// Problems first, then warnings, then the rest; within these the order in which they were found.
void sort_by_severity(std::vector<Finding>& findings);

}  // namespace assay
