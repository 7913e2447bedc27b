// Tables and charts of steps, learning and serving, from the rows of runs.
// SPDX-License-Identifier: Apache-2.0
#include "reports/step_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/work.h"
#include "reports/catalogue.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

constexpr const char* phases[] = {"forward", "recompute", "backward", "optimizer"};

std::string rest_after(const std::string& text, const std::string& start) {
  return text.rfind(start, 0) == 0 ? text.substr(start.size()) : text;
}

// The numbers of one case, by metric; the last run that has them counts.
using Metrics = std::map<std::string, const Row*>;

class Steps {
 public:
  Steps(const std::vector<Run>& runs, const DeviceInfo& device) : card_(recognise_gpu(device.name)) {
    for (const Run& run : runs) {
      for (const Row& row : run.rows) {
        if (row.device != device.id || row.status != Status::ok || !row.value || !std::isfinite(*row.value) ||
            has_condition(row, "planted"))
          continue;
        if (row.family == "train" || row.family == "infer") cases_[row.case_name][row.metric] = &row;
        if (row.family == "derived") derived(row);
      }
    }
  }

  Section section() const {
    Section section;
    section.id = "whole_models";
    section.title = "Whole models";
    add(section.tables, step_table());
    add(section.charts, phase_chart());
    add(section.charts, batch_chart());
    add(section.charts, loss_chart());
    add(section.tables, memory_table());
    add(section.tables, peak_table());
    add(section.tables, loss_table());
    add(section.tables, serving_table());
    return section;
  }

