// The memory budget: items, their sum, and what a process takes besides.
// SPDX-License-Identifier: Apache-2.0
#include "reports/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "reports/activations.h"
#include "reports/memory_items.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"
#include "reports/spread.h"
#include "reports/workload.h"

namespace assay {
namespace {

constexpr double mebi = 1024.0 * 1024.0;
constexpr double gibi = 1024.0 * mebi;

template <class Member>
double sum_of(const std::vector<MemoryItem>& items, Member member) {
  double sum = 0;
  for (const MemoryItem& item : items) sum += item.*member;
  return sum;
}

MemoryItem runtime_item(const Overheads& overheads) {
  MemoryItem item;
  item.name = "runtime";
  if (overheads.context_bytes) {
    item.bytes = item.lower = *overheads.context_bytes;
    item.upper = item.bytes + gibi;
    item.formula = shown_bytes(item.bytes) + " for a bare context; a framework's own libraries may add up to 1 GiB";
    item.origin = "measured in this run (" + overheads.context_source + ")";
  } else if (overheads.processor) {
    item.bytes = 0.3 * gibi;
    item.lower = 0.05 * gibi;
    item.upper = 0.8 * gibi;
    item.formula = "a process with its libraries: 0.05 GiB for a C++ engine, 0.3 to 0.8 GiB for a Python framework";
    item.origin = "assumed";
  } else {
    item.bytes = 0.8 * gibi;
    item.lower = 0.47 * gibi;
    item.upper = 1.8 * gibi;
    item.formula =
        "device context, math library handles and workspaces: 0.47 GiB loaded lazily, 0.9 to 1.8 GiB eagerly";
    item.origin = "published readings on one A100 by framework version";
  }
  item.changes = "lazy loading of kernels; one process for all models";
  item.check = overheads.processor ? "resident set of the process before the model is loaded (VmRSS)"
                                   : "device memory in use after the framework's first trivial operation";
  return item;
}

// Allocators keep blocks that fit nothing. Large tensors that live for ever do not suffer from it.
MemoryItem allocator_item(const std::vector<MemoryItem>& items, const Workload& workload, const Overheads& overheads) {
  const bool training = workload.purpose == Purpose::training;
  double base = 0;
  for (const MemoryItem& item : items)
    if (training || is_temporary(item.name)) base += item.bytes;
  MemoryItem item;
  item.name = "allocator";
  const double share = overheads.processor ? 0.005 : 0.027;
  const double most = overheads.processor ? 0.02 : 0.105;
  item.bytes = share * base;
  item.lower = overheads.processor ? 0 : 0.003 * base;
  item.upper = most * base;
  item.formula = fmt::format("{} % of {}, the {}", plain_number(share * 100), shown_bytes(base),
                             training ? "sum of everything above" : "buffers that come and go");
  item.origin = overheads.processor
                    ? "assumed: the system's allocator maps large blocks by themselves"
                    : "published readings: 0.3 % to 10.5 % reserved but not allocated, 2.7 % in between";
  item.changes = "fixed shapes; expandable segments; a static arena";
  item.check = "reserved minus allocated bytes in the framework's statistics";
  return item;
}

}  // namespace

double MemoryBudget::total() const { return sum_of(items, &MemoryItem::bytes); }
double MemoryBudget::lower() const { return sum_of(items, &MemoryItem::lower); }
double MemoryBudget::upper() const { return sum_of(items, &MemoryItem::upper); }

const MemoryItem& MemoryBudget::largest() const {
  return *std::max_element(items.begin(), items.end(),
                           [](const MemoryItem& a, const MemoryItem& b) { return a.bytes < b.bytes; });
}

MemoryBudget memory_budget(const ModelSpec& model, const Workload& workload, const Overheads& overheads) {
  MemoryBudget budget =
      workload.purpose == Purpose::inference ? inference_items(model, workload) : training_items(model, workload);
  budget.items = spread(std::move(budget.items), model, workload);
  const MemoryItem allocator = allocator_item(budget.items, workload, overheads);
  budget.items.push_back(runtime_item(overheads));
  budget.items.push_back(allocator);
  return budget;
}

Overheads overheads(const std::vector<Run>& runs, const DeviceInfo& device) {
  Overheads found;
  found.processor = device.backend == "cpu" || device.backend.empty();
  for (const Run& run : runs) {
    for (const Row& row : run.rows) {
      const bool asked = row.family == "capacity" && row.case_name == "capacity/context" && row.device == device.id;
      const bool usable = row.status == Status::ok && row.unit == "bytes" && row.value && *row.value > 0 &&
                          !has_condition(row, "planted");
      if (!asked || !usable || row.metric.find("context") == std::string::npos) continue;
      found.context_bytes = row.value;
      found.context_source = row.case_name + ", " + row.metric;
    }
  }
  return found;
}

}  // namespace assay
