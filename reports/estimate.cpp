// What a model and a workload would take and give on a card that nobody has measured.
// SPDX-License-Identifier: Apache-2.0
#include "reports/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "reports/estimate_speed.h"
#include "reports/phrase.h"
#include "reports/spread.h"
#include "reports/stacks.h"
#include "reports/workload.h"

namespace assay {
namespace {

constexpr int most_cards = 64;

// Inline ECC takes a sixteenth of GDDR; drivers keep about one part in a hundred. An H100 sold with 80 GB shows
// 79.6 GiB, an L4 or A40 sold with 24 or 48 GB shows 22.5 or 45.0.
constexpr double inline_ecc = 1.0 / 16, kept_by_driver = 0.01;

bool ecc_in_memory(const Gpu& gpu) { return gpu.ecc == Ecc::yes && gpu.memory_kind.starts_with("GDDR"); }

std::string format_word(const Workload& workload) {
  switch (workload.weights.element) {
    case Element::fp64:
    case Element::fp32:
    case Element::tf32:
      return "fp32";
    case Element::fp16:
      return "fp16";
    case Element::bf16:
      return "bf16";
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
      return "fp8";
    case Element::int8:
      return "int8";
    case Element::fp4_e2m1:
      // 4-bit weights are for the most part integers that are unpacked before the product; training keeps them in NF4.
      return workload.purpose == Purpose::training ? "nf4" : "int4";
    case Element::int32:
    case Element::int64:
    case Element::ue8m0:
      break;
  }
  return "bf16";
}

MemoryBudget budget_of(const ModelSpec& model, const Workload& workload) {
  Overheads overheads;
  overheads.processor = false;
  return memory_budget(model, workload, overheads);
}

Span span_of(const MemoryBudget& budget) { return {budget.total(), budget.lower(), budget.upper()}; }

Answer answer_of(const Span& needed, double usable) {
  if (needed.upper <= usable) return Answer::fits;
  return needed.lower > usable ? Answer::does_not_fit : Answer::tight;
}

void add_support(CardEstimate& estimate, const Demand& demand) {
  const StackRole role = demand.training() ? StackRole::training : StackRole::inference;
  const Support found = support(*estimate.gpu, role, demand.format);
  std::vector<std::string> names;
  for (const Stack* stack : found.stacks) names.push_back(stack->name);
  estimate.support = found.any() ? joined(names) : found.reason;
  estimate.unsupported = !found.any();
  if (estimate.unsupported) estimate.answer = Answer::does_not_fit;
}

void add_money(CardEstimate& estimate, const Demand& demand, const MoneyInput& money) {
  estimate.cost = hourly_cost(*estimate.gpu, estimate.cards, money);
  estimate.power = power(*estimate.gpu, estimate.cards, money);
  if (!estimate.speed || demand.model.kind == ModelKind::convolution) return;
  if (estimate.power) estimate.joules_per_token = energy_per_token(*estimate.power, estimate.speed->middle);
  if (!estimate.cost) return;
  const auto million = [&](double dollars, double rate) { return cost_per_million_tokens(dollars, rate, money); };
  estimate.per_million =
      Span{million(estimate.cost->typical, estimate.speed->middle), million(estimate.cost->low, estimate.speed->upper),
           million(estimate.cost->high, estimate.speed->lower)};
}

}  // namespace

Demand demand(const ModelSpec& model, const Workload& wanted, int cards) {
  Demand demand;
  demand.model = model;
  demand.workload = shared_out(resolve(wanted, model), cards);
  demand.alone = demand.workload;
  demand.alone.layout = Layout{};
  demand.budget = budget_of(model, demand.workload);
  demand.whole = budget_of(model, demand.alone);
  for (int several = 1; several <= most_cards; several *= 2)
    demand.on_each[several] = span_of(budget_of(model, shared_out(demand.alone, several)));
  demand.on_each[cards] = span_of(demand.budget);
  demand.format = format_word(demand.workload);
  try {
    demand.speed = speed_setting(model, demand.workload);
  } catch (const Error& error) {
    demand.no_speed = error.what();
  }
  return demand;
}

double usable_memory(const Gpu& gpu) {
  return gpu.memory * (1 - (ecc_in_memory(gpu) ? inline_ecc : 0)) * (1 - kept_by_driver);
}

std::string usable_memory_words(const Gpu& gpu) {
  return fmt::format(
      "{} as sold{}, less 1 % for the driver; the exact figure is the driver's: confirm it before ordering",
      shown_bytes(gpu.memory), ecc_in_memory(gpu) ? ", less a sixteenth for ECC in the same memory" : "");
}

Span memory_on_each(const Demand& demand, int cards) {
  const auto known = demand.on_each.find(cards);
  if (known != demand.on_each.end()) return known->second;
  return span_of(budget_of(demand.model, shared_out(demand.alone, cards)));
}

double probability_of(const Span& need, double there) {
  constexpr double ninety = 1.6449;  // standard deviations from the middle to either end of a 90 % interval
  const double half = there >= need.middle ? need.upper - need.middle : need.middle - need.lower;
  constexpr double surest = 0.99;  // an interval from published readings makes nothing surer
  if (half <= 0) return there >= need.middle ? surest : 1 - surest;
  const double chance = 0.5 * std::erfc(-(there - need.middle) / (half / ninety) / std::sqrt(2.0));
  return std::clamp(chance, 1 - surest, surest);
}

std::optional<int> cards_needed(const Demand& demand, const Gpu& gpu) {
  const double usable = usable_memory(gpu);
  for (int cards = 1; cards <= most_cards; cards *= 2)
    if (memory_on_each(demand, cards).upper <= usable) return cards;
  return std::nullopt;
}

CardEstimate estimate(const Demand& demand, const Gpu& gpu, int cards, const MoneyInput& money) {
  CardEstimate result;
  result.gpu = &gpu;
  result.cards = cards;
  result.needed = memory_on_each(demand, cards);
  result.usable = usable_memory(gpu);
  result.probability = probability_of(result.needed, result.usable);
  result.answer = answer_of(result.needed, result.usable);
  result.cards_needed = cards_needed(demand, gpu);
  add_support(result, demand);
  const SpeedEstimate speed = estimate_speed(demand, gpu, cards);
  result.speed = speed.tokens_per_second;
  result.prompt = speed.first_token;
  add_money(result, demand, money);
  return result;
}

}  // namespace assay
