// Compares two cards op by op.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/speed_claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.h"
#include "reports/phrase.h"

namespace assay {
namespace {

using Times = std::map<std::string, std::pair<double, std::string>>;  // op, data and cache: seconds and case

Times times_of(const Machine& machine, const DeviceInfo& device) {
  Times times;
  for (const Row* row : machine.timed(device.id, "")) {
    if (row->op.empty() || row->family == "launch") continue;
    const std::string key = row->op + "|" + row->data + "|" + row->cache + "|" + row->phase + "|" + row->scope;
    const auto [found, added] = times.try_emplace(key, *row->value, row->case_name);
    if (!added && *row->value < found->second.first) found->second = {*row->value, row->case_name};
  }
  return times;
}

Times find(const std::string& words, const std::vector<const Machine*>& machines) {
  std::vector<const Gpu*> meant;
  try {
    meant = parse_claim(words).gpus;
  } catch (const BadInput&) {
    meant.clear();  // a name that the catalogue does not know can still be a device's
  }
  for (const Machine* machine : machines) {
    for (const DeviceInfo& device : machine->run().info.devices) {
      const Gpu* gpu = recognise_gpu(device.name);
      if (device.id == words || device.name.find(words) != std::string::npos ||
          std::find(meant.begin(), meant.end(), gpu) != meant.end())
        return times_of(*machine, device);
    }
  }
  return {};
}

}  // namespace

SpeedAnswer check_speed_claim(const SpeedClaim& claim, const std::vector<const Machine*>& machines) {
  const Times fast = find(claim.fast, machines);
  const Times slow = find(claim.slow, machines);
  if (fast.empty()) return {std::nullopt, "no run of a " + claim.fast + " was given (--fleet RUN)"};
  if (slow.empty()) return {std::nullopt, "no run of a " + claim.slow + " was given (--fleet RUN)"};
  std::vector<double> ratios;
  double most = 0;
  std::string where;
  for (const auto& [key, here] : fast) {
    const auto there = slow.find(key);
    if (there == slow.end()) continue;
    const double ratio = there->second.first / here.first;
    ratios.push_back(ratio);
    if (ratio > most) most = ratio, where = here.second;
  }
  if (ratios.empty()) return {std::nullopt, "the two share no op that was measured alike"};
  return {most, fmt::format("of {} measured alike, the best is {:.3g}x ({}), the middle {:.3g}x; claimed {:.3g}x",
                            counted(ratios.size(), "op"), most, where, middle(ratios), claim.factor)};
}

}  // namespace assay
