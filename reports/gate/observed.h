// What runs say of each metric, one value for each process start.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "results/run.h"

namespace assay::gate {

// A process start: one repetition of one run. Driver loads are told apart by the label `driver_load`, else by the
// host's boot; where neither is recorded, `load` is empty.
struct Start {
  const Run* run = nullptr;
  int repetition = 0;
  std::string load;
};

// What is compared: a metric of a case on a device.
struct Key {
  int rank = 0;
  std::string device, case_name, metric;
  bool operator<(const Key& other) const {
    return std::tie(rank, device, case_name, metric) <
           std::tie(other.rank, other.device, other.case_name, other.metric);
  }
};
std::string text(const Key& key);  // "cuda:0 gemm/bf16/square/8192 seconds"

// One start's answer: `row` is null where the run has none for the metric.
struct Observation {
  std::size_t start = 0;  // index into Side::starts
  const Row* row = nullptr;
  std::string trouble;  // a sentence: failed, mistrusted, no positive value, there twice
  std::string unfit;    // what stood in the way of measuring: "thermal_throttle"
  bool planted = false;
  bool broken = false;          // failed, mistrusted, skipped, or gone although nothing cut the run short
  std::optional<double> value;  // only where there is neither trouble nor unfitness
};

struct Side {
  std::vector<Start> starts;
  std::map<Key, std::vector<Observation>> series;  // by start; every start has one for each key of either side
  std::size_t planted = 0;                         // rows that were refused
};

// Which of a run's metrics can be judged, and which way is better: "lower" or "higher"; "" for the others. Times,
// memory that can be had (`allocatable_bytes`) and memory that using a device takes (`context_bytes`), and whatever
// says itself which way is better.
std::string better(const Row& row);
bool gated_by_default(const std::string& metric);  // the first three of these; the others inform

// `planted_counts`: rows that were planted on purpose are taken for measured ones: for the gate's own tests.
Side observe(const std::vector<Run>& runs, bool planted_counts);

// Gives both sides the keys of the other, so that what is gone is seen.
void complete(Side& one, Side& other);

}  // namespace assay::gate
