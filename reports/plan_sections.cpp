// The parts that plans have in common.
// SPDX-License-Identifier: Apache-2.0
#include "reports/plan_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/phrase.h"
#include "reports/spread.h"
#include "reports/workload.h"

namespace assay {
namespace {

Cell dollars(const std::optional<HourlyCost>& cost) {
  if (!cost) return unknown(ReportUnit::dollars, "no price is given or published");
  return quantity(cost->typical, cost->low, cost->high, ReportUnit::dollars);
}

Workload with(const Workload& workload, std::int64_t batch, std::int64_t context) {
  Workload changed = workload;
  changed.batch = batch;
  changed.context = context;
  return changed;
}

Answer fits_with(const Demand& base, const Gpu& gpu, int cards, std::int64_t batch, std::int64_t context) {
  Overheads overheads;
  overheads.processor = false;
  const MemoryBudget needed =
      memory_budget(base.model, shared_out(with(base.workload, batch, context), cards), overheads);
  const double usable = usable_memory(gpu);
  if (needed.upper() <= usable) return Answer::fits;
  return needed.lower() > usable ? Answer::does_not_fit : Answer::tight;
}

// What a checkpoint holds: the weights, and in training the optimizer's state with its own copy of them.
double checkpoint_bytes(const Demand& demand) {
  double bytes = 0;
  for (const MemoryItem& item : demand.whole.items)
    if (item.name.find("weights") != std::string::npos || item.name.find("optimizer") != std::string::npos ||
        item.name.find("master") != std::string::npos || item.name.find("adapter") != std::string::npos)
      bytes += item.bytes;
  return bytes;
}

double weight_bytes(const Demand& demand) {
  double bytes = 0;
  for (const MemoryItem& item : demand.whole.items)
    if (item.name.find("weights") != std::string::npos) bytes += item.bytes;
  return bytes;
}

}  // namespace

Quantity shown_span(const Span& span, ReportUnit unit) { return quantity(span.middle, span.lower, span.upper, unit); }

std::string money_words(const PlanOptions& options) {
  const MoneyInput& money = options.money;
  std::string prices = "Prices are published ranges of the dates beside them, no offers; give your own with --price.";
  if (money.buy)
    prices = fmt::format("Purchase prices are published ones of the dates beside them, over {:g} years.", money.years);
  if (money.rent) prices = fmt::format("The price is given: {:g} USD a card and hour.", *money.rent);
  if (!money.rent && money.purchase)
    prices =
        fmt::format("The purchase price is given: {:g} USD a card, over {:g} years.", *money.purchase, money.years);
  return fmt::format(
      "{} Power is the makers' limit, with {:.0f} % for the host and {:.0f} % on top for cooling (30 to 40 % are "
      "published "
      "for each); electricity at {:g} USD/kWh; work in {:.0f} % of the paid hours.",
      prices, money.host_overhead * 100, money.cooling_overhead * 100, money.energy_price, money.duty * 100);
}

Table money_table(const std::vector<CardEstimate>& cards, std::size_t most) {
  Table table{
      "money", "Price and power", {"Card", "USD an hour", "At the socket", "Energy a token", "Price from"}, {}, ""};
  for (const CardEstimate& card : cards) {
    if (table.rows.size() == most) break;
    table.rows.push_back({card.gpu->name, dollars(card.cost),
                          card.power ? Cell(quantity(card.power->facility, ReportUnit::watts))
                                     : Cell(unknown(ReportUnit::watts, "not published")),
                          card.joules_per_token ? Cell(quantity(*card.joules_per_token, ReportUnit::joules)) : Cell(""),
                          card.cost ? card.cost->origin : "nobody's"});
  }
  return table;
}

Table stack_table(const std::vector<CardEstimate>& cards, std::size_t most) {
  Table table{"stacks", "Software that takes it", {"Card", "Class", "ECC", "Stacks, or why none"}, {}, ""};
  for (const CardEstimate& card : cards) {
    if (table.rows.size() == most) break;
    table.rows.push_back({card.gpu->name, text(card.gpu->kind), text(card.gpu->ecc),
                          (card.unsupported ? "unsupported: " : "") + card.support});
  }
  table.note =
      "Consumer cards: ECC mostly absent, no link but the host's, FP16 sums in FP32 at half the rate of FP16 sums.";
  return table;
}

Table run_table(const Demand& demand, const CardEstimate& card, const PlanOptions& options) {
  Table table{"run", fmt::format("{} tokens", grouped(options.tokens.value_or(0))), {"What", "Value"}, {}, ""};
  if (!options.tokens || !card.speed) return table;
  const Span& speed = *card.speed;
  const double tokens = *options.tokens, duty = options.money.duty;
  const Span time{tokens / speed.middle / duty, tokens / speed.upper / duty, tokens / speed.lower / duty};
  table.rows.push_back({demand.training() ? "time to train" : "time", shown_span(time, ReportUnit::seconds)});
  if (card.per_million)
    table.rows.push_back(
        {"cost", quantity(card.per_million->middle * tokens / 1e6, card.per_million->lower * tokens / 1e6,
                          card.per_million->upper * tokens / 1e6, ReportUnit::dollars)});
  if (card.joules_per_token)
    table.rows.push_back({"energy at the socket", quantity(*card.joules_per_token * tokens, ReportUnit::joules)});
  return table;
}

Section power_section(const Gpu& gpu, const PlanOptions& options) {
  Section section{"power", "Circuits and racks", {}, {}, {}};
  if (!power(gpu, 1, options.money)) {
    section.paragraphs.push_back("Nobody publishes the watts of this card.");
    return section;
  }
  const Power one = *power(gpu, 1, options.money);
  section.paragraphs.push_back(fmt::format("One card with its share of the host: {:.0f} W x {:g} = {}; cooled: {}.",
                                           one.cards, 1 + options.money.host_overhead,
                                           shown(one.node, ReportUnit::watts), shown(one.facility, ReportUnit::watts)));
  Table circuits{"circuits", "Cards on one circuit", {"Circuit", "Usable", "Cards"}, {}, ""};
  for (const Circuit& circuit : usual_circuits())
    circuits.rows.push_back({text(circuit), quantity(circuit.usable(), ReportUnit::watts),
                             quantity(cards_on(circuit, gpu, options.money), ReportUnit::count)});
  circuits.note = "A breaker is loaded to 80 % at most; of two redundant feeds each must carry everything.";
  Table racks{"racks", "Cards in a rack", {"Rack", "Cards", "Heat", "Cooling"}, {}, ""};
  for (const double watts : {10e3, 15e3, 20e3, 40e3, 80e3}) {
    const int cards = cards_in_rack(watts, gpu, options.money);
    racks.rows.push_back({shown(watts, ReportUnit::watts), quantity(cards, ReportUnit::count),
                          quantity(cards * one.node, ReportUnit::watts), cooling_of_rack(watts)});
  }
  section.tables = {circuits, racks};
  return section;
}

Table machine_table(const Demand& demand, const CardEstimate& card) {
  constexpr double slow_disk = 0.2e9, fast_disk = 3e9;  // a network volume, and one NVMe drive
  const double weights = weight_bytes(demand), checkpoint = checkpoint_bytes(demand);
  struct Line {
    double strain;
    std::vector<Cell> cells;
  };
  std::vector<Line> lines;
  const double full = card.needed.middle / card.usable;
  lines.push_back({full, {"device memory", quantity(full, ReportUnit::share), "of what the card leaves to programs"}});
  const double load = weights / fast_disk;
  lines.push_back({std::min(1.0, weights / slow_disk / 600),
                   {"storage rate", quantity(load, load, weights / slow_disk, ReportUnit::seconds),
                    "to load the weights: from one NVMe drive at 3 GB/s, at worst from a volume at 0.2 GB/s"}});
  if (card.gpu->host_bandwidth)
    lines.push_back({weights / *card.gpu->host_bandwidth / 60,
                     {"host link", quantity(weights / *card.gpu->host_bandwidth / card.cards, ReportUnit::seconds),
                      "for the weights over " + card.gpu->host_link + ", every card its part"}});
  lines.push_back(
      {0.3,
       {"storage space", quantity(demand.training() ? weights + 3 * checkpoint : weights, ReportUnit::bytes),
        demand.training() ? "weights and three checkpoints; data besides" : "weights; other versions besides"}});
  lines.push_back(
      {0.4,
       {"host memory", quantity(weights * 1.1, weights * 0.1, weights * 2, ReportUnit::bytes),
        "to load: a tenth where shards are mapped one by one, twice the weights where they are read whole"}});
  lines.push_back({0.2,
                   {"processors",
                    quantity(demand.training() ? 8.0 * card.cards : 4.0 * card.cards, 1.0 * card.cards,
                             16.0 * card.cards, ReportUnit::count),
                    "cores: rental markets ask for at least one a card, training feeds are assumed to take 8"}});
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.strain > b.strain; });
  Table table{"machine", "What else the machine must give, the tightest first", {"What", "How much", "Why"}, {}, ""};
  for (Line& line : lines) table.rows.push_back(std::move(line.cells));
  return table;
}

