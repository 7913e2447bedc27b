// The memory budget of a model and a workload: item by item, at the moment when most is alive.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/judge.h"

namespace assay {

struct MemoryItem {
  std::string name;
  double bytes = 0;
  double lower = 0, upper = 0;
  std::string formula;  // in words with the numbers; what it comes to is `bytes`
  std::string origin;   // "arithmetic", "measured in this run", "published readings: ...", "assumed: ..."
  std::string changes;  // what makes it smaller
  std::string check;    // how a reader can check it
};

struct MemoryBudget {
  std::vector<MemoryItem> items;
  std::string moment;  // "while the prompt is read", "when the loss is computed"

  double total() const;
  double lower() const;
  double upper() const;
  const MemoryItem& largest() const;  // the deciding term
};

// What a process and its allocator take on this device before the model's own numbers.
struct Overheads {
  bool processor = true;                // a CPU: the host's memory, no device context
  std::optional<double> context_bytes;  // measured in the run
  std::string context_source;
};
Overheads overheads(const std::vector<Run>& runs, const DeviceInfo& device);

// `workload` must be resolved. Of several devices the fullest counts.
MemoryBudget memory_budget(const ModelSpec& model, const Workload& workload, const Overheads& overheads);

}  // namespace assay
