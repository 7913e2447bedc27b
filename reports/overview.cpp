// What fits here: named models by what people do with them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "reports/findings.h"
#include "reports/judge.h"
#include "reports/memory.h"
#include "reports/phrase.h"
#include "reports/rates.h"
#include "reports/run_sections.h"
#include "reports/verdict.h"
#include "reports/workload.h"

namespace assay {
namespace {

// From what runs on a laptop to what needs a server, one of a family each.
const std::vector<std::string>& named_models() {
  static const std::vector<std::string> names{"gpt2",        "smollm2-360m", "qwen2.5-0.5b", "llama-3.2-1b",
                                              "gemma-2-2b",  "llama-3.2-3b", "qwen2.5-7b",   "llama-3-8b",
                                              "qwen2.5-14b", "mixtral-8x7b", "llama-3-70b",  "deepseek-v3"};
  return names;
}

struct Use {
  std::string name;
  Purpose purpose;
  Tuning tuning;
  std::int64_t context;
};

const std::vector<Use>& uses() {
  static const std::vector<Use> all{{"chat", Purpose::inference, Tuning::full, 4096},
                                    {"long context", Purpose::inference, Tuning::full, 32768},
                                    {"LoRA", Purpose::training, Tuning::lora, 2048},
                                    {"full fine-tune", Purpose::training, Tuning::full, 2048}};
  return all;
}

Workload workload_for(const ModelSpec& model, const Use& use) {
  Workload workload = default_workload(use.purpose);
  workload.tuning = use.tuning;
  workload.context = model.context > 0 ? std::min(use.context, model.context) : use.context;
  return resolve(workload, model);
}

// The largest model that fits for chat, for the one next command.
struct Best {
  std::string model;
  double bytes = 0;
};

Table matrix(const Capacity& capacity, const Overheads& extra, Best& best, std::vector<int>& fitting) {
  Table table{"overview", "What fits here", {"Model", "Parameters"}, {}, ""};
  for (const Use& use : uses()) {
    table.columns.push_back(use.name);
    table.columns.push_back(use.name + " needs");
  }
  fitting.assign(uses().size(), 0);
  for (const std::string& name : named_models()) {
    const ModelSpec model = find_model(name);
    std::vector<Cell> row{model.title, quantity(static_cast<double>(parameters(model)), ReportUnit::count)};
    for (std::size_t index = 0; index < uses().size(); ++index) {
      const Use& use = uses()[index];
      const MemoryBudget budget = memory_budget(model, workload_for(model, use), extra);
      const Answer fits = answer(budget, capacity);
      row.emplace_back(fits);
      row.emplace_back(quantity(budget.total(), budget.lower(), budget.upper(), ReportUnit::bytes));
      if (fits != Answer::fits) continue;
      ++fitting[index];
      if (index == 0 && budget.total() > best.bytes) best = {name, budget.total()};
    }
    table.rows.push_back(std::move(row));
  }
  table.note =
      "Batch 1, weights in bf16. Chat: 4,096 tokens. Long context: 32,768, or the model's own limit. LoRA: rank "
      "16 on every matrix, 2,048 tokens. Full fine-tune: AdamW with master weights in fp32, 2,048 tokens.";
  return table;
}

std::vector<std::pair<std::string, Quantity>> numbers(const Rates& rates, const Capacity& capacity) {
  std::vector<std::pair<std::string, Quantity>> lines;
  lines.emplace_back("memory there", capacity.bytes ? quantity(*capacity.bytes, ReportUnit::bytes)
                                                    : unknown(ReportUnit::bytes, capacity.source));
  const auto bandwidth = rates.memory_bandwidth();
  lines.emplace_back("memory bandwidth", bandwidth ? quantity(*bandwidth, ReportUnit::bytes_per_second)
                                                   : unknown(ReportUnit::bytes_per_second, "no stream was measured"));
  for (const Element element : {Element::fp32, Element::bf16, Element::int8, Element::fp64}) {
    const auto peak = rates.peak_flops(element);
    if (peak && lines.size() < 6)
      lines.emplace_back("best " + text(element) + " rate", quantity(*peak, ReportUnit::flops_per_second));
  }
  return lines;
}

Finding next_command(const std::vector<Run>& runs, const Best& best, const Capacity& capacity) {
  const std::string run = runs.front().path.string();
  if (!capacity.bytes)
    return {Severity::info, "How much memory there is is not known, so nothing is judged.", capacity.source,
            "assay run --filter capacity"};
  if (best.model.empty())
    return {Severity::info, "None of these models fits in bf16; 4-bit weights may.", "",
            "assay report " + run + " --model smollm2-360m --format fp4"};
  return {Severity::good, "The largest of these that fits for chat is " + find_model(best.model).title + ".",
          shown_bytes(best.bytes) + " of " + shown_bytes(*capacity.bytes),
          "assay report " + run + " --model " + best.model};
}

}  // namespace

Report overview(const std::vector<Run>& runs, const std::string& wanted) {
  const DeviceInfo device = chosen_device(runs, wanted);
  const Capacity room = capacity(runs, device);
  const Overheads extra = overheads(runs, device);
  const Rates rates(runs, device.id);

  Report report;
  report.title = "What fits on " + (device.name.empty() ? "this machine" : device.name);
  report.subtitle = subtitle(runs, device);
  report.headline = numbers(rates, room);
  Best best;
  std::vector<int> fitting;
  Section section{"overview", "What fits here", {}, {}, {}};
  section.tables.push_back(matrix(room, extra, best, fitting));
  if (room.bytes) {
    std::vector<std::string> counts;
    for (std::size_t index = 0; index < uses().size(); ++index)
      counts.push_back(fmt::format("{} for {}", fitting[index], uses()[index].name));
    section.paragraphs.push_back(
        fmt::format("Of {} models {} fit into {}.", named_models().size(), joined(counts), shown_bytes(*room.bytes)));
  }
  report.sections.push_back(section);
  for (Section& section : measured_sections(runs, device, rates)) report.sections.push_back(std::move(section));
  report.sections.push_back(machine_section(runs, device));
  report.sections.push_back(trouble_section(runs, device));
  report.findings = run_findings(runs, device, rates);
  report.findings.push_back(next_command(runs, best, room));
  sort_by_severity(report.findings);
  report.provenance = provenance(runs, device);
  return report;
}

}  // namespace assay
