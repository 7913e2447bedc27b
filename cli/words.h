// What was typed, before it is understood.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/gate_words.h"

namespace assay {

struct Words {
  std::string colour = "auto";
  std::string plugins;
  std::string profile, filter, out_folder, budget, repeat, resume, model, device, workload;
  std::map<std::string, std::string> fields;  // of the workload, by their names
  std::string gpu, cards, rank, tokens, price, purchase, years, residual, duty, energy, host_overhead, cooling;
  std::vector<std::string> devices, labels, runs, out_files;
  std::string list_what;
  std::string claim, explain, verify;
  std::vector<std::string> fleet, prices;
  std::string period, framework;
  GateWords gate;
  std::vector<std::string> watched;  // what stood behind "--"
  bool force = false, quiet = false, whole = false, train = false, checklist = false, buy = false, redact = false;
};

Workload understand_workload(const Words& words);

void add_plan_options(CLI::App& command, Words& words);
PlanRequest understand_plan(const Words& words);

}  // namespace assay
