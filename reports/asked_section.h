// The step that was asked for, as it really ran, beside what is predicted of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "reports/memory.h"
#include "reports/rates.h"
#include "reports/report.h"

namespace assay {

// What a run with `--model` left on this device for this model, purpose and context: at each batch memory and time,
// each predicted, measured, and by how much the one is off the other. Absent where the run has none.
std::optional<Section> asked_section(const std::vector<Run>& runs, const DeviceInfo& device, const ModelSpec& model,
                                     const Workload& workload, const Rates& rates, const Overheads& overheads);

}  // namespace assay
