// One model over the catalogue, and every model over it.
// SPDX-License-Identifier: Apache-2.0
#include "reports/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/phrase.h"
#include "reports/plan_sections.h"
#include "reports/workload.h"

namespace assay {
namespace {

constexpr std::size_t shown_in_detail = 12;

// 0: fits, 1: tight, 2: does not, but more cards do, 3: does not, 4: no supported path.
int group(const CardEstimate& card) {
  if (card.unsupported) return 4;
  switch (card.answer) {
    case Answer::fits:
      return 0;
    case Answer::tight:
      return 1;
    case Answer::does_not_fit:
    case Answer::not_judged:
      break;
  }
  return card.cards_needed ? 2 : 3;
}

constexpr double unknown_measure = 1e300;  // behind all others

// Smaller is better.
double measure(const CardEstimate& card, PlanRank rank) {
  switch (rank) {
    case PlanRank::cost:
      return card.per_million ? card.per_million->middle : unknown_measure;
    case PlanRank::fit:
      return -card.probability * 1e3 - card.usable / 1e12;
    case PlanRank::speed:
      return card.speed ? -card.speed->middle : unknown_measure;
    case PlanRank::power:
      return card.joules_per_token ? *card.joules_per_token : unknown_measure;
  }
  return unknown_measure;
}

std::string group_of_cards(int cards) { return cards == 1 ? "one card" : std::to_string(cards) + " cards"; }

// Speed against the price of an hour, one series a class: the upper left is where one wants to be.
Chart value_chart(const std::vector<CardEstimate>& cards) {
  Chart chart;
  chart.id = "value";
  chart.title = "Speed against the price of an hour";
  chart.kind = ChartKind::scatter;
  chart.x = {"USD an hour", ReportUnit::dollars, false, {}};
  chart.y = {"speed", ReportUnit::tokens_per_second, false, {}};
  for (const GpuClass kind : {GpuClass::server, GpuClass::workstation, GpuClass::consumer}) {
    Series series{text(kind), {}, {}, false};
    for (const CardEstimate& card : cards) {
      if (card.gpu->kind != kind || group(card) > 1 || !card.cost || !card.speed) continue;
      series.x.push_back(card.cost->typical);
      series.y.push_back(card.speed->middle);
    }
    if (!series.x.empty()) chart.series.push_back(series);
  }
  chart.caption = "Cards that fit or are tight and have a price; the steeper from the origin, the cheaper a token.";
  return chart;
}

Table ranking(const std::vector<CardEstimate>& cards, const std::string& id, const std::string& title,
              std::size_t most) {
  Table table{id, title, {"Card", "Fits", "Cards", "Speed", "USD a million", "Class"}, {}, ""};
  for (const CardEstimate& card : cards) {
    if (table.rows.size() == most) break;
    std::vector<Cell> row{card.gpu->name, card.answer};
    if (card.unsupported) row[1] = std::string("✗ unsupported");
    row.emplace_back(card.cards_needed ? Cell(quantity(*card.cards_needed, ReportUnit::count)) : Cell("over 64"));
    row.emplace_back(card.speed ? Cell(quantity(card.speed->middle, ReportUnit::tokens_per_second)) : Cell("unknown"));
    row.emplace_back(card.per_million ? Cell(quantity(card.per_million->middle, ReportUnit::dollars))
                                      : Cell("no price"));
    row.emplace_back(text(card.gpu->kind));
    table.rows.push_back(row);
  }
  table.note =
      "Cards: the least number, doubling, on which even the upper bound fits; several cards are not one memory, the "
      "model "
      "must be shared out among them. Speed and cost are for the number of cards asked about, whether it fits or not.";
  return table;
}

const CardEstimate* best(const std::vector<CardEstimate>& cards, PlanRank rank) {
  const CardEstimate* found = nullptr;
  for (const CardEstimate& card : cards) {
    if (group(card) != 0 || measure(card, rank) >= unknown_measure) continue;
    if (found == nullptr || measure(card, rank) < measure(*found, rank)) found = &card;
  }
  return found;
}

std::string in_short(const CardEstimate& card) {
  std::string words = card.gpu->name;
  if (card.speed) words += ", " + shown(card.speed->middle, ReportUnit::tokens_per_second);
  if (card.per_million)
    words += fmt::format(", {} a million tokens", shown(card.per_million->middle, ReportUnit::dollars));
  if (card.power) words += ", " + shown(card.power->cards, ReportUnit::watts);
  return words;
}

Verdict verdict_over(const Demand& demand, const std::vector<CardEstimate>& cards, const PlanOptions& options) {
  const auto count = [&](int wanted) {
    return std::count_if(cards.begin(), cards.end(), [&](const CardEstimate& card) { return group(card) == wanted; });
  };
  const auto fitting = count(0), tight = count(1), unsupported = count(4);
  Verdict verdict;
  verdict.answer = fitting > 0 ? Answer::fits : tight > 0 ? Answer::tight : Answer::does_not_fit;
  const Span need = memory_on_each(demand, options.cards);
  verdict.sentence = fmt::format("{} needs {} on {}: {} of {} cards hold it, {} are tight, {} have no supported path.",
                                 demand.model.title, show(shown_span(need, ReportUnit::bytes)),
                                 options.cards == 1 ? "one card" : "each of " + group_of_cards(options.cards), fitting,
                                 cards.size(), tight, unsupported);
  const MemoryItem& largest = demand.budget.largest();
  verdict.deciding_term = fmt::format("{}: {} of the {} needed on a card", largest.name, shown_bytes(largest.bytes),
                                      shown_bytes(demand.budget.total()));
  if (fitting == 0) {
    const CardEstimate* fewest = nullptr;
    for (const CardEstimate& card : cards)
      if (group(card) == 2 && (fewest == nullptr || *card.cards_needed < *fewest->cards_needed)) fewest = &card;
    if (fewest != nullptr)
      verdict.changes.push_back(fmt::format("share it out: {} x {}", *fewest->cards_needed, fewest->gpu->name));
  }
  return verdict;
}

void add_bests(Report& report, const std::vector<CardEstimate>& cards) {
  const std::vector<std::pair<const char*, PlanRank>> wanted{
      {"Cheapest a token", PlanRank::cost}, {"Fastest", PlanRank::speed}, {"Least energy a token", PlanRank::power}};
  for (const auto& [name, rank] : wanted) {
    const CardEstimate* card = best(cards, rank);
    if (card == nullptr) continue;
    report.findings.push_back({Severity::good, fmt::format("{}: {}.", name, in_short(*card)), card->support,
                               "assay plan --model ... --gpu '" + card->gpu->name + "'"});
  }
}

}  // namespace

std::vector<CardEstimate> plan_cards(const Demand& demand, const PlanOptions& options) {
  std::vector<CardEstimate> cards;
  for (const Gpu& gpu : builtin_gpus()) cards.push_back(estimate(demand, gpu, options.cards, options.money));
  std::stable_sort(cards.begin(), cards.end(), [&](const CardEstimate& a, const CardEstimate& b) {
    return std::pair(group(a), measure(a, options.rank)) < std::pair(group(b), measure(b, options.rank));
  });
  return cards;
}

Report plan_catalogue(const Demand& demand, const PlanOptions& options) {
  check(options.money);
  const auto cards = plan_cards(demand, options);
  Report report;
  report.title = demand.model.title + ": " + describe(demand.workload, demand.model);
  report.subtitle =
      fmt::format("planned over {} cards, {} at a time; nothing here was measured", cards.size(), options.cards);
  report.verdict = verdict_over(demand, cards, options);
  report.headline.emplace_back("memory needed", shown_span(memory_on_each(demand, options.cards), ReportUnit::bytes));
  report.headline.emplace_back("parameters",
                               quantity(static_cast<double>(parameters(demand.model)), ReportUnit::count));
  add_bests(report, cards);
  if (!demand.no_speed.empty())
    report.findings.push_back({Severity::info, "The speed is not judged.", demand.no_speed, ""});
  Section best_cards{"cards", "The cards, best first", {money_words(options)}, {}, {}};
  best_cards.tables.push_back(ranking(cards, "best", "The best " + std::to_string(shown_in_detail), shown_in_detail));
  const Chart value = value_chart(cards);
  if (!value.series.empty()) best_cards.charts.push_back(value);
  report.sections.push_back(best_cards);
  Section money{"money", "Money, power and software of the best", {}, {}, {}};
  money.tables = {money_table(cards, shown_in_detail), stack_table(cards, shown_in_detail)};
  report.sections.push_back(money);
  report.sections.push_back({"all", "All cards", {}, {ranking(cards, "cards", "", cards.size())}, {}});
  report.provenance = plan_provenance(options);
  report.provenance.emplace_back("model",
                                 demand.model.title + (demand.model.source.empty() ? "" : ", " + demand.model.source));
  return report;
}

Report plan_everything(const Workload& workload, const PlanOptions& options) {
  check(options.money);
  Report report;
  report.title = "Every built-in model over the catalogue";
  report.subtitle = fmt::format("{} models, {} cards, {} at a time; nothing here was measured", builtin_models().size(),
                                builtin_gpus().size(), options.cards);
  Table table{"models", "", {"Model", "Needed", "Fit on", "Cheapest a token", "Fastest"}, {}, ""};
  for (const ModelSpec& model : builtin_models()) {
    const Demand one = demand(model, workload, options.cards);
    const auto cards = plan_cards(one, options);
    const auto fitting =
        std::count_if(cards.begin(), cards.end(), [](const CardEstimate& card) { return group(card) == 0; });
    const CardEstimate* cheapest = best(cards, PlanRank::cost);
    const CardEstimate* fastest = best(cards, PlanRank::speed);
    table.rows.push_back({model.name, quantity(memory_on_each(one, options.cards).middle, ReportUnit::bytes),
                          fmt::format("{} of {}", fitting, cards.size()),
                          cheapest != nullptr ? cheapest->gpu->name : "none",
                          fastest != nullptr ? fastest->gpu->name : "none"});
  }
  report.sections.push_back({"models", "Models", {money_words(options)}, {table}, {}});
  report.provenance = plan_provenance(options);
  return report;
}

}  // namespace assay
