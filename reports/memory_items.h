// The items of a memory budget that follow from the model itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/memory.h"

namespace assay {

MemoryBudget inference_items(const ModelSpec& model, const Workload& workload);
MemoryBudget training_items(const ModelSpec& model, const Workload& workload);

// Whether buffers of that name come and go while the model works, as activations do and weights do not.
bool is_temporary(const std::string& name);

}  // namespace assay
