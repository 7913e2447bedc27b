// Finds what was measured alike.
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/error.h"
#include "core/op.h"
#include "reports/accept/machine.h"
#include "reports/money.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

void price(Contender& contender, std::optional<double> given) {
  MoneyInput input;
  input.rent = given;
  if (contender.gpu == nullptr) {
    if (given) contender.price_per_hour = given, contender.price_origin = "given";
    return;
  }
  if (const auto cost = hourly_cost(*contender.gpu, 1, input)) {
    contender.price_per_hour = cost->typical;
    contender.price_origin = cost->origin;
  }
}

// "H100 SXM5 80GB", and where there are several: its device, and the run's number.
void name_apart(std::vector<Contender>& contenders, const std::vector<Run>& runs) {
  for (Contender& one : contenders) one.name = one.gpu != nullptr ? one.gpu->name : one.device->name;
  std::map<std::string, int> counts;
  for (const Contender& one : contenders) ++counts[one.name];
  for (Contender& one : contenders) {
    if (counts[one.name] < 2) continue;
    const auto number = one.run - runs.data() + 1;
    one.name += fmt::format(", run {}", number);
    if (one.device->id != "cpu:0") one.name += " " + one.device->id;
  }
}

using Key = std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>;

Key key_of(const Row& row) { return {row.op, row.data, row.cache, row.phase, row.scope, row.variant}; }

Taken taken_of(const std::vector<const Row*>& rows) {
  std::vector<double> values;
  Taken taken;
  taken.lower = taken.upper = *rows.front()->value;
  for (const Row* row : rows) {
    values.push_back(*row->value);
    taken.lower = std::min(taken.lower, row->lower.value_or(*row->value));
    taken.upper = std::max(taken.upper, row->upper.value_or(*row->value));
    if (row->power_watts) taken.watts = row->power_watts;
    if (!row->conditions.empty()) taken.conditions = row->conditions;
  }
  taken.seconds = middle(values);
  taken.method = rows.front()->method;
  taken.executed = rows.front()->executed;
  return taken;
}

// What was asked about of each contender: rows by key.
using Rows = std::map<Key, std::vector<const Row*>>;

Rows rows_of(const Contender& contender) {
  Rows rows;
  for (const Row& row : contender.run->rows) {
    if (row.device != contender.device->id || row.metric != "seconds" || row.status != Status::ok || row.op.empty() ||
        row.value.value_or(0) <= 0 || has_condition(row, "planted"))
      continue;
    rows[key_of(row)].push_back(&row);
  }
  return rows;
}

// Two contenders measured the same op, but not in the same way: say in which.
void name_differences(Comparison& comparison, const std::vector<Rows>& all) {
  std::map<std::string, std::map<std::string, std::set<std::size_t>>> by_op;  // op, way: contenders
  for (std::size_t index = 0; index < all.size(); ++index) {
    for (const auto& [key, rows] : all[index]) {
      const auto& [op, data, cache, phase, scope, variant] = key;
      std::vector<std::string> way{"data " + data};
      if (!cache.empty()) way.push_back(cache);
      if (!phase.empty()) way.push_back(phase);
      if (!scope.empty()) way.push_back(scope);
      if (!variant.empty()) way.push_back("variant " + variant);
      by_op[op][joined(way)].insert(index);
    }
  }
  for (const auto& [op, ways] : by_op) {
    std::set<std::size_t> who;
    bool shared = false;
    std::vector<std::string> parts;
    for (const auto& [way, contenders] : ways) {
      who.insert(contenders.begin(), contenders.end());
      shared = shared || contenders.size() > 1;
      std::vector<std::string> names;
      for (const std::size_t index : contenders) names.push_back(comparison.contenders[index].name);
      parts.push_back(way + ": " + joined(names, " and "));
    }
    if (!shared && who.size() > 1) comparison.not_alike.push_back({op, joined(parts, "; ")});
  }
}

void compare_runs(Comparison& comparison) {
  const auto difference = [&](const std::string& what, const std::string& (*of)(const RunInfo&)) {
    std::set<std::string> values;
    for (const Contender& one : comparison.contenders) values.insert(of(one.run->info));
    if (values.size() > 1) {
      comparison.differences.push_back(what + " differs: " + joined({values.begin(), values.end()}, ", "));
    }
  };
  difference("The program's version", [](const RunInfo& info) -> const std::string& { return info.program_version; });
  difference("The source it was built from", [](const RunInfo& info) -> const std::string& { return info.commit; });
  difference("The build type", [](const RunInfo& info) -> const std::string& { return info.build_type; });
  difference("The profile", [](const RunInfo& info) -> const std::string& { return info.profile; });
}

