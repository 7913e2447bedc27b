// What the device itself said before and during the run that a reader must know.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reports/report.h"
#include "results/run.h"

namespace assay {

// Facts that stand against a device: a slice of a card, missing lanes, memory that was repaired, a lowered power limit.
// A partition is told, not held against it.
std::vector<Finding> device_findings(const DeviceInfo& device);

// Conditions of rows that say what happened to the device while a case ran: errors, throttling, other processes.
std::vector<Finding> condition_findings(const std::vector<Run>& runs, const DeviceInfo& device);

}  // namespace assay
