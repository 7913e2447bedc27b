// Training that really trains: a small model that learns to predict the next byte of a text, step by step on a device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/models/step.h"

namespace assay {

// The first of Debian's licence texts that is there; throws Unsupported where none is.
std::string licence_text(const std::filesystem::path& folder = "/usr/share/common-licenses");

// A GPT-2 of two layers with 256 words, small enough for seconds on a processor.
ModelSpec byte_model();

// How that model learns in one precision: "fp32", "tf32", "bf16", "fp16" (with a dynamic loss scale) or "fp8" (beside
// bf16). Throws Error for other names.
StepSetup byte_setup(const std::string& precision);

// Fills the program's tensors, then gives `steps` steps random pieces of the text, chosen by the seed and the step, and
// returns the mean loss of each, in nats a byte. The program is that of step.work.
std::vector<double> learn(const TrainingStep& step, Program& program, const std::string& text, int steps,
                          std::uint64_t seed);

// The mean of the last `count` losses: what curves are compared by, since single steps see different text.
double mean_of_last(const std::vector<double>& losses, int count);

}  // namespace assay
