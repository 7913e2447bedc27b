// What a report says about whole training steps, models that learn, and serving.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/device.h"
#include "reports/report.h"
#include "results/run.h"

namespace assay {

// Steps by case with tokens a second, utilisation of measured and (of a card that the catalogue knows) published peaks;
// a chart of how a step's time splits by phase; tokens a second by micro-batch; memory by who counts it and by kind at
// its peak; loss curves; and serving by batch and context. No tables and no charts where the runs hold none of it.
Section step_section(const std::vector<Run>& runs, const DeviceInfo& device);

}  // namespace assay
