// Puts together what a run shows of a machine.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/observe.h"

namespace assay {

void Subject::number(const std::string& observation, double value, const std::string& evidence,
                     const std::string& case_name) {
  observations[observation] = {Knowledge::known, value, "", evidence, case_name};
}

void Subject::word(const std::string& observation, const std::string& word, const std::string& evidence,
                   const std::string& case_name) {
  observations[observation] = {Knowledge::known, std::nullopt, word, evidence, case_name};
}

void Subject::hidden(const std::string& observation, const std::string& why) {
  observations[observation] = {Knowledge::hidden, std::nullopt, "", why, ""};
}

void Subject::not_here(const std::string& observation, const std::string& why) {
  observations[observation] = {Knowledge::does_not_apply, std::nullopt, "", why, ""};
}

Evidence observe(const Run& run, const std::vector<Run>& fleet, const std::optional<Claim>& claim) {
  const Machine machine(run);
  const std::vector<Machine> others(fleet.begin(), fleet.end());
  Evidence evidence;
  evidence.host.id = "host";
  evidence.host.name = run.info.host;
  observe_host(evidence.host, machine);
  observe_siblings(evidence.host, machine);
  observe_all_reduce(evidence.host, machine);
  observe_claim(evidence.host, machine, others, claim);
  for (const DeviceInfo* device : machine.cards()) {
    Subject subject;
    subject.id = device->id;
    subject.name = device->name;
    observe_identity(subject, machine, *device);
    observe_power(subject, machine, *device);
    observe_health(subject, machine, *device);
    observe_speed(subject, machine, *device);
    observe_host_link(subject, machine, *device);
    observe_peers(subject, machine, *device);
    observe_fleet(subject, machine, *device, others);
    evidence.devices.push_back(std::move(subject));
  }
  return evidence;
}

}  // namespace assay
