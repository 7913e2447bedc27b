// What a measurement becomes on disk: the columns of its rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/case.h"
#include "bench/sampler.h"
#include "core/device.h"
#include "results/row.h"

namespace assay {

// Identity of the case and the device; no metric yet.
Row identity(const Case& item, const DeviceInfo& device);

// What one execution does, for the rates.
struct Quantities {
  std::optional<double> flops;
  std::optional<double> bytes;
};
Quantities quantities(const Case& item, const Choice& choice);

// The `seconds` row, and the rates that people ask for with this kind of work. `base` carries everything else.
std::vector<Row> timed_rows(const Case& item, const Row& base, const Sampled& sampled, const Quantities& amounts);

// One fact: its value, or its text as the reason's words, or skipped with the reason.
Row fact_row(const Row& base, const Fact& fact);

// A row with a single number and no samples.
Row plain_row(const Row& base, const std::string& metric, double value, const std::string& unit,
              const std::string& better);

// Joins flags with commas, each once, in the order of first mention.
std::string joined(const std::vector<std::string>& flags);

}  // namespace assay
