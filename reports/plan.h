// `assay plan`: a model and a workload against cards that nobody has measured here, before renting or buying one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/estimate.h"
#include "reports/report.h"

namespace assay {

// What the cards that fit are ordered by.
enum class PlanRank : std::uint8_t { cost, fit, speed, power };

struct PlanOptions {
  int cards = 1;
  PlanRank rank = PlanRank::cost;
  MoneyInput money;
  std::optional<double> tokens;  // of a training run, or to be served: priced in time and money
};

// All cards of the catalogue: those that fit first, then tight ones, those that do not, those without a supported path.
std::vector<CardEstimate> plan_cards(const Demand& demand, const PlanOptions& options);

// One model over the whole catalogue.
Report plan_catalogue(const Demand& demand, const PlanOptions& options);

// One model on one card: everything about it.
Report plan_pair(const Demand& demand, const Gpu& gpu, const PlanOptions& options);

// One card: which built-in models fit.
Report plan_card(const Gpu& gpu, const Workload& workload, const PlanOptions& options);

// Every built-in model: the cheapest and the smallest card for it.
Report plan_everything(const Workload& workload, const PlanOptions& options);

}  // namespace assay
