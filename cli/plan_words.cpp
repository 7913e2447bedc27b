// Options of `assay plan`.
// SPDX-License-Identifier: Apache-2.0
#include "cli/parse.h"
#include "cli/words.h"

namespace assay {

void add_plan_options(CLI::App& command, Words& words) {
  command.add_option("--gpu", words.gpu, "One card of the catalogue (assay list gpus) instead of all");
  command.add_option("--cards", words.cards, "How many of them share the work (1)");
  command.add_option("--rank", words.rank, "Order of the cards that fit: cost (the default), fit, speed, power");
  command.add_option("--tokens", words.tokens, "Price a run of so many tokens, such as 2e9");
  command.add_option("--price", words.price,
                     "USD a card and hour, such as 2.49USD/h; without it published ranges are taken");
  command.add_option("--purchase", words.purchase, "USD a card, instead of a price an hour");
  command.add_flag("--buy", words.buy, "Take published purchase prices instead of rents");
  command.add_option("--years", words.years, "Amortisation of a purchase (3)");
  command.add_option("--residual", words.residual, "Share of a purchase that is left at the end (0)");
  command.add_option("--duty", words.duty, "Share of the paid hours with work (1)");
  command.add_option("--energy-price", words.energy, "USD/kWh (0.12)");
  command.add_option("--host-overhead", words.host_overhead, "Power of the host on top of the cards (0.35)");
  command.add_option("--cooling-overhead", words.cooling, "Power of cooling on top of both (0.35)");
  command.add_flag("--checklist", words.checklist, "Print the buyer's checklist, blank");
  command.add_option("--out", words.out_files, "Write FILE.html, .md, .json or .txt; may be given again");
  command.add_flag("--force", words.force, "Overwrite these files");
  command.add_flag("--full", words.whole, "Print everything, not only the first screen");
}

PlanRequest understand_plan(const Words& words) {
  PlanRequest request;
  request.model = words.model;
  request.gpu = words.gpu;
  request.workload = understand_workload(words);
  request.checklist = words.checklist;
  if (!words.cards.empty()) request.options.cards = static_cast<int>(parse_whole("--cards", words.cards, 1));
  if (!words.rank.empty())
    request.options.rank = parse_choice<PlanRank>(
        "--rank", words.rank,
        {{"cost", PlanRank::cost}, {"fit", PlanRank::fit}, {"speed", PlanRank::speed}, {"power", PlanRank::power}});
  MoneyInput& money = request.options.money;
  if (!words.tokens.empty()) request.options.tokens = parse_number("--tokens", words.tokens);
  if (!words.price.empty()) money.rent = parse_price(words.price);
  if (!words.purchase.empty()) money.purchase = parse_number("--purchase", words.purchase);
  money.buy = words.buy;
  if (!words.years.empty()) money.years = parse_number("--years", words.years);
  if (!words.residual.empty()) money.residual = parse_number("--residual", words.residual);
  if (!words.duty.empty()) money.duty = parse_number("--duty", words.duty);
  if (!words.energy.empty()) money.energy_price = parse_number("--energy-price", words.energy);
  if (!words.host_overhead.empty()) money.host_overhead = parse_number("--host-overhead", words.host_overhead);
  if (!words.cooling.empty()) money.cooling_overhead = parse_number("--cooling-overhead", words.cooling);
  for (const std::string& file : words.out_files) request.out.emplace_back(file);
  request.force = words.force;
  request.whole = words.whole;
  return request;
}

}  // namespace assay
