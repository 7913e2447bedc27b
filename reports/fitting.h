// What fits by batch and context.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/memory.h"
#include "reports/report.h"

namespace assay {

// A row a batch (1 to 256), a column a context (1k to what the model was made for); the rest as in `workload`, which
// must be resolved. No rows for convolutional networks.
Table fitting_table(const ModelSpec& model, const Workload& workload, const Overheads& overheads, double capacity);

}  // namespace assay
