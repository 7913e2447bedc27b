// The parts of observe(), one a subject.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "reports/accept/machine.h"
#include "reports/accept/observation.h"

namespace assay {

void observe_identity(Subject& subject, const Machine& machine, const DeviceInfo& device);
void observe_power(Subject& subject, const Machine& machine, const DeviceInfo& device);
void observe_health(Subject& subject, const Machine& machine, const DeviceInfo& device);
void observe_speed(Subject& subject, const Machine& machine, const DeviceInfo& device);
void observe_host_link(Subject& subject, const Machine& machine, const DeviceInfo& device);
void observe_peers(Subject& subject, const Machine& machine, const DeviceInfo& device);
void observe_fleet(Subject& subject, const Machine& machine, const DeviceInfo& device,
                   const std::vector<Machine>& fleet);

void observe_host(Subject& host, const Machine& machine);
void observe_siblings(Subject& host, const Machine& machine);
void observe_all_reduce(Subject& host, const Machine& machine);
void observe_claim(Subject& host, const Machine& machine, const std::vector<Machine>& fleet,
                   const std::optional<Claim>& claim);

}  // namespace assay
