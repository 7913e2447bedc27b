// Whether a budget fits a device, what decides it, and what would change it.
// SPDX-License-Identifier: Apache-2.0
#include "reports/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "reports/phrase.h"
#include "reports/rates_rows.h"
#include "reports/workload.h"

namespace assay {
namespace {

constexpr std::int64_t most_batch = 65536;
constexpr std::int64_t most_context = std::int64_t{1} << 24;  // no model reads further

// The largest number from 1 to `most` for which `fits` holds, if it holds at all; `fits` must be monotone.
std::optional<std::int64_t> largest(std::int64_t most, const std::function<bool(std::int64_t)>& fits) {
  if (!fits(1)) return std::nullopt;
  std::int64_t low = 1, high = 2;
  while (high <= most && fits(high)) {
    low = high;
    high *= 2;
  }
  if (high > most) high = most + 1;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

std::int64_t longest(const ModelSpec& model) {
  if (model.position == PositionKind::learned) return model.positions;
  return model.context > 0 ? model.context : most_context;
}

struct Change {
  std::string words;
  std::string price;  // what it costs in speed or quality
  Workload workload;
};

constexpr const char* unchecked = "answers change: check the outputs";

// Cheapest first: what leaves the answers alone, then what changes them a little, then more.
std::vector<Change> inference_changes(const ModelSpec& model, const Workload& now) {
  std::vector<Change> changes;
  const auto add = [&](const std::string& words, const std::string& price, const std::function<void(Workload&)>& edit) {
    changes.push_back({words, price, now});
    edit(changes.back().workload);
  };
  const double width = bits_per_number(now.weights);
  const Format half{Element::bf16, Scaling::none}, eight{Element::int8, Scaling::none},
      four{Element::fp4_e2m1, Scaling::block16_e4m3};
  if (now.batch > 1) add("batch 1", "fewer users at once, less speed in all", [](Workload& w) { w.batch = 1; });
  if (width > 16) add("weights in bf16", unchecked, [&](Workload& w) { w.weights = half; });
  if (model.kind == ModelKind::decoder && bits(now.kv.element) > 8)
    add("an 8-bit KV cache", unchecked, [&](Workload& w) { w.kv = eight; });
  if (width > 8 && model.kind != ModelKind::convolution)
    add("8-bit weights", unchecked, [&](Workload& w) { w.weights = eight; });
  if (width > 5 && model.kind != ModelKind::convolution)
    add("4-bit weights", "answers change more: check the outputs", [&](Workload& w) { w.weights = four; });
  if (width > 5 && model.kind == ModelKind::decoder)
    add("4-bit weights and an 8-bit KV cache", "answers change more: check the outputs", [&](Workload& w) {
      w.weights = four;
      w.kv = eight;
    });
  return changes;
}

std::vector<Change> training_changes(const ModelSpec& model, const Workload& now) {
  std::vector<Change> changes;
  const auto add = [&](const std::string& words, const std::string& price, const std::function<void(Workload&)>& edit) {
    changes.push_back({words, price, now});
    edit(changes.back().workload);
  };
  const Format half{Element::bf16, Scaling::none}, four{Element::fp4_e2m1, Scaling::block16_e4m3};
  const bool layered = model.kind != ModelKind::convolution;
  if (now.batch > 1)
    add("batch 1", "less speed; accumulation keeps the batch of a step", [](Workload& w) { w.batch = 1; });
  // The forward pass is a third of a step's products, and runs twice.
  if (layered && now.recompute != Recompute::full)
    add("full recompute", "up to a third more products", [](Workload& w) { w.recompute = Recompute::full; });
  if (now.tuning == Tuning::full) {
    if (now.optimizer == Optimizer::adamw)
      add("8-bit AdamW", "training may go another way: watch the loss",
          [](Workload& w) { w.optimizer = Optimizer::adamw_8bit; });
    if (layered)
      add("LoRA of rank 16", "it learns less than full training", [&](Workload& w) {
        w.tuning = Tuning::lora;
        w.lora_rank = 16;
        w.weights = half;
      });
  }
  if (layered)
    add("LoRA on 4-bit weights, full recompute, batch 1", "slower, and it learns less than full training",
        [&](Workload& w) {
          w.tuning = Tuning::lora;
          w.weights = four;
          w.recompute = Recompute::full;
          w.batch = 1;
        });
  return changes;
}

std::string room(const Workload& workload, const MemoryBudget& budget, const Capacity& capacity) {
  return shown_bytes(budget.total()) + " needed" + (workload.layout.devices() > 1 ? " on the fullest device" : "") +
         " (" + shown_bytes(budget.lower()) + " to " + shown_bytes(budget.upper()) + "), " +
         shown_bytes(*capacity.bytes) + " there";
}

// What makes it smaller, with what it then comes to and what it costs: the changes after which it fits first, the
// cheapest of them before the others.
std::vector<std::string> relieving(const ModelSpec& model, const Workload& workload, const MemoryBudget& budget,
                                   const Capacity& capacity, const Overheads& overheads) {
  struct Tried {
    Answer answer;
    std::string line;
  };
  std::vector<Tried> tried;
  double least = budget.lower();
  const auto all =
      workload.purpose == Purpose::inference ? inference_changes(model, workload) : training_changes(model, workload);
  for (const Change& change : all) {
    const MemoryBudget changed = memory_budget(model, change.workload, overheads);
    if (changed.total() >= budget.total()) continue;
    least = std::min(least, changed.lower());
    const Answer now = answer(changed, capacity);
    tried.push_back({now, fmt::format("{}: {} ({} less), {}; {}", change.words, shown_bytes(changed.total()),
                                      shown_bytes(budget.total() - changed.total()), text(now), change.price)});
  }
  std::stable_sort(tried.begin(), tried.end(), [](const Tried& a, const Tried& b) { return a.answer < b.answer; });
  std::vector<std::string> lines;
  if (least > *capacity.bytes)
    lines.push_back(fmt::format("nothing here makes it fit: it needs at least {}, {} are there", shown_bytes(least),
                                shown_bytes(*capacity.bytes)));
  for (const Tried& one : tried) lines.push_back(one.line);
  return lines;
}

std::vector<std::string> changes(const ModelSpec& model, const Workload& workload, const MemoryBudget& budget,
                                 const Capacity& capacity, const Overheads& overheads) {
  std::vector<std::string> lines;
  if (answer(budget, capacity) != Answer::fits) lines = relieving(model, workload, budget, capacity, overheads);
  const auto batch = largest_batch(model, workload, *capacity.bytes, overheads);
  const std::string at_most = model.kind == ModelKind::convolution ? "" : " at this context";
  lines.push_back(batch ? fmt::format("largest batch that fits{}: {}", at_most, grouped(static_cast<double>(*batch)))
                        : "no batch fits" + at_most);
  if (model.kind == ModelKind::convolution) return lines;
  const auto context = largest_context(model, workload, *capacity.bytes, overheads);
  if (!context) {
    lines.push_back("no context fits at this batch");
  } else {
    const bool all_of_it = *context == longest(model) && *context < most_context;
    lines.push_back("largest context that fits at this batch: " + grouped(static_cast<double>(*context)) + " tokens" +
                    (all_of_it ? ", all that the model was made for" : ""));
  }
  return lines;
}

std::string sentence(Answer answer, const ModelSpec& model, const Workload& workload, const MemoryBudget& budget,
                     const Capacity& capacity) {
  const std::string what = model.title + " (" + describe(workload, model) + ")";
  switch (answer) {
    case Answer::fits:
      return what + " fits: " + room(workload, budget, capacity) + ".";
    case Answer::tight:
      return what + " is tight, it may or may not fit: " + room(workload, budget, capacity) + ".";
    case Answer::does_not_fit:
      return what + " does not fit: " + room(workload, budget, capacity) + ".";
    case Answer::not_judged:
      return what + " needs " + shown_bytes(budget.total()) +
             ", but how much memory there is is not known: " + capacity.source + ".";
  }
  return "";
}

// The row of a capacity survey, or null.
const Row* surveyed(const std::vector<Run>& runs, const DeviceInfo& device, const std::string& metric) {
  for (const Run& run : runs) {
    for (const Row& row : run.rows) {
      const bool asked = row.family == "capacity" && row.device == device.id && row.metric == metric;
      const bool usable = row.status == Status::ok && row.value && *row.value > 0 && !has_condition(row, "planted");
      if (asked && usable) return &row;
    }
  }
  return nullptr;
}

}  // namespace

Capacity capacity(const std::vector<Run>& runs, const DeviceInfo& device) {
  if (const Row* survey = surveyed(runs, device, "allocatable_bytes")) {
    Capacity found{survey->value, "measured, " + survey->case_name, {}};
    const Row* touched = surveyed(runs, device, "touched_bytes");
    if (touched == nullptr || *touched->value >= *survey->value) return found;
    found.proved = touched->value;
    found.source +=
        ": " + shown_bytes(*touched->value) + " taken and touched (" + touched->reason + "), the rest still free then";
    return found;
  }
  if (device.memory_available)
    return {static_cast<double>(*device.memory_available), "free when the run began, not allocated to prove it", {}};
  if (device.memory_total)
    return {static_cast<double>(*device.memory_total), "the device's total, not what was free", {}};
  return {std::nullopt, "the run has no capacity survey and the device does not say", {}};
}

Answer answer(const MemoryBudget& budget, const Capacity& capacity) {
  if (!capacity.bytes) return Answer::not_judged;
  if (budget.upper() <= *capacity.bytes) return Answer::fits;
  return budget.lower() > *capacity.bytes ? Answer::does_not_fit : Answer::tight;
}

Verdict verdict(const ModelSpec& model, const Workload& workload, const MemoryBudget& budget, const Capacity& capacity,
                const Overheads& overheads) {
  Verdict verdict;
  verdict.answer = answer(budget, capacity);
  verdict.sentence = sentence(verdict.answer, model, workload, budget, capacity);
  const MemoryItem& largest = budget.largest();
  verdict.deciding_term =
      largest.name + ": " + shown_bytes(largest.bytes) + " of the " + shown_bytes(budget.total()) + " needed";
  if (capacity.bytes) verdict.changes = changes(model, workload, budget, capacity, overheads);
  return verdict;
}

std::optional<std::int64_t> largest_batch(const ModelSpec& model, const Workload& workload, double capacity,
                                          const Overheads& overheads) {
  return largest(most_batch, [&](std::int64_t batch) {
    Workload tried = workload;
    tried.batch = batch;
    return memory_budget(model, tried, overheads).upper() <= capacity;
  });
}

std::optional<std::int64_t> largest_context(const ModelSpec& model, const Workload& workload, double capacity,
                                            const Overheads& overheads) {
  if (model.kind == ModelKind::convolution) return std::nullopt;
  return largest(longest(model), [&](std::int64_t context) {
    Workload tried = workload;
    tried.context = context;
    return memory_budget(model, tried, overheads).upper() <= capacity;
  });
}

int exit_code_of(const Report& report) {
  if (!report.verdict) return 0;
  switch (report.verdict->answer) {
    case Answer::fits:
    case Answer::tight:
      return 0;
    case Answer::does_not_fit:
      return 1;
    case Answer::not_judged:
      return 2;
  }
  return 2;
}

}  // namespace assay
