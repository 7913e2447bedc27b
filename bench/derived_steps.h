// What follows from whole steps and the rest of a run: utilisation, the sum of a step's ops, energy a token, and the
// batch that a latency target allows. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/device.h"
#include "results/row.h"

namespace assay {

// Rows of family "derived" for one device and repetition, processors included; `rows` are all of the run.
std::vector<Row> derived_step_rows(const std::vector<Row>& rows, const DeviceInfo& device, int repetition);

}  // namespace assay
