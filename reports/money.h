// Money and power: what an hour, a million tokens and a training run cost, and what the rack must give.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/catalogue.h"

namespace assay {

// What somebody published that somebody asked for one card: per hour, or to buy. Never an offer.
struct PriceRange {
  double low = 0, typical = 0, high = 0;  // USD
  std::string date;                       // "2026-05", "2024"
  std::vector<std::string> sources;
};
std::optional<PriceRange> published_rent(const Gpu& gpu);
std::optional<PriceRange> published_purchase(const Gpu& gpu);

// Prices and habits of the one who asks. The defaults are published ranges' middles, and every report says so.
struct MoneyInput {
  std::optional<double> rent;      // USD per card and hour, electricity included
  std::optional<double> purchase;  // USD per card with its share of the server; taken where no rent is given
  double years = 3;                // of amortisation; 24 to 48 months are usual
  double residual = 0;             // share of the purchase price that is left at the end
  double duty = 1;                 // share of the paid hours in which there is work
  double energy_price = 0.12;      // USD/kWh; models of total cost use 0.06 to 0.12
  double host_overhead = 0.35;     // on top of the cards: chassis, processors, memory, network; 0.30 to 0.40 published
  double cooling_overhead = 0.35;  // on top of that: PUE 1.3 to 1.4
};
// Throws BadInput with the name of the number: negative, not finite, a share above 1.
void check(const MoneyInput& input);

// What an hour costs, and where the price is from. Empty: nobody gave or published a price.
struct HourlyCost {
  double low = 0, typical = 0, high = 0;  // USD for all cards together
  std::string origin;                     // "given", "published 2026-05, 1.49 to 5.00 USD a card"
};
std::optional<HourlyCost> hourly_cost(const Gpu& gpu, int cards, const MoneyInput& input);

struct Power {
  double cards = 0;     // W, the makers' limits together
  double node = 0;      // with the host
  double facility = 0;  // with cooling
};
std::optional<Power> power(const Gpu& gpu, int cards, const MoneyInput& input);

double energy_cost_per_hour(const Power& power, const MoneyInput& input);  // USD

// USD for a million tokens at this rate (tokens/s of all cards together).
double cost_per_million_tokens(double dollars_per_hour, double tokens_per_second, const MoneyInput& input);
// Joules at the socket, cooling included.
double energy_per_token(const Power& power, double tokens_per_second);

// A branch circuit: what it may carry for hours, and how many cards with their share of the host that is.
struct Circuit {
  double volts = 0, amperes = 0;
  bool three_phase = false;
  double usable() const;  // W: a breaker is loaded to 80 % at most
};
std::string text(const Circuit& circuit);  // "208 V 30 A three-phase"
const std::vector<Circuit>& usual_circuits();
int cards_on(const Circuit& circuit, const Gpu& gpu, const MoneyInput& input);  // 0 where the watts are not published

// Cards in a rack whose IT load may be this many watts.
int cards_in_rack(double rack_watts, const Gpu& gpu, const MoneyInput& input);
// What so much heat in one rack asks for: ordinary air, contained aisles, or liquid.
std::string cooling_of_rack(double rack_watts);

}  // namespace assay
