// What `assay gate` was told on the command line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace assay {

// As typed.
struct GateWords {
  std::vector<std::string> before, after, confirm_before, confirm_after, plan;
  std::vector<std::string> subjects, allowed;
  std::string bar, metrics, inconclusive, no_baseline, load_spread, history, move_baseline;
  std::string junit, openmetrics, google_benchmark;
  bool github = false, planted = false;
};
void add_gate_options(CLI::App& command, GateWords& words);

// Without what other commands take too: model, workload, files. Throws BadInput.
GateQuestion understand_gate(const GateWords& words);

}  // namespace assay
