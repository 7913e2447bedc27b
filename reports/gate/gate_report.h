// The gate as a Report, for all four renderings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/gate/gate.h"

namespace assay::gate {

Report gate_report(const Gate& gate, const GateRuns& runs, const GateRules& rules);

// A share above 0 is worse: how much longer it takes, or how much less there is. Absent with too few runs.
Quantity worse_by(const MetricVerdict& one);
Quantity middle(const SideValues& side, const std::string& unit);
ReportUnit report_unit(const std::string& unit);  // of a row's: "s", "bytes", "B/s"

// Everything worth saying about one metric in a line: why, and hints at the cause.
std::string remark(const MetricVerdict& one);

// A sentence on how far the published error rates hold for these runs.
std::string error_rates(const Gate& gate, const GateRules& rules);

}  // namespace assay::gate
