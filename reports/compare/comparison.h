// Devices side by side: what was measured alike on them, and what was not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/catalogue.h"
#include "reports/judge.h"
#include "reports/report.h"
#include "results/run.h"

namespace assay {

// One device of one run. The first contender is what the others are held against.
struct Contender {
  const Run* run = nullptr;
  const DeviceInfo* device = nullptr;
  const Gpu* gpu = nullptr;  // the catalogue's; null where the name is not known
  std::string name;          // short, and unlike those of the others
  std::optional<double> price_per_hour;
  std::string price_origin;  // "given", "published 2026-05 ..."
};

// Every device of every run but processors, or, where `devices` is not empty, those; of a run without other devices its
// processor. `prices`: none, one for all, or one for each run, in USD an hour and device. Throws BadInput where a
// device is in no run, or fewer than two are left.
std::vector<Contender> contenders(const std::vector<Run>& runs, const std::vector<std::string>& devices,
                                  const std::vector<double>& prices);

// What one contender took for one piece of work: the middle over repetitions, its interval the outermost.
struct Taken {
  double seconds = 0, lower = 0, upper = 0;
  std::optional<double> watts;
  std::string method, executed;
  std::string conditions;
};

// Work that is alike: same op, data, cache mode, phase, scope and variant. Method (a library) may differ between makers
// and is named; what really multiplied must not.
struct Alike {
  std::string case_name, op, data, cache, phase, variant, precision;
  double flops = 0, bytes = 0;              // of one execution; rate is by flops where there are any
  std::vector<std::optional<Taken>> taken;  // by contender
  std::vector<std::string> differences;     // sentences, for those that are shown with a remark
};

struct NotAlike {
  std::string what;  // the op, or the case
  std::string why;   // "data: typical on A, zero on B"
};

struct Comparison {
  std::vector<Contender> contenders;
  std::vector<Alike> alike;  // measured by two contenders or more
  std::vector<NotAlike> not_alike;
  std::vector<std::string> differences;  // of the runs: version, build, profile
};
Comparison compare(std::vector<Contender> contenders);

// A ratio of rates, this one over the first: above 1 is faster. Its interval is of the outermost ends.
Quantity speed_ratio(const Taken& taken, const Taken& first);

// The question that ranks: empty model for none.
struct CompareQuestion {
  const ModelSpec* model = nullptr;
  Workload workload;
  std::optional<std::string> speed_claim;  // "H100 is 30x A100 at inference"
};
Report comparison_report(const Comparison& comparison, const CompareQuestion& question);

// One line for each piece of work and contender.
std::string comparison_csv(const Comparison& comparison);

// 0 where something was compared, 2 where nothing was measured alike.
int exit_code_of(const Comparison& comparison);

}  // namespace assay
