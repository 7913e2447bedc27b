// The fit of a model by each run of both sides.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/fit.h"

#include <algorithm>
#include <map>

#include "core/error.h"

namespace assay::gate {
namespace {

Answer answer_of(const Run& run, const GateRules& rules, const std::string& device) {
  try {
    const Report report = assay::judge({run}, *rules.model, rules.workload, device);
    return report.verdict ? report.verdict->answer : Answer::not_judged;
  } catch (const BadInput&) {
    return Answer::not_judged;  // the device is not in this run
  }
}

// What most of the runs say; of equally many, the worse.
Answer most_say(const std::vector<Run>& runs, const GateRules& rules, const std::string& device) {
  std::map<Answer, int> counts;
  for (const Run& run : runs) ++counts[answer_of(run, rules, device)];
  Answer most = Answer::fits;
  int highest = 0;
  for (const Answer answer : {Answer::does_not_fit, Answer::not_judged, Answer::tight, Answer::fits})
    if (counts[answer] > highest) highest = counts[answer], most = answer;
  return most;
}

}  // namespace

Verdict fit_verdict(Answer before, Answer after) {
  const auto fits = [](Answer answer) { return answer == Answer::fits || answer == Answer::tight; };
  if (before == Answer::not_judged || after == Answer::not_judged) return Verdict::inconclusive;
  return fits(before) && !fits(after) ? Verdict::broken : Verdict::ok;
}

std::vector<FitVerdict> judge_fits(const GateRuns& runs, const GateRules& rules) {
  std::vector<FitVerdict> all;
  const auto& devices = runs.before.front().info.devices;
  const bool cards =
      std::any_of(devices.begin(), devices.end(), [](const DeviceInfo& device) { return device.backend != "cpu"; });
  for (const DeviceInfo& device : devices) {
    if (cards && device.backend == "cpu") continue;
    FitVerdict one;
    one.device = device.id;
    one.before = most_say(runs.before, rules, device.id);
    one.after = most_say(runs.after, rules, device.id);
    one.verdict = fit_verdict(one.before, one.after);
    one.reason =
        rules.model->title + " on " + device.id + ": " + text(one.before) + " before, " + text(one.after) + " after";
    all.push_back(one);
  }
  return all;
}

}  // namespace assay::gate