 private:
  static void add(std::vector<Table>& tables, Table table) {
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  static void add(std::vector<Chart>& charts, Chart chart) {
    if (!chart.series.empty()) charts.push_back(std::move(chart));
  }

  // "derived/over_sum_of_ops/train/gpt2-124m/bf16/4x256": a number of that case.
  void derived(const Row& row) {
    const std::string name = rest_after(row.case_name, "derived/" + row.metric + "/");
    if (name != row.case_name) derived_[name][row.metric] = &row;
  }

  static std::optional<double> value(const Metrics& metrics, const std::string& metric) {
    const auto found = metrics.find(metric);
    return found == metrics.end() ? std::nullopt : found->second->value;
  }
  std::optional<double> derived(const std::string& name, const std::string& metric) const {
    const auto found = derived_.find(name);
    return found == derived_.end() ? std::nullopt : value(found->second, metric);
  }

  static Cell cell(std::optional<double> number, ReportUnit unit) {
    return number ? Cell(quantity(*number, unit)) : Cell(std::string());
  }

  static bool is_step(const std::string& name, const Metrics& metrics) {
    return name.rfind("train/", 0) == 0 && metrics.count("tokens_per_second") > 0;
  }

  Table step_table() const {
    Table table{
        "training_steps",
        "Training steps",
        {"Step", "Time", "Tokens a second", "Utilisation", "Over its ops", "Planned", "Allocated", "Energy a token"},
        {},
        "Utilisation counts the flops of products and attention forward and backward, of causal attention the half "
        "that is needed, and nothing that is computed again, over the fastest product measured in the same "
        "precision. Over its ops: the step's time over the sum of its ops, each at the time it took alone. Energy "
        "in joules."};
    if (card_ != nullptr) {
      table.columns.insert(table.columns.begin() + 4, "Of published");
      table.note +=
          fmt::format(" Of published: the same flops over the dense peak that is published of {}.", card_->name);
    }
    for (const auto& [name, metrics] : cases_) {
      if (!is_step(name, metrics)) continue;
      const auto energy = derived(name, "energy_per_token");
      table.rows.push_back({rest_after(name, "train/"), cell(value(metrics, "seconds"), ReportUnit::seconds),
                            cell(value(metrics, "tokens_per_second"), ReportUnit::tokens_per_second),
                            cell(derived(name, "model_flops_utilisation"), ReportUnit::share),
                            cell(derived(name, "over_sum_of_ops"), ReportUnit::none),
                            cell(value(metrics, "planned_bytes"), ReportUnit::bytes),
                            cell(value(metrics, "allocated_bytes"), ReportUnit::bytes),
                            cell(energy, ReportUnit::none)});
      if (card_ != nullptr) {
        auto& row = table.rows.back();
        row.insert(row.begin() + 4, cell(share_of_published(metrics), ReportUnit::share));
      }
    }
    return table;
  }

  // A step's flops by second over what the card's maker says of products in that precision.
  std::optional<double> share_of_published(const Metrics& metrics) const {
    const auto seconds = metrics.find("seconds");
    const auto flops = value(metrics, "model_flops");
    if (seconds == metrics.end() || !flops || *seconds->second->value <= 0) return std::nullopt;
    const std::string& precision = seconds->second->precision;
    const auto element = precision == "fp8" ? std::optional(Element::fp8_e4m3) : parse_element(precision);
    const auto published = element ? peak(*card_, *element) : std::nullopt;
    if (!published) return std::nullopt;
    return *flops / *seconds->second->value / *published;
  }

  // Steps and serving: whatever has tokens has memory.
  static bool has_memory(const Metrics& metrics) {
    return metrics.count("tokens_per_second") > 0 && metrics.count("live_peak_bytes") > 0;
  }

  Table memory_table() const {
    Table table{
        "step_memory",
        "Memory of whole models, by who counts it",
        {"Case", "Alive", "Planned", "Allocated", "Beyond plan", "Reserved", "Device"},
        {},
        "Alive: tensors at the worst step. Planned: what placing them needs. Allocated: what was asked for, and "
        "how much of it no plan knew. Reserved: what the allocator holds for that. Device: what the device or "
        "the kernel counts for the whole process. Empty: not told here."};
    for (const auto& [name, metrics] : cases_) {
      if (!has_memory(metrics)) continue;
      std::vector<Cell> row{name};
      for (const char* metric : {"live_peak_bytes", "planned_bytes", "allocated_bytes",
                                 "allocated_beyond_planned_bytes", "reserved_bytes", "device_bytes"}) {
        row.push_back(cell(value(metrics, metric), ReportUnit::bytes));
      }
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  Table peak_table() const {
    Table table{"step_peaks",
                "What is alive when most is alive",
                {"Case"},
                {},
                "The moment: the step of the work that has most alive, and its phase."};
    std::vector<std::string> shown;  // metrics of the kinds that any case has
    for (const Category category : {Category::weight, Category::gradient, Category::optimizer, Category::activation,
                                    Category::kv_cache, Category::workspace, Category::input}) {
      const std::string metric = "live_peak_" + text(category) + "_bytes";
      if (std::none_of(cases_.begin(), cases_.end(), [&](const auto& one) { return one.second.count(metric) > 0; })) {
        continue;
      }
      shown.push_back(metric);
      table.columns.push_back(text(category));
    }
    table.columns.push_back("Moment");
    for (const auto& [name, metrics] : cases_) {
      const auto moment = metrics.find("live_peak_step");
      if (!has_memory(metrics) || moment == metrics.end()) continue;
      std::vector<Cell> row{name};
      for (const std::string& metric : shown) row.push_back(cell(value(metrics, metric), ReportUnit::bytes));
      row.push_back(fmt::format("{:.0f}, {}", *moment->second->value, moment->second->method));
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  Chart phase_chart() const {
    Chart chart;
    chart.id = "step_phases";
    chart.title = "Where the time of a training step goes";
    chart.kind = ChartKind::stacked_bar;
    chart.x.name = "step";
    chart.y = {"time", ReportUnit::seconds, false, {}};
    std::vector<const Metrics*> shown;
    for (const auto& [name, metrics] : cases_) {
      if (!is_step(name, metrics) || shown.size() >= 10) continue;
      chart.x.labels.push_back(rest_after(name, "train/"));
      shown.push_back(&metrics);
    }
    std::vector<std::string> said;
    for (const char* phase : phases) {
      Series series{phase, {}, {}, false};
      double most = 0;
      for (std::size_t i = 0; i < shown.size(); ++i) {
        const double seconds = value(*shown[i], std::string(phase) + "_seconds").value_or(0);
        series.x.push_back(static_cast<double>(i));
        series.y.push_back(seconds);
        most = std::max(most, seconds);
      }
      if (most == 0) continue;
      said.push_back(fmt::format("{} takes up to {}", phase, assay::shown(most, ReportUnit::seconds)));
      chart.series.push_back(std::move(series));
    }
    chart.caption = joined(said, "; ") + ". Each op timed by itself: the parts need not add up to the step's time.";
    return chart;
  }

  // "train/gpt2-124m/bf16/4x256": what stands before the micro-batch, and the micro-batch.
  struct Batch {
    std::string line;
    double size = 0;
  };
  static std::optional<Batch> batch_of(const std::string& name) {
    const std::size_t slash = name.rfind('/');
    if (slash == std::string::npos) return std::nullopt;
    char* end = nullptr;
    const double size = std::strtod(name.c_str() + slash + 1, &end);
    if (size <= 0 || *end != 'x') return std::nullopt;
    return Batch{name.substr(0, slash) + " of " + (end + 1) + " tokens", size};
  }

  Chart batch_chart() const {
    Chart chart;
    chart.id = "step_batches";
    chart.title = "Tokens a second by micro-batch, up to the largest that was measured";
    chart.kind = ChartKind::line;
    chart.x = {"sequences in a micro-batch", ReportUnit::none, true, {}};
    chart.y = {"rate", ReportUnit::tokens_per_second, false, {}};
    std::map<std::string, std::map<double, double>> lines;
    for (const auto& [name, metrics] : cases_) {
      const auto batch = batch_of(name);
      if (is_step(name, metrics) && batch) lines[batch->line][batch->size] = *value(metrics, "tokens_per_second");
    }
    std::vector<std::string> said;
    for (const auto& [name, points] : lines) {
      if (points.size() < 2) continue;
      Series series{rest_after(name, "train/"), {}, {}, true};
      for (const auto& [x, y] : points) {
        series.x.push_back(x);
        series.y.push_back(y);
      }
      const auto best = std::max_element(points.begin(), points.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      said.push_back(fmt::format("{} is fastest at {:.0f}", series.name, best->first));
      chart.series.push_back(std::move(series));
    }
    chart.caption = joined(said, "; ") + ".";
    return chart;
  }

  // Steps and losses of each precision that learned.
  std::map<std::string, std::map<int, double>> curves() const {
    std::map<std::string, std::map<int, double>> all;
    for (const auto& [name, metrics] : cases_) {
      if (name.rfind("train/learn/", 0) != 0) continue;
      for (const auto& [metric, row] : metrics) {
        const int step = std::atoi(rest_after(metric, "loss_after_").c_str());
        if (step > 0) all[rest_after(name, "train/learn/")][step] = *row->value;
      }
    }
    return all;
  }

  Chart loss_chart() const {
    Chart chart;
    chart.id = "loss_curves";
    chart.title = "A small model learns real text: its loss by step and precision";
    chart.kind = ChartKind::line;
    chart.x = {"steps", ReportUnit::none, false, {}};
    chart.y = {"loss in nats a byte", ReportUnit::none, false, {}};
    std::vector<std::string> said;
    for (const auto& [name, points] : curves()) {
      Series series{name, {}, {}, true};
      for (const auto& [step, loss] : points) {
        series.x.push_back(step);
        series.y.push_back(loss);
      }
      if (points.empty()) continue;
      said.push_back(fmt::format("{} goes from {:.3g} to {:.3g}", name, series.y.front(), series.y.back()));
      chart.series.push_back(std::move(series));
    }
    chart.caption = joined(said, "; ") + ".";
    return chart;
  }

  Table loss_table() const {
    Table table{"losses",
                "Loss after learning",
                {"Model and precision", "Steps", "Loss (nats a byte)", "Over FP32"},
                {},
                "The same seed, text and steps in every precision; a loss is the mean since the point before."};
    const auto all = curves();
    const auto exact = all.find("bytes/fp32");
    for (const auto& [name, points] : all) {
      if (points.empty()) continue;
      const auto [step, loss] = *points.rbegin();
      std::vector<Cell> row{name, quantity(step, ReportUnit::count), quantity(loss, ReportUnit::none)};
      const bool comparable = exact != all.end() && exact->second.count(step) > 0;
      row.push_back(comparable ? Cell(quantity(loss / exact->second.at(step), ReportUnit::none)) : Cell(std::string()));
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  Table serving_table() const {
    Table table{
        "serving",
        "Serving",
        {"Case", "To the first token", "A token after it", "Tokens a second", "Planned", "Allocated"},
        {},
        "Prefill reads a prompt of batch x context tokens; decode makes one token for each sequence with that many "
        "in its cache. Choosing a token from the logits is no part of it."};
    for (const auto& [name, metrics] : cases_) {
      if (name.rfind("infer/", 0) != 0 || metrics.count("tokens_per_second") == 0) continue;
      table.rows.push_back({rest_after(name, "infer/"),
                            cell(value(metrics, "seconds_to_first_token"), ReportUnit::seconds),
                            cell(value(metrics, "seconds_per_token"), ReportUnit::seconds),
                            cell(value(metrics, "tokens_per_second"), ReportUnit::tokens_per_second),
                            cell(value(metrics, "planned_bytes"), ReportUnit::bytes),
                            cell(value(metrics, "allocated_bytes"), ReportUnit::bytes)});
    }
    for (const auto& [name, metrics] : derived_) {
      const auto batch = value(metrics, "largest_batch_within_50_ms");
      if (batch && !table.rows.empty()) {
        table.note += fmt::format(" With 50 ms a token as the target, {} goes up to a batch of {:.0f}.", name, *batch);
      }
    }
    return table;
  }

  const Gpu* card_;  // null: nobody publishes a peak of it
  std::map<std::string, Metrics> cases_;
  std::map<std::string, Metrics> derived_;
};

}  // namespace

Section step_section(const std::vector<Run>& runs, const DeviceInfo& device) { return Steps(runs, device).section(); }

}  // namespace assay
