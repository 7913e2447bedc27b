// Whether a model that fitted still fits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/gate/gate.h"

namespace assay::gate {

// For each device of the first run before that most runs can judge. Needs rules.model.
std::vector<FitVerdict> judge_fits(const GateRuns& runs, const GateRules& rules);

// BROKEN where it fitted, tightly or not, and does not any more; INCONCLUSIVE where a side cannot be judged; OK else.
Verdict fit_verdict(Answer before, Answer after);

}  // namespace assay::gate
