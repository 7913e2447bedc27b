// The buyer's checklist, filled in with what a run found.
// SPDX-License-Identifier: Apache-2.0
#include "reports/run_checklist.h"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

std::optional<double> host_figure(const std::vector<Run>& runs, const std::string& metric) {
  for (const Run& run : runs)
    for (const Row& row : run.rows)
      if (row.family == "host" && row.metric == metric && row.status == Status::ok && row.value &&
          !has_condition(row, "planted"))
        return row.value;
  return std::nullopt;
}

double stored(const MemoryBudget& budget) {
  double bytes = 0;
  for (const MemoryItem& item : budget.items)
    if (item.name == "weights" || item.name == "frozen weights") bytes += item.bytes;
  return bytes;
}

std::string host_words(const std::vector<Run>& runs, const MemoryBudget& budget) {
  std::vector<std::string> parts;
  if (const auto memory = host_figure(runs, "usable_memory_bytes"))
    parts.push_back(shown_bytes(*memory) + " of memory usable");
  if (const auto cores = host_figure(runs, "cores_allowed")) parts.push_back(fmt::format("{:g} cores allowed", *cores));
  if (const auto space = host_figure(runs, "storage_free_bytes")) parts.push_back(shown_bytes(*space) + " free");
  const auto rate = host_figure(runs, "storage_read_bytes_per_second");
  if (rate && *rate > 0)
    parts.push_back(fmt::format("read at {}: the weights on a device load in {}",
                                shown(*rate, ReportUnit::bytes_per_second),
                                shown(stored(budget) / *rate, ReportUnit::seconds)));
  return parts.empty() ? "" : "measured: " + joined(parts, "; ");
}

std::string memory_words(const DeviceInfo& device, const Capacity& capacity) {
  std::vector<std::string> parts;
  if (device.memory_total) parts.push_back(shown_bytes(static_cast<double>(*device.memory_total)) + " in all");
  if (capacity.bytes) parts.push_back(shown_bytes(*capacity.bytes) + " there (" + capacity.source + ")");
  return joined(parts, "; ");
}

}  // namespace

ChecklistAnswers run_answers(const std::vector<Run>& runs, const DeviceInfo& device, const ModelSpec& model,
                             const Workload& workload, const MemoryBudget& budget, const Capacity& capacity) {
  ChecklistAnswers filled;
  if (!device.name.empty())
    filled.architecture = device.name + (device.architecture.empty() ? "" : ", " + device.architecture) +
                          ": measured here; the stack that will run the model is not";
  std::vector<std::string> items;
  for (const MemoryItem& item : budget.items) items.push_back(item.name + " " + shown_bytes(item.bytes));
  filled.budget = joined(items, "; ");
  filled.peak = "predicted " + show(quantity(budget.total(), budget.lower(), budget.upper(), ReportUnit::bytes));
  if (model.kind != ModelKind::convolution)
    filled.peak += fmt::format(" for a batch of {} and {} tokens", workload.batch, workload.context);
  filled.memory = memory_words(device, capacity);
  filled.host = host_words(runs, budget);
  return filled;
}

}  // namespace assay
