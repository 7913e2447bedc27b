// Turns one case into rows, whatever happens: prepare, prove, time, check again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/case.h"
#include "bench/sampler.h"
#include "core/telemetry.h"
#include "results/row.h"

namespace assay {

struct Measured {
  std::vector<Row> rows;        // at least one
  std::vector<double> samples;  // batch medians in seconds, at most 100, for samples.csv
  bool device_lost = false;     // nothing more can be measured by this process
};

// Everything measuring needs from outside, so that tests can script it.
struct MeasureContext {
  Backend& backend;
  int device_index = 0;
  DeviceInfo device;
  Limits limits;                  // from the profile
  std::function<double()> clock;  // seconds, monotonic
  std::function<double()>
      other_load;              // share of the allowed processors others used since the last call; negative: unknown
  std::string storage_folder;  // where the storage survey may write
  std::filesystem::path root = "/";  // where the host surveys find /proc, /sys and /dev
};

// Runs one case in this process. Catches Unsupported (skipped), OutOfMemory, DeviceLost and Error (failed); never
// throws, always gives at least one row. Rows have no run, number, rank or process yet.
Measured measure(const Case& item, MeasureContext& context);

}  // namespace assay
