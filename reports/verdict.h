// Whether a budget fits a device, what decides it, and what would change it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/memory.h"

namespace assay {

// What a model may use of a device's memory, as this run found it.
struct Capacity {
  std::optional<double> bytes;
  std::string source;            // where it is from, or why it is not known
  std::optional<double> proved;  // really taken and touched, where that is less than `bytes`
};
Capacity capacity(const std::vector<Run>& runs, const DeviceInfo& device);

// fits: even the upper bound does; does not fit: even the lower bound does not.
Answer answer(const MemoryBudget& budget, const Capacity& capacity);

Verdict verdict(const ModelSpec& model, const Workload& workload, const MemoryBudget& budget, const Capacity& capacity,
                const Overheads& overheads);

// The largest batch (context) of which even the upper bound fits, everything else unchanged; none where not even 1
// does.
std::optional<std::int64_t> largest_batch(const ModelSpec& model, const Workload& workload, double capacity,
                                          const Overheads& overheads);
std::optional<std::int64_t> largest_context(const ModelSpec& model, const Workload& workload, double capacity,
                                            const Overheads& overheads);

// report, plan: 0 fits or tight, 1 does not fit, 2 not judged; 0 for a report without a verdict.
int exit_code_of(const Report& report);

}  // namespace assay
