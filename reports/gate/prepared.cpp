// Values of starts and of driver loads.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/prepared.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace assay::gate {
namespace {

std::vector<std::optional<double>> logarithms_of(const std::vector<Observation>& series, bool less_is_better) {
  std::vector<std::optional<double>> values;
  for (const Observation& one : series)
    values.push_back(one.value ? std::optional(less_is_better ? std::log(*one.value) : -std::log(*one.value))
                               : std::nullopt);
  return values;
}

std::vector<std::string> loads_of(const Side& side) {
  std::vector<std::string> loads;
  for (const Start& start : side.starts) loads.push_back(start.load);
  return loads;
}

// 0 where a start does not say.
std::size_t distinct(const std::vector<std::string>& loads) {
  const std::set<std::string> names(loads.begin(), loads.end());
  return names.count("") != 0 ? 0 : names.size();
}

std::vector<double> by_load(const std::vector<std::optional<double>>& values, const std::vector<std::string>& loads) {
  std::map<std::string, std::vector<double>> groups;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) groups[loads[i]].push_back(*values[i]);
  std::vector<double> medians;
  for (auto& [load, group] : groups) medians.push_back(median(std::move(group)));
  return medians;
}

std::vector<double> by_start(const std::vector<std::optional<double>>& values) {
  std::vector<double> present;
  for (const auto& value : values)
    if (value) present.push_back(*value);
  return present;
}

std::optional<double> middle_of(const std::vector<Observation>& series, std::optional<double> Row::*field) {
  std::vector<double> values;
  for (const Observation& one : series)
    if (one.value && one.row->*field) values.push_back(*(one.row->*field));
  return values.empty() ? std::nullopt : std::optional(median(std::move(values)));
}

}  // namespace

Logarithms logarithms(const std::vector<Observation>& before, const std::vector<Observation>& after,
                      bool less_is_better) {
  return {logarithms_of(before, less_is_better), logarithms_of(after, less_is_better)};
}

Units units_of(const Side& before, const Side& after, const GateRules& rules) {
  Units units;
  units.before = loads_of(before);
  units.after = loads_of(after);
  units.loads_before = distinct(units.before);
  units.loads_after = distinct(units.after);
  // A new driver or kernel comes with a load of its own, so what one load differs from the next is part of the error.
  const bool reloaded = rules.allowance.subjects.count("driver") + rules.allowance.subjects.count("system") > 0;
  if (!reloaded) return units;
  units.by_load = std::min(units.loads_before, units.loads_after) >= least_runs;
  if (units.by_load) return units;
  const auto share = [](std::size_t loads) { return 1.0 / static_cast<double>(std::max(loads, std::size_t{1})); };
  units.load_error = rules.load_spread * std::sqrt(share(units.loads_before) + share(units.loads_after));
  return units;
}

Sides sides_of(const Logarithms& values, const Units& units) {
  if (units.by_load) return {by_load(values.before, units.before), by_load(values.after, units.after)};
  return {by_start(values.before), by_start(values.after)};
}

SideValues summarised(const std::vector<Observation>& series) {
  SideValues side;
  side.starts = series.size();
  for (const Observation& one : series) {
    if (one.value) side.values.push_back(*one.value);
    if (!one.unfit.empty()) ++side.unfit;
    if (one.broken) ++side.broken;
    if (one.value && side.method.empty()) side.method = one.row->method;
  }
  if (!side.values.empty()) {
    side.middle = median(side.values);
    side.lower = *std::min_element(side.values.begin(), side.values.end());
    side.upper = *std::max_element(side.values.begin(), side.values.end());
  }
  side.clock_hertz = middle_of(series, &Row::clock_hertz);
  side.power_watts = middle_of(series, &Row::power_watts);
  side.temperature_celsius = middle_of(series, &Row::temperature_celsius);
  return side;
}

}  // namespace assay::gate
