// Made-up machines: how run medians scatter on them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/gate/statistics.h"

namespace assay::gate {

// Standard deviations and shifts as shares of the time, chances as shares of runs or samples. The three profiles are
// fitted by eye to what people publish of their machines, such as ROCm/rocm-libraries#8123 (locked clocks) and
// tritonbench#143 (a runner of continuous integration).
struct Noise {
  std::string name;
  double run = 0;     // from process to process
  double load = 0;    // from driver load to driver load
  double sample = 0;  // inside a run
  double memory = 0;  // correlation of one sample with the next
  double wild = 0;    // chance that a sample is slow, and by how much on average
  double wild_size = 0;
  double bad = 0;  // chance that a whole run is slow, and the range of by how much
  double bad_least = 0, bad_most = 0;
  double drift = 0;  // over the whole experiment
  double mode = 0;   // chance of a slow mode of a run, and by how much
  double mode_size = 0;
};
const std::vector<Noise>& noises();  // locked, typical, rented
const Noise& noise(const std::string& name);

enum class Design { each_run_its_load, one_load_a_side };

// Logarithms of the medians of `runs` runs a side, collected A B B A ..., nothing changed. Each run has 50 samples.
Sides experiment(Draws& random, const Noise& noise, std::size_t runs, Design design);

// The same for many metrics of the same runs, which share half of what a process brings; by metric.
std::vector<Sides> suite(Draws& random, const Noise& noise, std::size_t runs, std::size_t metrics);

// Medians of `loads` driver loads a side, of `runs` runs each.
Sides load_medians(Draws& random, const Noise& noise, std::size_t loads, std::size_t runs);

Sides with_change(Sides sides, double share);  // the side after takes this much longer

}  // namespace assay::gate
