// One model on one card, and one card for every model.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "reports/checklist.h"
#include "reports/findings.h"
#include "reports/fitting.h"
#include "reports/phrase.h"
#include "reports/plan.h"
#include "reports/plan_sections.h"
#include "reports/spread.h"
#include "reports/verdict.h"
#include "reports/workload.h"

namespace assay {
namespace {

Table memory_table(const Demand& demand, const CardEstimate& card) {
  Table table{
      "memory", "Memory budget " + demand.budget.moment, {"Item", "Size", "How it comes about", "Origin"}, {}, ""};
  for (const MemoryItem& item : demand.budget.items)
    table.rows.push_back(
        {item.name, quantity(item.bytes, item.lower, item.upper, ReportUnit::bytes), item.formula, item.origin});
  if (card.cards > 1)
    table.rows.push_back({fmt::format("on the fullest of {}", card.cards), shown_span(card.needed, ReportUnit::bytes),
                          "sum of the items; shared out by " + describe(demand.workload.layout), ""});
  else
    table.rows.push_back({"total", shown_span(card.needed, ReportUnit::bytes), "sum of the items", ""});
  table.rows.push_back(
      {"usable", quantity(card.usable, ReportUnit::bytes), usable_memory_words(*card.gpu), "published"});
  return table;
}

Chart memory_chart(const Demand& demand, const CardEstimate& card) {
  Chart chart;
  chart.id = "budget";
  chart.title = "Memory budget against the card";
  chart.kind = ChartKind::stacked_bar;
  chart.x = {"", ReportUnit::none, false, {demand.model.title}};
  chart.y = {"memory", ReportUnit::bytes, false, {}};
  for (const MemoryItem& item : demand.budget.items) chart.series.push_back({item.name, {0}, {item.bytes}, false});
  chart.limits.emplace_back("usable", quantity(card.usable, ReportUnit::bytes));
  chart.caption = shown_bytes(demand.budget.total()) + " needed, " + shown_bytes(card.usable) + " usable" +
                  (card.cards == 1 ? "." : ", on each card.");
  return chart;
}

Table speed_table(const Demand& demand, const CardEstimate& card) {
  Table table{"speed", "Speed", {"What", "Value"}, {}, ""};
  if (!card.speed) {
    table.note = demand.no_speed.empty() ? "The card's peaks are not published, so the speed is not judged."
                                         : "Not judged: " + demand.no_speed;
    return table;
  }
  const std::string name = demand.training()  ? "training"
                           : demand.decodes() ? "decode, all sequences together"
                                              : "one pass";
  table.rows.push_back({name, shown_span(*card.speed, ReportUnit::tokens_per_second)});
  if (demand.decodes()) {
    const double batch = static_cast<double>(demand.workload.batch);
    table.rows.push_back(
        {"time a token", shown_span({batch / card.speed->middle, batch / card.speed->upper, batch / card.speed->lower},
                                    ReportUnit::seconds)});
  }
  if (card.prompt)
    table.rows.push_back(
        {demand.decodes() ? "time to the first token" : "one pass", shown_span(*card.prompt, ReportUnit::seconds)});
  if (demand.decodes()) {
    constexpr double reading_pace = 0.05;  // seconds a token: faster than people read
    const auto batch = largest_batch_within(demand, *card.gpu, card.cards, reading_pace);
    table.rows.push_back({"largest batch within 50 ms a token",
                          batch ? Cell(quantity(static_cast<double>(*batch), ReportUnit::count)) : Cell("none")});
  }
  if (card.per_million)
    table.rows.push_back({"cost of a million tokens", shown_span(*card.per_million, ReportUnit::dollars)});
  if (card.joules_per_token)
    table.rows.push_back({"energy a token, at the socket", quantity(*card.joules_per_token, ReportUnit::joules)});
  table.note =
      "From published rates and what " + text(demand.workload.framework) +
      " and its like make of them (docs/prediction.md); nine published readings in ten lie inside the interval.";
  return table;
}

Verdict pair_verdict(const Demand& demand, const CardEstimate& card) {
  Overheads overheads;
  overheads.processor = false;
  const Capacity there{card.usable, usable_memory_words(*card.gpu), {}};
  Verdict verdict = assay::verdict(demand.model, demand.workload, demand.budget, there, overheads);
  verdict.answer = card.answer;
  const std::string what = demand.model.title + " (" + describe(demand.workload, demand.model) + ")";
  const std::string on = (card.cards == 1 ? "" : std::to_string(card.cards) + " x ") + card.gpu->name;
  const std::string room = fmt::format(
      "{} needed{}, {} usable, {} that it fits", show(shown_span(card.needed, ReportUnit::bytes)),
      card.cards == 1 ? "" : " on each", shown_bytes(card.usable), shown(card.probability, ReportUnit::share));
  if (card.unsupported) {
    verdict.sentence = fmt::format("{} does not fit {}: unsupported: {}.", what, on, card.support);
    verdict.deciding_term = "no software stack takes " + demand.format + " weights on " + card.gpu->capability;
    return verdict;
  }
  verdict.sentence = fmt::format("{} {} {}: {}.", what,
                                 card.answer == Answer::tight  ? "is tight on"
                                 : card.answer == Answer::fits ? "fits"
                                                               : "does not fit",
                                 on, room);
  if (card.answer != Answer::fits && card.cards_needed)
    verdict.changes.insert(
        verdict.changes.begin() + (verdict.changes.empty() ? 0 : 1),
        fmt::format(
            "share it out over {} cards: fits; several cards are not one memory, the links carry part of the work",
            *card.cards_needed));
  return verdict;
}

void find_oversized(const Demand& demand, const CardEstimate& card, const PlanOptions& options, Report& report) {
  if (card.answer != Answer::fits || !card.cost || options.money.rent || options.money.purchase) return;
  const CardEstimate* cheaper = nullptr;
  const auto all = plan_cards(demand, options);
  for (const CardEstimate& other : all) {
    if (other.answer != Answer::fits || other.unsupported || !other.cost ||
        other.cost->typical >= card.cost->typical * 0.9)
      continue;
    if (cheaper == nullptr || other.cost->typical < cheaper->cost->typical) cheaper = &other;
  }
  if (cheaper == nullptr) return;
  report.findings.push_back(
      {Severity::info,
       fmt::format("oversized: it also fits on {}, which costs {} an hour instead of {}.", cheaper->gpu->name,
                   shown(cheaper->cost->typical, ReportUnit::dollars), shown(card.cost->typical, ReportUnit::dollars)),
       cheaper->cost->origin + "; here: " + card.cost->origin,
       "the larger card leaves room to grow and is mostly faster; compare the cost of a million tokens"});
}

void find_cautions(const Demand& demand, const CardEstimate& card, Report& report) {
  if (bits(demand.workload.weights.element) < 16)
    report.findings.push_back({Severity::warning,
                               "A change of precision changes answers: check the outputs in " + demand.format + ".", "",
                               "the task's own scores in both formats"});
  if (card.cards > 1)
    report.findings.push_back(
        {Severity::info,
         "Several cards are not one memory: the model is shared out and the links carry part of the work.",
         card.gpu->link.empty() ? "these cards have no link but the host's" : card.gpu->link, ""});
  if (card.gpu->kind == GpuClass::consumer)
    report.findings.push_back(
        {Severity::info, "A consumer card: ECC " + text(card.gpu->ecc) + ".",
         card.gpu->fp16_accumulate && card.gpu->fp16 && *card.gpu->fp16_accumulate > *card.gpu->fp16 * 1.5
             ? "FP16 products summed in FP32 run at half the rate of those summed in FP16"
             : "",
         "ask the seller what use its licence and warranty allow"});
  if (card.gpu->confidence == "C")
    report.findings.push_back(
        {Severity::warning, "The figures of this card are from weak sources only.", joined(card.gpu->sources), ""});
}

ChecklistAnswers answers(const Demand& demand, const CardEstimate& card) {
  ChecklistAnswers filled;
  filled.architecture = card.gpu->capability + (card.unsupported ? ": unsupported" : ": " + card.support);
  std::vector<std::string> items;
  for (const MemoryItem& item : demand.budget.items) items.push_back(item.name + " " + shown_bytes(item.bytes));
  filled.budget = joined(items, "; ");
  filled.peak = "predicted " + show(shown_span(card.needed, ReportUnit::bytes)) + "; not measured";
  filled.memory = shown_bytes(card.gpu->memory) + " as sold; not confirmed";
  filled.links = card.gpu->link.empty() ? "host link only, " + card.gpu->host_link : card.gpu->link;
  if (card.power)
    filled.power =
        shown(card.power->facility, ReportUnit::watts) + " at the socket with host and cooling; not confirmed";
  if (card.cost) filled.price = shown(card.cost->typical, ReportUnit::dollars) + " an hour (" + card.cost->origin + ")";
  return filled;
}

}  // namespace

Report plan_pair(const Demand& demand, const Gpu& gpu, const PlanOptions& options) {
  check(options.money);
  const CardEstimate card = estimate(demand, gpu, options.cards, options.money);
  Report report;
  report.title =
      demand.model.title + " on " + (options.cards == 1 ? "" : std::to_string(options.cards) + " x ") + gpu.name;
  report.subtitle = describe(demand.workload, demand.model) + "; planned, nothing here was measured";
  report.verdict = pair_verdict(demand, card);
  report.headline.emplace_back(card.cards == 1 ? "memory needed" : "memory on each",
                               shown_span(card.needed, ReportUnit::bytes));
  report.headline.emplace_back("memory usable", quantity(card.usable, ReportUnit::bytes));
  report.headline.emplace_back("chance that it fits",
                               quantity(card.unsupported ? 0 : card.probability, ReportUnit::share));
  if (card.speed)
    report.headline.emplace_back(demand.training()  ? "training speed"
                                 : demand.decodes() ? "decode speed"
                                                    : "speed",
                                 shown_span(*card.speed, ReportUnit::tokens_per_second));
  if (card.per_million)
    report.headline.emplace_back("a million tokens", shown_span(*card.per_million, ReportUnit::dollars));
  if (card.cards_needed && *card.cards_needed != card.cards)
    report.headline.emplace_back("cards needed", quantity(*card.cards_needed, ReportUnit::count));
  find_oversized(demand, card, options, report);
  find_cautions(demand, card, report);
  sort_by_severity(report.findings);

  Section memory{"memory", "Memory", {}, {memory_table(demand, card)}, {memory_chart(demand, card)}};
  Overheads overheads;
  overheads.processor = false;
  const Table fitting = fitting_table(demand.model, demand.workload, overheads, card.usable);
  if (!fitting.rows.empty()) memory.tables.push_back(fitting);
  Section speed{
      "speed", "Speed and cost", {money_words(options)}, {speed_table(demand, card), money_table({card}, 1)}, {}};
  if (options.tokens) speed.tables.push_back(run_table(demand, card, options));
  const Chart batches = batch_chart(demand, gpu, options.cards);
  if (!batches.series.empty()) speed.charts.push_back(batches);
  report.sections = {
      memory, speed,
      Section{"machine", "The whole machine", {}, {machine_table(demand, card), stack_table({card}, 1)}, {}},
      power_section(gpu, options), checklist_section(answers(demand, card))};
  report.provenance = plan_provenance(options);
  report.provenance.emplace_back("card", gpu.name + ", confidence " + gpu.confidence + ": " + joined(gpu.sources, " "));
  report.provenance.emplace_back("model",
                                 demand.model.title + (demand.model.source.empty() ? "" : ", " + demand.model.source));
  return report;
}

Report plan_card(const Gpu& gpu, const Workload& workload, const PlanOptions& options) {
  check(options.money);
  Report report;
  report.title = "What fits " + std::string(options.cards == 1 ? "" : std::to_string(options.cards) + " x ") + gpu.name;
  report.subtitle = fmt::format("{}, {}, {}; planned, nothing here was measured", gpu.architecture, text(gpu.kind),
                                shown_bytes(gpu.memory));
  Table table{"models", "", {"Model", "Fits", "Needed", "Cards", "Speed", "USD a million"}, {}, ""};
  int fitting = 0, judged = 0;
  std::string largest;
  double most = 0;
  for (const ModelSpec& model : builtin_models()) {
    std::optional<Demand> one;
    try {
      one = demand(model, workload, options.cards);
    } catch (const BadInput& refused) {
      table.rows.push_back(
          {model.name, Answer::not_judged, std::string(), std::string(), std::string(), refused.what()});
      continue;
    }
    const CardEstimate card = estimate(*one, gpu, options.cards, options.money);
    ++judged;
    if (card.answer == Answer::fits) {
      ++fitting;
      const double size = static_cast<double>(parameters(model));
      if (size > most) most = size, largest = model.title;
    }
    table.rows.push_back(
        {model.name, card.answer, quantity(card.needed.middle, ReportUnit::bytes),
         card.cards_needed ? Cell(quantity(*card.cards_needed, ReportUnit::count)) : Cell("over 64"),
         card.speed ? Cell(quantity(card.speed->middle, ReportUnit::tokens_per_second)) : Cell("unknown"),
         card.per_million ? Cell(quantity(card.per_million->middle, ReportUnit::dollars)) : Cell("no price")});
  }
  Verdict verdict;
  verdict.answer = fitting > 0 ? Answer::fits : judged > 0 ? Answer::does_not_fit : Answer::not_judged;
  verdict.sentence = fmt::format("{} of {} built-in models fit{}.", fitting, judged,
                                 largest.empty() ? "" : ", the largest is " + largest);
  verdict.deciding_term = shown_bytes(usable_memory(gpu)) + " usable: " + usable_memory_words(gpu);
  report.verdict = verdict;
  report.headline = {{"memory usable", quantity(usable_memory(gpu), ReportUnit::bytes)}};
  if (gpu.bandwidth)
    report.headline.emplace_back("memory bandwidth", quantity(*gpu.bandwidth, ReportUnit::bytes_per_second));
  if (gpu.fp16) report.headline.emplace_back("FP16, dense", quantity(*gpu.fp16, ReportUnit::flops_per_second));
  report.sections.push_back({"models", "The built-in models", {money_words(options)}, {table}, {}});
  report.sections.push_back(power_section(gpu, options));
  report.provenance = plan_provenance(options);
  report.provenance.emplace_back("card", gpu.name + ", confidence " + gpu.confidence + ": " + joined(gpu.sources, " "));
  return report;
}

}  // namespace assay
