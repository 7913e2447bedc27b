// The step that was asked for, as it really ran, beside what is predicted of it.
// SPDX-License-Identifier: Apache-2.0
#include "reports/asked_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <string>

#include "core/error.h"
#include "reports/duration.h"
#include "reports/memory_items.h"
#include "reports/model_ops.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

std::string plain(const std::string& name) {
  std::string letters;
  for (const char letter : name)
    letters += std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '-' ? letter : '_';
  return letters;
}

// "asked/train/gpt2/bf16/4x256" is a batch of 4 and a context of 256.
struct Ran {
  std::int64_t batch = 0, context = 0;
  bool prompt = false;
  std::map<std::string, const Row*> by_metric;
  std::string trouble;  // why it did not run
};

std::optional<std::pair<std::int64_t, std::int64_t>> size_of(const std::string& name) {
  const std::string tail = name.substr(name.rfind('/') + 1);
  std::int64_t batch = 0, context = 0;
  const char* const end = tail.data() + tail.size();
  const auto first = std::from_chars(tail.data(), end, batch);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'x') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, context);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return std::pair(batch, context);
}

std::vector<Ran> all_that_ran(const std::vector<Run>& runs, const DeviceInfo& device, const ModelSpec& model,
                              const Workload& workload) {
  const bool training = workload.purpose == Purpose::training;
  const std::string prefix = std::string("asked/") + (training ? "train/" : "infer/") + plain(model.name) + "/";
  std::map<std::string, Ran> found;
  for (const Run& run : runs) {
    for (const Row& row : run.rows) {
      if (row.device != device.id || row.case_name.rfind(prefix, 0) != 0 || has_condition(row, "planted")) continue;
      const auto size = size_of(row.case_name);
      if (!size || size->second != workload.context) continue;
      Ran& ran = found[row.case_name];
      ran.batch = size->first;
      ran.context = size->second;
      ran.prompt = row.case_name.find("/prefill/") != std::string::npos;
      if (row.status == Status::ok && row.value)
        ran.by_metric[row.metric] = &row;
      else if (ran.trouble.empty())
        ran.trouble = text(row.status) + ": " + row.reason;
    }
  }
  std::vector<Ran> sorted;
  for (auto& [name, ran] : found) sorted.push_back(std::move(ran));
  std::stable_sort(sorted.begin(), sorted.end(), [](const Ran& a, const Ran& b) {
    return a.batch != b.batch ? a.batch < b.batch : a.prompt && !b.prompt;
  });
  return sorted;
}

Duration predicted_time(const ModelSpec& model, const Workload& workload, bool prompt, const Rates& rates) {
  try {
    if (workload.purpose == Purpose::training) return duration(step_ops(model, workload), rates);
    return duration(prompt ? prompt_ops(model, workload) : token_ops(model, workload), rates);
  } catch (const Error& error) {
    Duration none;
    none.unpriced.push_back(error.what());
    return none;
  }
}

// What the tensors of a budget come to, without the runtime and what an allocator holds back.
Quantity tensors(const MemoryBudget& budget) {
  double middle = 0, lower = 0, upper = 0;
  for (const MemoryItem& item : budget.items) {
    if (item.name == "runtime" || item.name == "allocator") continue;
    middle += item.bytes;
    lower += item.lower;
    upper += item.upper;
  }
  return quantity(middle, lower, upper, ReportUnit::bytes);
}

Cell residual(const Quantity& predicted, double measured) {
  if (!predicted.value || !(*predicted.value > 0)) return std::string("not judged");
  return fmt::format("{:+.0f} %", 100 * (measured / *predicted.value - 1));
}

class Sides {
 public:
  explicit Sides(Table& table) : table_(table) {}
  void add(const std::string& what, const Quantity& predicted, const Row* row, ReportUnit unit) {
    if (row == nullptr) return;
    table_.rows.push_back({what, predicted, quantity(*row->value, unit), residual(predicted, *row->value)});
  }

 private:
  Table& table_;
};

Quantity time_quantity(const Duration& time) {
  if (!time.judged()) return unknown(ReportUnit::seconds, "the run has no rates for it");
  return quantity(time.seconds, time.lower, time.upper, ReportUnit::seconds);
}

}  // namespace

std::optional<Section> asked_section(const std::vector<Run>& runs, const DeviceInfo& device, const ModelSpec& model,
                                     const Workload& workload, const Rates& rates, const Overheads& overheads) {
  const auto found = all_that_ran(runs, device, model, workload);
  if (found.empty()) return std::nullopt;
  Table table{
      "asked", "Predicted and measured", {"What", "Predicted", "Measured", "Measured against predicted"}, {}, ""};
  Sides sides(table);
  std::int64_t largest = 0;
  for (const Ran& ran : found) {
    Workload sized = workload;
    sized.batch = ran.batch;
    const std::string what = fmt::format("batch {}: ", ran.batch);
    if (ran.by_metric.empty()) {
      table.rows.push_back({what + "not run", std::string(), std::string(), ran.trouble});
      continue;
    }
    largest = std::max(largest, ran.batch);
    const auto row = [&ran](const char* metric) {
      const auto at = ran.by_metric.find(metric);
      return at == ran.by_metric.end() ? nullptr : at->second;
    };
    const MemoryBudget budget = memory_budget(model, sized, overheads);
    const bool training = workload.purpose == Purpose::training;
    if (training || ran.prompt) {
      sides.add(what + "memory of tensors", tensors(budget), row("allocated_bytes"), ReportUnit::bytes);
      sides.add(what + "memory, by the device's count",
                quantity(budget.total(), budget.lower(), budget.upper(), ReportUnit::bytes), row("device_bytes"),
                ReportUnit::bytes);
    }
    sides.add(what + (training     ? "a step"
                      : ran.prompt ? "the prompt"
                                   : "a token of every sequence"),
              time_quantity(predicted_time(model, sized, ran.prompt, rates)), row("seconds"), ReportUnit::seconds);
  }
  table.note =
      "Measured: this suite's own step, whose memory is laid out beforehand. Predicted: as frameworks keep it, from "
      "the "
      "rates of this run. A framework's own peak is seen by `assay watch`.";
  Section section{"asked", "The step itself, run here", {}, {table}, {}};
  section.paragraphs.push_back(fmt::format("The largest batch that ran: {}.", largest));
  return section;
}

}  // namespace assay