// Products whose units multiplied something else are not alike.
bool same_execution(const Alike& alike) {
  std::set<std::string> executed;
  for (const auto& taken : alike.taken)
    if (taken && !taken->executed.empty()) executed.insert(taken->executed);
  return executed.size() <= 1;
}

}  // namespace

std::vector<Contender> contenders(const std::vector<Run>& runs, const std::vector<std::string>& devices,
                                  const std::vector<double>& prices) {
  if (prices.size() > 1 && prices.size() != runs.size())
    throw BadInput(fmt::format("--price is given {} times for {}; give it once, or once for each run", prices.size(),
                               counted(runs.size(), "run")));
  std::vector<Contender> found;
  std::set<std::string> seen;
  for (const Run& run : runs) {
    const bool cards = std::any_of(run.info.devices.begin(), run.info.devices.end(),
                                   [](const DeviceInfo& device) { return device.backend != "cpu"; });
    for (const DeviceInfo& device : run.info.devices) {
      const bool named = std::find(devices.begin(), devices.end(), device.id) != devices.end() ||
                         std::find(devices.begin(), devices.end(), device.backend) != devices.end();
      if (devices.empty() ? cards && device.backend == "cpu" : !named) continue;
      seen.insert(device.id);
      seen.insert(device.backend);
      Contender one;
      one.run = &run;
      one.device = &device;
      one.gpu = recognise_gpu(device.name);
      const auto number = static_cast<std::size_t>(&run - runs.data());
      price(one, prices.empty() ? std::nullopt : std::optional<double>(prices[prices.size() == 1 ? 0 : number]));
      found.push_back(std::move(one));
    }
  }
  for (const std::string& device : devices)
    if (seen.count(device) == 0) throw BadInput("no run has the device '" + device + "'");
  if (found.size() < 2)
    throw BadInput("there is one device only; give a second run, or --device twice (assay compare RUN RUN)");
  name_apart(found, runs);
  return found;
}

Comparison compare(std::vector<Contender> contenders) {
  Comparison comparison;
  comparison.contenders = std::move(contenders);
  std::vector<Rows> all;
  std::set<Key> keys;
  for (const Contender& one : comparison.contenders) {
    all.push_back(rows_of(one));
    for (const auto& [key, rows] : all.back()) keys.insert(key);
  }
  for (const Key& key : keys) {
    Alike alike;
    const Row* first = nullptr;
    std::size_t count = 0;
    for (const Rows& rows : all) {
      const auto found = rows.find(key);
      if (found == rows.end()) {
        alike.taken.emplace_back();
        continue;
      }
      ++count;
      if (first == nullptr) first = found->second.front();
      alike.taken.emplace_back(taken_of(found->second));
    }
    if (count < 2) continue;
    alike.case_name = first->case_name;
    std::string scope;
    std::tie(alike.op, alike.data, alike.cache, alike.phase, scope, alike.variant) = key;
    alike.precision = first->precision;
    try {
      const Cost cost = assay::cost(parse_op(alike.op));
      alike.flops = first->flops.value_or(cost.flops);
      alike.bytes = cost.bytes_wire > 0 ? cost.bytes_wire : cost.bytes_read + cost.bytes_written;
    } catch (const BadInput&) {
      comparison.not_alike.push_back({alike.op, "an op that this version does not know"});
      continue;
    }
    if (same_execution(alike)) {
      comparison.alike.push_back(std::move(alike));
    } else {
      comparison.not_alike.push_back({alike.case_name, "what really multiplied differs"});
    }
  }
  name_differences(comparison, all);
  compare_runs(comparison);
  return comparison;
}

Quantity speed_ratio(const Taken& taken, const Taken& first) {
  const double ratio = first.seconds / taken.seconds;
  // A few scattered samples can have an interval that reaches below nothing; then no interval can be given.
  if (taken.lower <= 0 || first.lower <= 0) return quantity(ratio, ReportUnit::none);
  return quantity(ratio, first.lower / taken.upper, first.upper / taken.lower, ReportUnit::none);
}

int exit_code_of(const Comparison& comparison) { return comparison.alike.empty() ? 2 : 0; }

}  // namespace assay
