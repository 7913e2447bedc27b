// From a run and a model to a report.
// SPDX-License-Identifier: Apache-2.0
#include "reports/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "reports/asked_section.h"
#include "reports/duration.h"
#include "reports/estimate.h"
#include "reports/findings.h"
#include "reports/fitting.h"
#include "reports/memory.h"
#include "reports/phrase.h"
#include "reports/rates.h"
#include "reports/run_checklist.h"
#include "reports/run_sections.h"
#include "reports/verdict.h"
#include "reports/workload.h"

namespace assay {
namespace {

// Everything that is worked out before it is told.
struct Judgement {
  ModelSpec model;
  Workload workload;
  DeviceInfo device;
  Capacity capacity;
  MemoryBudget budget;
  Duration first, second;  // prompt and token, or the training step and nothing

  bool training() const { return workload.purpose == Purpose::training; }
  bool has_tokens() const { return model.kind == ModelKind::decoder && !training(); }
  double tokens() const { return static_cast<double>(workload.batch) * static_cast<double>(workload.context); }
};

Quantity rate(double amount, const Duration& duration, ReportUnit unit) {
  if (!duration.judged()) return unknown(unit, joined(duration.unpriced, "; "));
  return quantity(amount / duration.seconds, amount / duration.upper, amount / duration.lower, unit);
}

Quantity time(const Duration& duration) {
  if (!duration.judged()) return unknown(ReportUnit::seconds, joined(duration.unpriced, "; "));
  return quantity(duration.seconds, duration.lower, duration.upper, ReportUnit::seconds);
}

Quantity needed(const MemoryBudget& budget) {
  return quantity(budget.total(), budget.lower(), budget.upper(), ReportUnit::bytes);
}

Quantity available(const Capacity& capacity) {
  if (!capacity.bytes) return unknown(ReportUnit::bytes, capacity.source);
  return quantity(*capacity.bytes, ReportUnit::bytes);
}

Duration no_duration(const std::string& reason) {
  Duration none;
  none.unpriced.push_back(reason);
  return none;
}

void time_it(Judgement& judgement, const Rates& rates) {
  if (judgement.model.kind == ModelKind::convolution) {
    judgement.first =
        no_duration("this run measures no convolutions, so the time of " + judgement.model.title + " is not judged");
    return;
  }
  if (judgement.workload.layout.devices() > 1) {
    judgement.first =
        no_duration("the layout takes " + std::to_string(judgement.workload.layout.devices()) +
                    " devices and this run measured one at a time; assay plan prices them with their links");
    return;
  }
  try {
    if (judgement.training()) {
      judgement.first = duration(step_ops(judgement.model, judgement.workload), rates);
      return;
    }
    judgement.first = duration(prompt_ops(judgement.model, judgement.workload), rates);
    if (judgement.has_tokens()) judgement.second = duration(token_ops(judgement.model, judgement.workload), rates);
  } catch (const Error& error) {
    judgement.first = no_duration(error.what());
  }
}

std::vector<std::pair<std::string, Quantity>> headline(const Judgement& judgement) {
  std::vector<std::pair<std::string, Quantity>> lines;
  lines.emplace_back("memory needed", needed(judgement.budget));
  lines.emplace_back("memory there", available(judgement.capacity));
  if (judgement.capacity.bytes) {
    const Span need{judgement.budget.total(), judgement.budget.lower(), judgement.budget.upper()};
    lines.emplace_back("chance that it fits",
                       quantity(probability_of(need, *judgement.capacity.bytes), ReportUnit::share));
  }
  lines.emplace_back("parameters", quantity(static_cast<double>(parameters(judgement.model)), ReportUnit::count));
  if (judgement.training()) {
    lines.emplace_back("training step", time(judgement.first));
    if (judgement.model.kind != ModelKind::convolution)
      lines.emplace_back("training speed", rate(judgement.tokens(), judgement.first, ReportUnit::tokens_per_second));
  } else if (judgement.model.kind == ModelKind::decoder) {
    lines.emplace_back("prompt speed", rate(judgement.tokens(), judgement.first, ReportUnit::tokens_per_second));
    lines.emplace_back("decode speed", rate(static_cast<double>(judgement.workload.batch), judgement.second,
                                            ReportUnit::tokens_per_second));
  } else {
    lines.emplace_back("forward pass", time(judgement.first));
  }
  return lines;
}

Table budget_table(const Judgement& judgement) {
  Table table{
      "memory", "Memory budget " + judgement.budget.moment, {"Item", "Size", "How it comes about", "Origin"}, {}, ""};
  for (const MemoryItem& item : judgement.budget.items)
    table.rows.push_back(
        {item.name, quantity(item.bytes, item.lower, item.upper, ReportUnit::bytes), item.formula, item.origin});
  table.rows.push_back({"total", needed(judgement.budget), "sum of the items", ""});
  table.rows.push_back({"capacity", available(judgement.capacity), judgement.capacity.source, ""});
  if (judgement.capacity.bytes)
    table.rows.push_back({"left over",
                          quantity(*judgement.capacity.bytes - judgement.budget.total(),
                                   *judgement.capacity.bytes - judgement.budget.upper(),
                                   *judgement.capacity.bytes - judgement.budget.lower(), ReportUnit::bytes),
                          "capacity less total", ""});
  table.note =
      "1 GiB is 2^30 bytes. Intervals add up end to end: the upper bound is all items at their upper bound. The budget "
      "is one for all programs: --framework does not change it.";
  return table;
}

Table advice_table(const MemoryBudget& budget) {
  Table table{
      "memory_advice", "How to change and check each item", {"Item", "What changes it", "How to check it"}, {}, ""};
  for (const MemoryItem& item : budget.items) table.rows.push_back({item.name, item.changes, item.check});
  return table;
}

Chart budget_chart(const Judgement& judgement) {
  Chart chart;
  chart.id = "budget";
  chart.title = "Memory budget against capacity";
  chart.kind = ChartKind::stacked_bar;
  chart.x = {"", ReportUnit::none, false, {judgement.model.title}};
  chart.y = {"memory", ReportUnit::bytes, false, {}};
  for (const MemoryItem& item : judgement.budget.items) chart.series.push_back({item.name, {0}, {item.bytes}, false});
  if (judgement.capacity.bytes)
    chart.limits.emplace_back("capacity", quantity(*judgement.capacity.bytes, ReportUnit::bytes));
  chart.caption = shown_bytes(judgement.budget.total()) + " needed" +
                  (judgement.capacity.bytes ? ", " + shown_bytes(*judgement.capacity.bytes) + " there." : ".");
  return chart;
}

Table parameter_table(const ModelSpec& model) {
  Table table{"parameters", "Parameters", {"Item", "Parameters", "How they come about"}, {}, ""};
  for (const ParameterItem& item : parameter_items(model))
    table.rows.push_back({item.name, quantity(static_cast<double>(item.count), ReportUnit::count), item.formula});
  table.rows.push_back(
      {"total", quantity(static_cast<double>(parameters(model)), ReportUnit::count), "sum of the items"});
  if (model.experts)
    table.rows.push_back({"used for one token",
                          quantity(static_cast<double>(active_parameters(model)), ReportUnit::count),
                          "total less the experts that a token does not choose"});
  if (model.published_parameters)
    table.rows.push_back(
        {"published", quantity(static_cast<double>(*model.published_parameters), ReportUnit::count), model.source});
  table.note = model.note;
  return table;
}

Section memory_section(const Judgement& judgement, const Overheads& overheads) {
  Section section{"memory", "Memory", {}, {}, {}};
  section.tables = {budget_table(judgement), advice_table(judgement.budget), parameter_table(judgement.model)};
  if (judgement.capacity.bytes) {
    Table fitting = fitting_table(judgement.model, judgement.workload, overheads, *judgement.capacity.bytes);
    if (!fitting.rows.empty()) section.tables.insert(section.tables.begin() + 1, std::move(fitting));
  }
  section.charts.push_back(budget_chart(judgement));
  return section;
}

Table part_table(const std::string& id, const std::string& title, const Duration& duration) {
  Table table{id, title, {"Part", "Time", "Share", "How it is known", "Its longest op by"}, {}, ""};
  for (const PartTime& part : duration.parts)
    table.rows.push_back({part.part, quantity(part.seconds, part.lower, part.upper, ReportUnit::seconds),
                          quantity(duration.seconds > 0 ? part.seconds / duration.seconds : 0, ReportUnit::share),
                          origins(part.by_origin), part.because});
  table.rows.push_back({"total", quantity(duration.seconds, duration.lower, duration.upper, ReportUnit::seconds),
                        quantity(1, ReportUnit::share), origins(duration.by_origin), ""});
  if (!duration.unpriced.empty())
    table.note = fmt::format("Not judged: {} of the flops. ", shown(duration.unpriced_share(), ReportUnit::share)) +
                 joined(duration.unpriced, "; ");
  return table;
}

Table speed_table(const Judgement& judgement) {
  Table table{"speed", "Speed", {"What", "Value"}, {}, ""};
  const auto tokens = [&](const std::string& name, double amount, const Duration& duration) {
    table.rows.push_back({name, rate(amount, duration, ReportUnit::tokens_per_second)});
  };
  const double batch = static_cast<double>(judgement.workload.batch);
  if (judgement.training()) {
    table.rows.push_back({"training step", time(judgement.first)});
    if (judgement.model.kind != ModelKind::convolution) tokens("training", judgement.tokens(), judgement.first);
  } else {
    table.rows.push_back({judgement.has_tokens() ? "time to the first token" : "forward pass", time(judgement.first)});
    if (judgement.model.kind != ModelKind::convolution) tokens("prompt", judgement.tokens(), judgement.first);
    if (judgement.has_tokens()) {
      table.rows.push_back({"time a token", time(judgement.second)});
      tokens("decode, all sequences together", batch, judgement.second);
      tokens("decode, one sequence", 1, judgement.second);
    }
  }
  table.note =
      "Ops one after the other with nothing between them; a real engine adds its own overhead. Attention is "
      "priced as its products and softmax; the lower bound skips what a causal mask hides.";
  return table;
}

Section speed_section(const Judgement& judgement) {
  Section section{"speed", "Speed", {}, {}, {}};
  section.tables.push_back(speed_table(judgement));
  const std::string title = judgement.training() ? "One training step" : "The prompt";
  if (!judgement.first.parts.empty()) section.tables.push_back(part_table("first_parts", title, judgement.first));
  if (!judgement.second.parts.empty())
    section.tables.push_back(part_table("second_parts", "One token of every sequence", judgement.second));
  return section;
}

void find_about_model(const Judgement& judgement, std::vector<Finding>& findings) {
  const ModelSpec& model = judgement.model;
  if (model.kind != ModelKind::convolution && model.context > 0 && judgement.workload.context > model.context)
    findings.push_back({Severity::warning,
                        fmt::format("{} was made for {} tokens; a context of {} is beyond that.", model.title,
                                    grouped(static_cast<double>(model.context)),
                                    grouped(static_cast<double>(judgement.workload.context))),
                        "context in " + model.source, "its answers may be poor there"});
  if (bits(judgement.workload.weights.element) < 16 || bits(judgement.workload.kv.element) < 16)
    findings.push_back({Severity::warning, "A change of precision changes answers: check the outputs.", "",
                        "the task's own scores in both formats"});
  if (judgement.workload.layout.devices() > 1)
    findings.push_back({Severity::info,
                        "Several devices are not one memory: the model is shared out and the links carry part of the "
                        "work.",
                        "memory is that of the fullest device", ""});
  const Capacity& room = judgement.capacity;
  // A survey takes a good part of the memory and looks at the rest; where it got but little, its word is worth less.
  if (room.proved && *room.proved < *room.bytes / 4 && judgement.budget.upper() > *room.proved)
    findings.push_back({Severity::warning,
                        fmt::format("Of the {} there only {} were really taken; the rest is the system's promise.",
                                    shown_bytes(*room.bytes), shown_bytes(*room.proved)),
                        room.source, "assay run --filter capacity on an idle machine"});
  for (const Duration* duration : {&judgement.first, &judgement.second}) {
    if (duration->unpriced.empty()) continue;
    findings.push_back({Severity::info,
                        duration->judged() ? "A small part of the time is not judged." : "The speed is not judged.",
                        joined(duration->unpriced, "; "), "assay run measures what is missing, if the device can"});
    break;
  }
}

void add_sections(Report& report, const Judgement& judgement, const std::vector<Run>& runs, const Rates& rates,
                  const Overheads& overheads) {
  report.sections.push_back(memory_section(judgement, overheads));
  report.sections.push_back(speed_section(judgement));
  if (auto asked = asked_section(runs, judgement.device, judgement.model, judgement.workload, rates, overheads))
    report.sections.push_back(std::move(*asked));
  for (Section& section : measured_sections(runs, judgement.device, rates))
    report.sections.push_back(std::move(section));
  report.sections.push_back(machine_section(runs, judgement.device));
  report.sections.push_back(trouble_section(runs, judgement.device));
  report.sections.push_back(checklist_section(
      run_answers(runs, judgement.device, judgement.model, judgement.workload, judgement.budget, judgement.capacity)));
}

}  // namespace

Report judge(const std::vector<Run>& runs, const ModelSpec& model, const Workload& wanted, const std::string& device) {
  Judgement judgement;
  judgement.model = model;
  judgement.workload = resolve(wanted, model);
  judgement.device = chosen_device(runs, device);
  judgement.capacity = capacity(runs, judgement.device);
  const Overheads extra = overheads(runs, judgement.device);
  const Rates rates(runs, judgement.device.id);
  judgement.budget = memory_budget(model, judgement.workload, extra);
  time_it(judgement, rates);

  Report report;
  report.title = model.title + ": " + describe(judgement.workload, model);
  report.subtitle = subtitle(runs, judgement.device);
  report.verdict = verdict(model, judgement.workload, judgement.budget, judgement.capacity, extra);
  report.headline = headline(judgement);
  report.findings = run_findings(runs, judgement.device, rates);
  find_about_model(judgement, report.findings);
  sort_by_severity(report.findings);
  add_sections(report, judgement, runs, rates, extra);
  report.provenance = provenance(runs, judgement.device);
  report.provenance.emplace_back("model", model.title + (model.source.empty() ? "" : ", " + model.source));
  return report;
}

}  // namespace assay
