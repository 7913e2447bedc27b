// The buyer's checklist, filled in with what a run found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/checklist.h"
#include "reports/memory.h"
#include "reports/verdict.h"
#include "results/run.h"

namespace assay {

// What a run says of the device, the host and the step that was asked for; the rest stays blank. `workload` must be
// resolved.
ChecklistAnswers run_answers(const std::vector<Run>& runs, const DeviceInfo& device, const ModelSpec& model,
                             const Workload& workload, const MemoryBudget& budget, const Capacity& capacity);

}  // namespace assay
