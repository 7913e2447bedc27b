// What a run is going to measure: on which devices, which cases, and what of it an earlier part has done already.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "bench/children.h"
#include "bench/probe.h"
#include "bench/session.h"
#include "results/run.h"

namespace assay {

// All devices of the answers, in their order.
std::vector<Target> targets_of(const std::vector<Probed>& answers);

// The plug-ins that need to be asked when only these devices are wanted ("cuda:1" belongs to "cuda"); empty: all.
std::vector<std::string> plugins_for(const std::vector<std::string>& wanted);

// Those of `all` that are wanted ("cpu", "cuda:1"; empty: all). Throws BadInput naming what there is where one is not,
// with the reason of its plug-in where that gave one.
std::vector<Target> choose(const std::vector<Target>& all, const std::vector<std::string>& wanted,
                           const std::vector<Probed>& answers);

// Every case that the filter takes, device by device, in the order of the catalogue. Throws BadInput where none is
// left. A filter may speak of the case's name or, with several devices, of its label "cuda:1/gemm/...".
std::vector<Planned> plan_cases(const std::vector<Target>& targets, const Suite& suite, ProfileKind profile,
                                const std::string& filter, const std::optional<Asked>& asked = std::nullopt);

// "cpu:0 gemm/fp32/square/512", as run.json lists what was planned.
std::string planned_name(const Planned& planned, const std::vector<Target>& targets);

// The measurements that a run holds: device, case, repetition. One that was only skipped for want of time is not.
using Done = std::set<std::tuple<std::string, std::string, int>>;
Done done_in(const std::vector<Row>& rows);

// The targets of a run that is gone on with, with the device facts that it was planned by. Throws BadInput where a
// device is missing now or is another one.
std::vector<Target> same_targets(const RunInfo& before, const std::vector<Target>& now);

}  // namespace assay
