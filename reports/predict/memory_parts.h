// What the two halves of the memory's prediction share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/predict/memory.h"

namespace assay::predict {

Memory inference_memory(const Setting& setting);
Memory training_memory(const Setting& setting);

inline Memory not_judged(const std::string& reason) { return {{}, "", reason, 0, 0}; }

}  // namespace assay::predict
