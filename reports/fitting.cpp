// What fits by batch and context.
// SPDX-License-Identifier: Apache-2.0
#include "reports/fitting.h"

#include <algorithm>
#include <string>
#include <vector>

namespace assay {
namespace {

std::vector<std::int64_t> contexts_of(const ModelSpec& model) {
  const std::int64_t longest = model.context > 0 ? model.context : 32768;
  std::vector<std::int64_t> contexts;
  for (std::int64_t context = 1024; context <= std::min<std::int64_t>(longest, 131072); context *= 4)
    contexts.push_back(context);
  if (contexts.empty()) contexts.push_back(longest);
  return contexts;
}

Answer fits(const MemoryBudget& need, double capacity) {
  if (need.upper() <= capacity) return Answer::fits;
  return need.lower() > capacity ? Answer::does_not_fit : Answer::tight;
}

}  // namespace

Table fitting_table(const ModelSpec& model, const Workload& workload, const Overheads& overheads, double capacity) {
  Table table{"fitting", "What fits: batch down, context across", {"Batch"}, {}, ""};
  if (model.kind == ModelKind::convolution) return table;
  const std::vector<std::int64_t> contexts = contexts_of(model);
  for (const std::int64_t context : contexts)
    table.columns.push_back(context % 1024 == 0 ? std::to_string(context / 1024) + "k" : std::to_string(context));
  for (const std::int64_t batch : {1, 4, 16, 64, 256}) {
    std::vector<Cell> row{std::to_string(batch)};
    for (const std::int64_t context : contexts) {
      Workload sized = workload;
      sized.batch = batch;
      sized.context = context;
      row.emplace_back(fits(memory_budget(model, sized, overheads), capacity));
    }
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace assay
