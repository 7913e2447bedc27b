// From a run and a model to a report: what fits, how fast, and what decides it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/format.h"
#include "core/models/model.h"
#include "reports/report.h"
#include "results/run.h"

namespace assay {

enum class Purpose : std::uint8_t { inference, training };
enum class Tuning : std::uint8_t { full, lora };
enum class Recompute : std::uint8_t { none, selective, full };
enum class Optimizer : std::uint8_t { adamw, adamw_8bit, sgd };

// What is to be done with the model. Defaults are what people mean when they say nothing.
struct Workload {
  Purpose purpose = Purpose::inference;
  std::int64_t batch = 1;
  std::int64_t context = 0;  // tokens a sequence; 0: 4096 or the model's own limit, whichever is less
  Format weights;            // set by default_workload(): bf16
  Format kv;                 // bf16
  Tuning tuning = Tuning::full;
  std::int64_t lora_rank = 16;
  Recompute recompute = Recompute::none;
  Optimizer optimizer = Optimizer::adamw;
};
Workload default_workload(Purpose purpose);

// Answer for one model on the device `device` of the run ("" is its first). Throws BadInput where the run has no such
// device.
Report judge(const std::vector<Run>& runs, const ModelSpec& model, const Workload& workload, const std::string& device);

// What fits here: a dozen named models by chat, long context, LoRA and full fine-tune.
Report overview(const std::vector<Run>& runs, const std::string& device);

}  // namespace assay
