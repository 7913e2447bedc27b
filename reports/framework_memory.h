// What a framework counted itself, read from a JSON file that the user's program wrote.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/report.h"

namespace assay {

// Counters as PyTorch names them; other numbers in the file are kept under their own names.
struct FrameworkFigure {
  std::string name;     // as it stands in the file, nested names joined by dots
  std::string meaning;  // "allocated, peak"; empty: not known here
  double bytes = 0;
};

// A JSON object such as torch.cuda.memory_stats() or {"max_memory_allocated": N, "max_memory_reserved": N}. Numbers
// only; nested objects are gone through. Throws BadInput with the path: not there, not JSON, no number in it, larger
// than 16 MiB.
std::vector<FrameworkFigure> read_framework_memory(const std::filesystem::path& file);

// The known counters beside what the driver counted, with what lies between them.
Table framework_table(const std::vector<FrameworkFigure>& figures, const std::optional<double>& device_peak);

}  // namespace assay
