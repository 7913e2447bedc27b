// From a run and a model to a report: what fits, how fast, and what decides it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/format.h"
#include "core/models/model.h"
#include "reports/predict/workload.h"
#include "reports/report.h"
#include "results/run.h"

namespace assay {

// Answer for one model on the device `device` of the run ("" is its first). Throws BadInput where the run has no such
// device.
Report judge(const std::vector<Run>& runs, const ModelSpec& model, const Workload& workload, const std::string& device);

// What fits here: a dozen named models by chat, long context, LoRA and full fine-tune.
Report overview(const std::vector<Run>& runs, const std::string& device);

}  // namespace assay
