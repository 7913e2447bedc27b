// `assay run`: measures this machine and leaves a run on disk.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/asked.h"
#include "bench/children.h"
#include "bench/google.h"
#include "bench/profile.h"

namespace assay {

// How long to wait for something that may never answer, in seconds.
struct Patience {
  double probe = 30;       // for the devices of a plug-in
  double worker = 30;      // more for the first case of a worker, which starts the driver
  double at_least = 60;    // for a case, however busy its machine is, and
  double per_second = 10;  // for each second it is expected to take
  double telemetry = 10;   // of silence
};

struct RunOptions {
  std::optional<ProfileKind> profile;  // quick
  std::string filter;
  std::vector<std::string> devices;  // "cpu", "cuda:1"; empty: all that can be used
  std::filesystem::path out;         // the run's folder; empty: runs/<time>-<host>
  std::filesystem::path resume;      // a run to go on with; then profile, filter, devices, out and repeat come from it
  double budget_seconds = 0;         // 0: none
  std::optional<int> repeat;         // 1
  std::map<std::string, std::string> labels;
  std::optional<Asked> asked;  // a model's step at a size, beside the profile's cases
  bool force = false;          // overwrite a run in `out`
  bool quiet = false;          // no progress, no table
  bool colour = true;          // where the terminal can; NO_COLOR is honoured besides
  std::string command;         // as the user typed it, for the record
  GoogleOptions google;

  // For tests.
  std::filesystem::path plugins;  // where plug-ins live; empty: in this installation
  Patience patience;
};

// Returns the exit code: 0 every case ok or skipped and at least one ok, 1 any failed or mistrusted, 2 nothing usable,
// 128 + n after signal n. Throws BadInput (64), and Error (70) where the run cannot be written; what was measured until
// then is on disk.
int run(const RunOptions& options, const Suite& suite = {});

// Takes one argument in Google Benchmark's manner, "--benchmark_repetitions=3", into the options. False where it is
// none; throws BadInput where it makes no sense here.
bool take_google_flag(const std::string& argument, RunOptions& options);

}  // namespace assay
