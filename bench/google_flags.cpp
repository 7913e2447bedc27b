// Which of Google Benchmark's flags are understood, and why the others are not.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "bench/run.h"
#include "core/error.h"
#include "core/nearest.h"

namespace assay {
namespace {

using Taker = std::function<void(const std::string& value, RunOptions& options)>;

bool yes_or_no(const std::string& flag, const std::string& value) {
  if (value.empty() || value == "true" || value == "yes" || value == "1" || value == "on") return true;
  if (value == "false" || value == "no" || value == "0" || value == "off") return false;
  throw BadInput(fmt::format("--{} is true or false, not \"{}\"", flag, value));
}

std::string one_of(const std::string& flag, const std::string& value, const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
  throw BadInput(fmt::format("--{} is one of {}, not \"{}\"", flag, fmt::join(choices, ", "), value));
}

int repetitions(const std::string& value) {
  int number = 0;
  const auto read = std::from_chars(value.data(), value.data() + value.size(), number);
  if (read.ec != std::errc() || read.ptr != value.data() + value.size() || number < 1 || number > 1000)
    throw BadInput(fmt::format("--benchmark_repetitions is a number from 1 to 1000, not \"{}\"", value));
  return number;
}

void add_context(const std::string& value, std::map<std::string, std::string>& context) {
  const auto middle = value.find('=');
  if (middle == std::string::npos || middle == 0)
    throw BadInput(fmt::format("--benchmark_context is key=value, not \"{}\"", value));
  context[value.substr(0, middle)] = value.substr(middle + 1);
}

const std::map<std::string, Taker>& understood() {
  static const std::map<std::string, Taker> takers = {
      {"benchmark_filter",
       [](const std::string& value, RunOptions& to) { to.filter = value == "all" ? std::string() : value; }},
      {"benchmark_list_tests",
       [](const std::string& value, RunOptions& to) { to.google.list = yes_or_no("benchmark_list_tests", value); }},
      {"benchmark_repetitions", [](const std::string& value, RunOptions& to) { to.repeat = repetitions(value); }},
      {"benchmark_format",
       [](const std::string& value, RunOptions& to) {
         to.google.format = one_of("benchmark_format", value, {"console", "json", "csv"});
       }},
      {"benchmark_out",
       [](const std::string& value, RunOptions& to) {
         if (value.empty()) throw BadInput("--benchmark_out needs the name of a file");
         to.google.out = value;
       }},
      {"benchmark_out_format",
       [](const std::string& value, RunOptions& to) {
         to.google.out_format = one_of("benchmark_out_format", value, {"console", "json", "csv"});
       }},
      {"benchmark_counters_tabular",
       [](const std::string& value, RunOptions& to) {
         to.google.counters_tabular = yes_or_no("benchmark_counters_tabular", value);
       }},
      {"benchmark_report_aggregates_only",
       [](const std::string& value, RunOptions& to) {
         to.google.aggregates_only = yes_or_no("benchmark_report_aggregates_only", value);
       }},
      {"benchmark_color",
       [](const std::string& value, RunOptions& to) {
         to.google.colour = value == "auto" || yes_or_no("benchmark_color", value) ? value : "false";
       }},
      {"benchmark_time_unit",
       [](const std::string& value, RunOptions& to) {
         to.google.time_unit = one_of("benchmark_time_unit", value, {"ns", "us", "ms", "s"});
       }},
      {"benchmark_context", [](const std::string& value, RunOptions& to) { add_context(value, to.google.context); }},
  };
  return takers;
}

const std::map<std::string, std::string>& refused() {
  constexpr const char* own =
      "one iteration here is one whole measurement, whose warm-up, samples and end --profile decides";
  static const std::map<std::string, std::string> reasons = {
      {"benchmark_min_time", own},
      {"benchmark_min_warmup_time", own},
      {"benchmark_enable_random_interleaving",
       "each repetition is measured in a fresh process already; use --benchmark_repetitions or --repeat"},
      {"benchmark_display_aggregates_only", "use --benchmark_report_aggregates_only"},
      {"benchmark_perf_counters", "the work runs in another process than Google Benchmark"},
      {"benchmark_dry_run", "use --benchmark_list_tests to see what would be measured"},
  };
  return reasons;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const auto& one : understood()) names.push_back("--" + one.first);
  return names;
}

}  // namespace

bool take_google_flag(const std::string& argument, RunOptions& options) {
  constexpr std::string_view start = "--benchmark_";
  if (argument.compare(0, start.size(), start) != 0) return false;
  const auto middle = argument.find('=');
  const std::string name = argument.substr(2, middle == std::string::npos ? middle : middle - 2);
  const std::string value = middle == std::string::npos ? std::string() : argument.substr(middle + 1);
  if (const auto why = refused().find(name); why != refused().end())
    throw BadInput(fmt::format("--{} does not apply: {}", name, why->second));
  const auto taker = understood().find(name);
  if (taker == understood().end())
    throw BadInput(fmt::format("there is no option --{}{}", name, did_you_mean("--" + name, known_names())));
  taker->second(value, options);
  return true;
}

}  // namespace assay
