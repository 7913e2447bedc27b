// Chooses devices and cases.
// SPDX-License-Identifier: Apache-2.0
#include "bench/plan_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/filter.h"
#include "core/error.h"
#include "core/nearest.h"

namespace assay {
namespace {

bool is_wanted(const Target& target, const std::string& wanted) {
  return wanted == target.device.id || wanted == target.plugin || wanted == target.device.backend || wanted == "all";
}

std::string plugin_part(const std::string& device) { return device.substr(0, device.find(':')); }

std::string not_there(const std::string& wanted, const std::vector<Target>& all, const std::vector<Probed>& answers) {
  std::vector<std::string> ids;
  for (const Target& target : all) ids.push_back(target.device.id);
  std::string sentence = fmt::format("there is no device \"{}\"{}", wanted, did_you_mean(wanted, ids));
  for (const Probed& answer : answers)
    if (answer.plugin == plugin_part(wanted) && !answer.reason.empty()) sentence += fmt::format(" ({})", answer.reason);
  return sentence + fmt::format("; there are: {}", ids.empty() ? "none" : fmt::format("{}", fmt::join(ids, ", ")));
}

// What makes a device another one. Free memory, clocks and limits may change.
std::string difference(const DeviceInfo& before, const DeviceInfo& now) {
  const auto differs = [](const char* what, const std::string& a, const std::string& b) {
    return a == b ? std::string() : fmt::format("{} was \"{}\" and is \"{}\"", what, a, b);
  };
  for (const std::string& found :
       {differs("name", before.name, now.name), differs("unique id", before.unique_id, now.unique_id),
        differs("driver", before.driver, now.driver), differs("runtime", before.runtime, now.runtime),
        differs("architecture", before.architecture, now.architecture)})
    if (!found.empty()) return "its " + found;
  if (before.compute_units != now.compute_units)
    return fmt::format("it had {} compute units and has {}", before.compute_units.value_or(0),
                       now.compute_units.value_or(0));
  return "";
}

}  // namespace

std::vector<Target> targets_of(const std::vector<Probed>& answers) {
  std::vector<Target> targets;
  for (const Probed& answer : answers) {
    int index = 0;
    for (const DeviceInfo& device : answer.devices) targets.push_back({answer.plugin, index++, device});
  }
  return targets;
}

std::vector<std::string> plugins_for(const std::vector<std::string>& wanted) {
  std::vector<std::string> plugins;
  for (const std::string& device : wanted) {
    if (device == "all") return {};
    const std::string plugin = plugin_part(device);
    if (std::find(plugins.begin(), plugins.end(), plugin) == plugins.end()) plugins.push_back(plugin);
  }
  return plugins;
}

std::vector<Target> choose(const std::vector<Target>& all, const std::vector<std::string>& wanted,
                           const std::vector<Probed>& answers) {
  if (wanted.empty()) return all;
  for (const std::string& one : wanted)
    if (std::none_of(all.begin(), all.end(), [&](const Target& target) { return is_wanted(target, one); }))
      throw BadInput(not_there(one, all, answers));
  std::vector<Target> chosen;
  for (const Target& target : all)
    if (std::any_of(wanted.begin(), wanted.end(), [&](const std::string& one) { return is_wanted(target, one); }))
      chosen.push_back(target);
  return chosen;
}

std::vector<Planned> plan_cases(const std::vector<Target>& targets, const Suite& suite, ProfileKind profile,
                                const std::string& filter_text, const std::optional<Asked>& asked) {
  const Filter filter(filter_text);
  std::vector<Planned> plan;
  std::vector<std::string> names;
  for (std::size_t target = 0; target < targets.size(); ++target) {
    const DeviceInfo& device = targets[target].device;
    std::vector<Case> cases;
    if (asked) cases = asked_cases(device, profile, *asked);
    for (Case& item : suite.cases(device, profile)) cases.push_back(std::move(item));
    for (Case& item : cases) {
      names.push_back(item.name);
      const std::string full = device.id + "/" + item.name;
      if (!filter.takes(item.name) && (filter_text.front() == '-' || !filter.takes(full))) continue;
      const std::string label = targets.size() > 1 ? full : item.name;
      plan.push_back({target, std::move(item), label});
    }
  }
  if (plan.empty() && !names.empty()) throw BadInput(nothing_matches(filter_text, names));
  return plan;
}

std::string planned_name(const Planned& planned, const std::vector<Target>& targets) {
  return targets[planned.target].device.id + " " + planned.item.name;
}

Done done_in(const std::vector<Row>& rows) {
  Done done;
  for (const Row& row : rows)
    if (row.status != Status::skipped || row.reason.rfind("the budget of ", 0) != 0)
      done.emplace(row.device, row.case_name, row.repetition);
  return done;
}

std::vector<Target> same_targets(const RunInfo& before, const std::vector<Target>& now) {
  std::vector<Target> same;
  for (const DeviceInfo& device : before.devices) {
    const auto found =
        std::find_if(now.begin(), now.end(), [&](const Target& target) { return target.device.id == device.id; });
    if (found == now.end())
      throw BadInput(
          fmt::format("this run cannot be gone on with: its device {} ({}) is not here now", device.id, device.name));
    const std::string other = difference(device, found->device);
    if (!other.empty())
      throw BadInput(
          fmt::format("this run cannot be gone on with: {} is not the same device any more: {}; start a new "
                      "run",
                      device.id, other));
    same.push_back({found->plugin, found->index, device});
  }
  return same;
}

}  // namespace assay
