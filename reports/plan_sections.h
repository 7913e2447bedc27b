// The parts that plans have in common: money, power, stacks, what else the machine needs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/plan.h"

namespace assay {

Quantity shown_span(const Span& span, ReportUnit unit);

// Where every default price and share comes from, said before the numbers.
std::string money_words(const PlanOptions& options);

// Price an hour with its range and origin, power at the socket, energy a token; the ordered cards, at most `most`.
Table money_table(const std::vector<CardEstimate>& cards, std::size_t most);
Table stack_table(const std::vector<CardEstimate>& cards, std::size_t most);

// A run of so many tokens on one card: time, money, energy.
Table run_table(const Demand& demand, const CardEstimate& card, const PlanOptions& options);
// Circuits and racks for one card.
Section power_section(const Gpu& gpu, const PlanOptions& options);
// Host memory, storage, processors, links: what each must give, the worst first.
Table machine_table(const Demand& demand, const CardEstimate& card);
// The largest power of two that fits and still makes a token of every sequence in time; absent where not even 1 does.
std::optional<std::int64_t> largest_batch_within(const Demand& demand, const Gpu& gpu, int cards, double seconds);
Chart batch_chart(const Demand& demand, const Gpu& gpu, int cards);

std::vector<std::pair<std::string, std::string>> plan_provenance(const PlanOptions& options);

}  // namespace assay
