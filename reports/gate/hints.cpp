// What the rows show of the cause of a difference.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/gate/prepared.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay::gate {
namespace {

// Logarithms of cycles; empty unless every start that counts knows its clock.
std::vector<double> cycles(const std::vector<Observation>& series) {
  std::vector<double> values;
  for (const Observation& one : series) {
    if (!one.value) continue;
    if (one.row->clock_hertz.value_or(0) <= 0) return {};
    values.push_back(std::log(*one.value * *one.row->clock_hertz));
  }
  return values;
}

bool has(const std::vector<Observation>& series, const char* condition) {
  std::size_t count = 0, counted = 0;
  for (const Observation& one : series) {
    if (one.row == nullptr) continue;
    ++counted;
    if (has_condition(*one.row, condition)) ++count;
  }
  return 2 * count > counted;
}

void add_clock(const std::vector<Observation>& before, const std::vector<Observation>& after,
               const MetricVerdict& verdict, std::vector<std::string>& found) {
  const Sides sides{cycles(before), cycles(after)};
  if (sides.before.empty() || sides.after.empty() || !verdict.before.clock_hertz || !verdict.after.clock_hertz) return;
  const double in_cycles = shift(sides), in_time = verdict.estimate->shift;
  const std::string was = shown(*verdict.before.clock_hertz, ReportUnit::hertz);
  const std::string is = shown(*verdict.after.clock_hertz, ReportUnit::hertz);
  const std::string clocks =
      was == is ? "the clock is " + is : "the clock was " + was + " before and is " + is + " after";
  if (std::abs(in_cycles) < std::abs(in_time) / 2) {
    found.push_back("equal in cycles, different in time: " + clocks +
                    "; the clock or power policy changed, not the work");
  } else {
    found.push_back(fmt::format("{:+.1f} % in cycles too ({}): the work itself takes another time",
                                100 * std::expm1(in_cycles), clocks));
  }
}

// Why runs scatter, perhaps. A processor's clock is a matter of its load; a card that is at work has one.
void add_unsteady_clock(const std::vector<Observation>& series, const char* side, std::vector<std::string>& found) {
  constexpr double worth_saying = 1.03;
  double least = 0, most = 0;
  for (const Observation& one : series) {
    if (!one.value || one.row->backend == "cpu" || one.row->clock_hertz.value_or(0) <= 0) continue;
    least = least == 0 ? *one.row->clock_hertz : std::min(least, *one.row->clock_hertz);
    most = std::max(most, *one.row->clock_hertz);
  }
  if (most > least * worth_saying)
    found.push_back(fmt::format("the clock was {} to {} {}", shown(least, ReportUnit::hertz),
                                shown(most, ReportUnit::hertz), side));
}

void add_condition(const std::vector<Observation>& before, const std::vector<Observation>& after, const char* condition,
                   const char* words, std::vector<std::string>& found) {
  const bool was = has(before, condition), is = has(after, condition);
  if (was != is) found.push_back(fmt::format("{} in most runs {} only", words, is ? "after" : "before"));
}

}  // namespace

std::vector<std::string> hints(const std::vector<Observation>& before, const std::vector<Observation>& after,
                               const MetricVerdict& verdict) {
  std::vector<std::string> found;
  if (!verdict.estimate) return found;
  if (verdict.key.metric == "seconds") add_clock(before, after, verdict, found);
  add_unsteady_clock(before, "before", found);
  add_unsteady_clock(after, "after", found);
  if (verdict.before.method != verdict.after.method)
    found.push_back("another way of doing it: " + verdict.before.method + " before, " + verdict.after.method +
                    " after");
  add_condition(before, after, "power_capped", "held by the power cap", found);
  add_condition(before, after, "pcie_downgraded", "a slower link to the host", found);
  add_condition(before, after, "not_steady", "the rate still drifted when time ran out", found);
  if (verdict.before.temperature_celsius && verdict.after.temperature_celsius) {
    const double warmer = *verdict.after.temperature_celsius - *verdict.before.temperature_celsius;
    constexpr double worth_saying = 5;
    if (std::abs(warmer) >= worth_saying)
      found.push_back(fmt::format("{:.0f} °C {} after", std::abs(warmer), warmer > 0 ? "warmer" : "cooler"));
  }
  return found;
}

}  // namespace assay::gate
