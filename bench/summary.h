// The short table at the end of a run, for people.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/device.h"
#include "results/row.h"

namespace assay {

// How many cases ended how.
struct Tally {
  int ok = 0, skipped = 0, failed = 0, mistrusted = 0;
};
Tally tally(const std::vector<Row>& rows);  // a case counts once for each device and repetition, by its worst row

// 0 every case ok or skipped and at least one ok, 1 any failed or mistrusted, 2 nothing usable.
int exit_code(const Tally& tally);

// Counts, then the best figure of each device, family and precision, then what went wrong.
std::string summary(const std::vector<Row>& rows, const std::vector<DeviceInfo>& devices);

}  // namespace assay
