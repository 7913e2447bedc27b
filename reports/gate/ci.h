// The gate in the forms that continuous integration reads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/gate/gate.h"

namespace assay::gate {

// One test case for each gated metric, each name once: SLOWER and BROKEN are failures; UNFIT and INCOMPARABLE errors;
// INCONCLUSIVE is skipped, and so is a metric without a baseline where the rules say so. For Jenkins, GitLab and
// others. Values are in properties and in the text.
std::string junit(const Gate& gate, const GateRules& rules);

// Workflow commands, one line for each kind of verdict, since GitHub shows no more than ten of a kind.
std::string github_annotations(const Gate& gate, const GateRules& rules);

// Markdown for GITHUB_STEP_SUMMARY: the table, at most 1 MiB, and a remark where it was cut.
std::string github_summary(const Gate& gate, const GateRules& rules);

// Gauges in OpenMetrics 1.0 text, units as suffixes, for a Prometheus text file or GitLab's metrics report.
std::string openmetrics(const Gate& gate, const GateRules& rules);

// Runs of one side as Google Benchmark writes them, each process start a repetition: what its compare.py, and
// github-action-benchmark with the tool `googlecpp`, read. Times only.
std::string google_benchmark(const std::vector<Run>& runs, bool planted_counts);

}  // namespace assay::gate
