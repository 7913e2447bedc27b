// Money and power.
// SPDX-License-Identifier: Apache-2.0
#include "reports/money.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>

#include "core/error.h"
#include "reports/embedded.h"

namespace assay {
namespace {

constexpr double hours_a_year = 365.25 * 24;
constexpr double breaker_share = 0.8;     // of the breaker's amperes, where a load lasts three hours or more
constexpr double root_three = 1.7320508;  // between the phases of a three-phase circuit

struct Prices {
  std::map<std::string, PriceRange> rent, purchase;
};

PriceRange range_of(const EmbeddedRow& row) {
  PriceRange range;
  const auto amount = [&](std::string_view column) {
    const auto value = row.number(column);
    if (!value || *value <= 0) row.refuse(column, "a price is needed");
    return *value;
  };
  range.low = amount("low");
  range.typical = amount("typical");
  range.high = amount("high");
  if (range.low > range.typical || range.typical > range.high) row.refuse("typical", "not between low and high");
  range.date = row.required("date");
  range.sources = row.words("source");
  if (range.sources.empty()) row.refuse("source", "a line without a source");
  return range;
}

const Prices& prices() {
  static const Prices all = [] {
    Prices read;
    for (const EmbeddedRow& row : read_embedded(prices_csv(), "reports/prices.csv")) {
      const std::string& kind = row.required("kind");
      if (kind != "rent" && kind != "buy") row.refuse("kind", "expected rent or buy");
      (kind == "rent" ? read.rent : read.purchase)[find_gpu(row.required("gpu")).name] = range_of(row);
    }
    return read;
  }();
  return all;
}

std::optional<PriceRange> found(const std::map<std::string, PriceRange>& all, const Gpu& gpu) {
  const auto one = all.find(gpu.name);
  if (one == all.end()) return std::nullopt;
  return one->second;
}

double amortised(double purchase, const MoneyInput& input) {
  return purchase * (1 - input.residual) / (input.years * hours_a_year);
}

void check_number(const char* name, double value, double least, double most) {
  if (std::isfinite(value) && value >= least && value <= most) return;
  throw BadInput(fmt::format("{} is {}; expected {} to {}", name, value, least, most));
}

HourlyCost bought(double low, double typical, double high, const Gpu& gpu, int cards, const MoneyInput& input) {
  const auto drawn = power(gpu, cards, input);
  const double energy = drawn ? energy_cost_per_hour(*drawn, input) : 0;
  const auto hour = [&](double price) { return cards * amortised(price, input) + energy; };
  return {hour(low), hour(typical), hour(high),
          fmt::format("over {:g} years{}", input.years, drawn ? " with electricity" : ", electricity unknown")};
}

}  // namespace

std::optional<PriceRange> published_rent(const Gpu& gpu) { return found(prices().rent, gpu); }
std::optional<PriceRange> published_purchase(const Gpu& gpu) { return found(prices().purchase, gpu); }

void check(const MoneyInput& input) {
  constexpr double most_dollars = 1e9;
  if (input.rent) check_number("the price an hour", *input.rent, 0, most_dollars);
  if (input.purchase) check_number("the purchase price", *input.purchase, 0, most_dollars);
  check_number("the time of amortisation in years", input.years, 0.1, 50);
  check_number("the residual value", input.residual, 0, 1);
  check_number("the share of hours with work", input.duty, 0.001, 1);
  check_number("the price of electricity", input.energy_price, 0, 100);
  check_number("the overhead of the host", input.host_overhead, 0, 10);
  check_number("the overhead of cooling", input.cooling_overhead, 0, 10);
}

std::optional<HourlyCost> hourly_cost(const Gpu& gpu, int cards, const MoneyInput& input) {
  if (input.rent) return HourlyCost{cards * *input.rent, cards * *input.rent, cards * *input.rent, "given"};
  if (input.purchase) {
    HourlyCost cost = bought(*input.purchase, *input.purchase, *input.purchase, gpu, cards, input);
    cost.origin = "given purchase price " + cost.origin;
    return cost;
  }
  if (const auto rent = published_rent(gpu))
    return HourlyCost{cards * rent->low, cards * rent->typical, cards * rent->high,
                      fmt::format("published {}, {:.2f} to {:.2f} USD a card", rent->date, rent->low, rent->high)};
  if (const auto price = published_purchase(gpu)) {
    HourlyCost cost = bought(price->low, price->typical, price->high, gpu, cards, input);
    cost.origin = fmt::format("published purchase price {}, {:.0f} to {:.0f} USD a card, {}", price->date, price->low,
                              price->high, cost.origin);
    return cost;
  }
  return std::nullopt;
}

std::optional<Power> power(const Gpu& gpu, int cards, const MoneyInput& input) {
  if (!gpu.watts) return std::nullopt;
  Power power;
  power.cards = *gpu.watts * cards;
  power.node = power.cards * (1 + input.host_overhead);
  power.facility = power.node * (1 + input.cooling_overhead);
  return power;
}

double energy_cost_per_hour(const Power& power, const MoneyInput& input) {
  return power.facility / 1000 * input.energy_price;
}

double cost_per_million_tokens(double dollars_per_hour, double tokens_per_second, const MoneyInput& input) {
  return dollars_per_hour / (tokens_per_second * input.duty * 3600) * 1e6;
}

double energy_per_token(const Power& power, double tokens_per_second) { return power.facility / tokens_per_second; }

double Circuit::usable() const { return volts * amperes * breaker_share * (three_phase ? root_three : 1); }

std::string text(const Circuit& circuit) {
  return fmt::format("{:.0f} V {:.0f} A{}", circuit.volts, circuit.amperes, circuit.three_phase ? " three-phase" : "");
}

const std::vector<Circuit>& usual_circuits() {
  static const std::vector<Circuit> all{{208, 30, false}, {240, 30, false}, {208, 60, false},
                                        {240, 60, false}, {208, 30, true},  {208, 60, true}};
  return all;
}

int cards_on(const Circuit& circuit, const Gpu& gpu, const MoneyInput& input) {
  return cards_in_rack(circuit.usable(), gpu, input);
}

int cards_in_rack(double rack_watts, const Gpu& gpu, const MoneyInput& input) {
  const auto one = power(gpu, 1, input);
  return one && one->node > 0 ? static_cast<int>(std::floor(rack_watts / one->node)) : 0;
}

// Limits of air in ordinary rooms and with contained aisles as published for data centres: 15 to 20 and 25 to 30 kW.
std::string cooling_of_rack(double rack_watts) {
  if (rack_watts <= 15e3) return "ordinary air cooling";
  if (rack_watts <= 30e3) return "air in contained aisles";
  return "liquid or rear-door cooling";
}

}  // namespace assay
