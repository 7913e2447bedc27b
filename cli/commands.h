// The subcommands: each takes what the command line said and returns the exit code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/probe.h"
#include "bench/run.h"
#include "cli/terminal.h"
#include "reports/gate/gate.h"
#include "reports/judge.h"
#include "reports/plan.h"

namespace assay {

// Exit codes of all commands; those of run, report, accept and gate are in docs/commands.md.
constexpr int exit_good = 0;
constexpr int exit_bad = 1;
constexpr int exit_unknown = 2;
constexpr int exit_usage = 64;
constexpr int exit_internal = 70;

// What `report` and `evaluate` are asked about.
struct ReportQuestion {
  std::vector<std::filesystem::path> runs;
  std::string model;  // empty: the overview
  Workload workload;
  std::string device;
  std::vector<std::filesystem::path> out;  // the ending decides: .html .md .json .txt
  bool force = false;
  bool whole = false;                      // print everything, not only the first screen
  std::optional<double> dollars_per_hour;  // of the whole machine
};

// What `watch` is asked to do.
struct WatchRequest {
  std::vector<std::string> command;
  double period = 0.1;  // seconds
  std::string model;    // whose prediction stands beside what was seen; empty: none
  Workload workload;
  std::filesystem::path framework;  // JSON with the framework's own figures, read when the command has ended
  std::vector<std::filesystem::path> out;
  std::filesystem::path plugins;
  bool force = false, quiet = false, whole = false;
};
int watch(const WatchRequest& request, const Terminal& terminal);

// What `plan` is asked about.
struct PlanRequest {
  std::string model;  // empty: every built-in model
  std::string gpu;    // empty: every card
  Workload workload;
  PlanOptions options;
  bool checklist = false;  // nothing but the blank checklist
  std::vector<std::filesystem::path> out;
  bool force = false, whole = false;
};
int plan(const PlanRequest& request, const Terminal& terminal);

int show_overview(const Terminal& terminal, const std::filesystem::path& plugins);
int doctor(const Terminal& terminal, const std::filesystem::path& plugins);
// The same, of what has been found already.
int doctor(const Terminal& terminal, const std::vector<Presence>& presences, const std::vector<Probed>& probed);
int list(const std::string& what, const Terminal& terminal, const std::filesystem::path& plugins);
int report(const ReportQuestion& question, const Terminal& terminal);

// What `accept` is asked.
struct AcceptQuestion {
  std::filesystem::path run;
  std::vector<std::filesystem::path> fleet;  // other machines of this kind, or earlier runs
  std::string claim;                         // empty: none
  std::vector<std::filesystem::path> out;    // .html and .json: the certificate; .md, .txt
  std::string explain;                       // a rule; then nothing else is done
  std::filesystem::path verify;              // a certificate; then nothing else is done
  bool redact = false;
  bool force = false;
  bool whole = false;
};
int accept(const AcceptQuestion& question, const Terminal& terminal);

// What `compare` is asked.
struct ComparedQuestion {
  std::vector<std::filesystem::path> runs;
  std::vector<std::string> devices;  // empty: every device but processors
  std::vector<double> prices;        // USD an hour and device: none, one, or one for each run
  std::string model;                 // empty: nothing is ranked
  Workload workload;
  std::string claim;                       // of speed; empty: none
  std::vector<std::filesystem::path> out;  // .html .md .json .csv .txt
  bool force = false;
  bool whole = false;
};
int compare(const ComparedQuestion& question, const Terminal& terminal);

// What `gate` is asked. Folders that hold runs stand for all of them.
struct GateQuestion {
  std::vector<std::filesystem::path> before, after, confirm_before, confirm_after;
  std::vector<std::filesystem::path> plan;  // runs of one state: how many runs the bar takes; then nothing else is done
  std::filesystem::path history;            // a folder that results are held against, and added to
  std::string move_baseline;                // why what was normal is not any more; then nothing else is done
  gate::GateRules rules;
  std::filesystem::path metrics;  // TOML; empty: everything is gated
  std::string model;              // whose fit is gated too; empty: none
  Workload workload;
  std::vector<std::filesystem::path> out;  // .html .md .json .txt
  std::filesystem::path junit, openmetrics, google_before, google_after;
  bool github = false;  // annotations, and a summary where GITHUB_STEP_SUMMARY says
  bool force = false;
  bool whole = false;
};
int run_gate(GateQuestion question, const Terminal& terminal);

// Fills RunOptions::devices where the user named none: every device that can be used. Throws BadInput where a GPU is
// visible but cannot be used: then the processor is measured only on request.
void choose_devices(RunOptions& options);

// doctor, run, accept and report in one. `claimed` holds the claim and the fleet; the certificate lies beside the run.
int evaluate(RunOptions options, ReportQuestion question, AcceptQuestion claimed, const Terminal& terminal);

}  // namespace assay