Chart batch_chart(const Demand& base, const Gpu& gpu, int cards) {
  Chart chart;
  chart.id = "throughput";
  chart.title = "Throughput against batch";
  chart.kind = ChartKind::line;
  chart.x = {"batch", ReportUnit::count, true, {}};
  chart.y = {"speed", ReportUnit::tokens_per_second, false, {}};
  Series middle{"expected", {}, {}, true}, lower{"lower bound", {}, {}, true}, upper{"upper bound", {}, {}, true};
  double before = 0;
  std::string flat;
  for (std::int64_t batch = 1; batch <= 256; batch *= 2) {
    if (fits_with(base, gpu, cards, batch, base.workload.context) == Answer::does_not_fit) break;
    const Demand changed = demand(base.model, with(base.workload, batch, base.workload.context), cards);
    const CardEstimate one = estimate(changed, gpu, cards, {});
    if (!one.speed) return chart;
    const auto add = [&](Series& series, double value) {
      series.x.push_back(static_cast<double>(batch));
      series.y.push_back(value);
    };
    add(middle, one.speed->middle);
    add(lower, one.speed->lower);
    add(upper, one.speed->upper);
    if (flat.empty() && before > 0 && one.speed->middle < before * 1.1)
      flat = fmt::format(" From a batch of {} on, doubling it adds less than a tenth.", batch / 2);
    before = one.speed->middle;
  }
  if (middle.x.size() < 2) return chart;
  chart.series = {middle, lower, upper};
  chart.caption = "As far as the memory reaches." + flat;
  return chart;
}

std::optional<std::int64_t> largest_batch_within(const Demand& base, const Gpu& gpu, int cards, double seconds) {
  std::optional<std::int64_t> largest;
  for (std::int64_t batch = 1; batch <= 1024; batch *= 2) {
    if (fits_with(base, gpu, cards, batch, base.workload.context) != Answer::fits) break;
    const Demand changed = demand(base.model, with(base.workload, batch, base.workload.context), cards);
    const auto speed = estimate(changed, gpu, cards, {}).speed;
    if (!speed || static_cast<double>(batch) / speed->middle > seconds) break;
    largest = batch;
  }
  return largest;
}

std::vector<std::pair<std::string, std::string>> plan_provenance(const PlanOptions& options) {
  return {{"cards",
           fmt::format("{} in reports/gpus.csv, dense figures; every line names its source", builtin_gpus().size())},
          {"speed",
           "published rates of the card and what programs make of them, fitted on published readings "
           "(docs/prediction.md); not measured here"},
          {"memory", "the model's own arithmetic; runtime and allocator from published readings"},
          {"money", money_words(options)}};
}

}  // namespace assay
