// Google Benchmark as the front of a run: its names, repetitions, console and JSON.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "results/row.h"

namespace assay {

// What its flags ask for, as far as they make sense here.
struct GoogleOptions {
  bool list = false;   // --benchmark_list_tests
  std::string format;  // --benchmark_format: "console", "json", "csv"; empty: our own progress and table
  std::string out;     // --benchmark_out: a file
  std::string out_format = "json";
  bool overwrite = false;  // `out`, where it exists
  bool counters_tabular = false;
  bool aggregates_only = false;
  std::string time_unit = "us";
  std::string colour = "auto";
  std::map<std::string, std::string> context;
};

// One measurement of one case, as Google Benchmark shows it.
struct GoogleResult {
  bool taken = true;  // false: the run has ended, there is nothing to show
  Status status = Status::ok;
  std::string reason;
  double seconds = 0;
  std::map<std::string, double> counters;
  std::string label;
};
GoogleResult google_result(const std::vector<Row>& rows);

struct GoogleCase {
  std::string name;
  std::function<GoogleResult(int repetition)> take;  // must not throw
};

// Throws BadInput where the output file exists and must not be overwritten, or cannot be written: before anything is
// measured, not after an hour.
void check_google_output(const GoogleOptions& options);

// Registers the cases and runs each `repetitions` times. Throws Error where the output file cannot be written.
void run_google(const std::vector<GoogleCase>& cases, int repetitions, const GoogleOptions& options);

}  // namespace assay
