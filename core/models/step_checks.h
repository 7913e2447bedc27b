// What a step of a whole model can be built from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/models/step.h"

namespace assay {

// Throws as training_step() says.
void check_step(const ModelSpec& model, const StepSetup& setup);

}  // namespace assay
