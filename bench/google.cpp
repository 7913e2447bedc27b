// Registers cases with Google Benchmark and cleans up what it reports.
// SPDX-License-Identifier: Apache-2.0
#include "bench/google.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"

namespace assay {
namespace {

constexpr const char* not_taken = "not taken";

// Hands reports on to others, without the suffixes on the names ("/iterations:1/manual_time"), without numbers that
// JSON cannot hold, and without cases that were never begun.
class CleanReporter : public benchmark::BenchmarkReporter {
 public:
  void add(benchmark::BenchmarkReporter& reporter) { reporters_.push_back(&reporter); }

  bool ReportContext(const Context& context) override {
    bool all = true;
    for (auto* reporter : reporters_) all = reporter->ReportContext(context) && all;
    return all;
  }

  void ReportRuns(const std::vector<Run>& reports) override {
    std::vector<Run> clean;
    for (Run run : reports) {
      if (run.error_occurred && run.error_message == not_taken) continue;
      run.run_name.iterations.clear();
      run.run_name.repetitions.clear();
      run.run_name.time_type.clear();
      run.run_name.min_time.clear();
      for (auto counter = run.counters.begin(); counter != run.counters.end();)
        counter = std::isfinite(counter->second.value) ? std::next(counter) : run.counters.erase(counter);
      if (!std::isfinite(run.real_accumulated_time) || !std::isfinite(run.cpu_accumulated_time)) continue;
      clean.push_back(run);
    }
    if (clean.empty()) return;
    for (auto* reporter : reporters_) reporter->ReportRuns(clean);
  }

  void Finalize() override {
    for (auto* reporter : reporters_) reporter->Finalize();
  }

 private:
  std::vector<benchmark::BenchmarkReporter*> reporters_;
};

// A reporter that writes into memory, and where it goes in the end.
struct Output {
  std::unique_ptr<benchmark::BenchmarkReporter> reporter;
  std::ostringstream text;
  bool json = false;
};

bool wants_colour(const std::string& choice) {
  if (choice == "true" || choice == "yes" || choice == "1") return true;
  if (choice != "auto") return false;
  const char* none = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (none == nullptr || *none == '\0');
}

std::unique_ptr<benchmark::BenchmarkReporter> reporter_of(const std::string& format, const GoogleOptions& options) {
  using benchmark::ConsoleReporter;
  if (format == "json") return std::make_unique<benchmark::JSONReporter>();
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // it is still what --benchmark_format=csv means
  if (format == "csv") return std::make_unique<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
  int look = ConsoleReporter::OO_None;
  if (wants_colour(options.colour)) look |= ConsoleReporter::OO_Color;
  if (options.counters_tabular) look |= ConsoleReporter::OO_Tabular;
  return std::make_unique<ConsoleReporter>(static_cast<ConsoleReporter::OutputOptions>(look));
}

benchmark::TimeUnit unit_of(const std::string& name) {
  if (name == "ns") return benchmark::kNanosecond;
  if (name == "ms") return benchmark::kMillisecond;
  if (name == "s") return benchmark::kSecond;
  return benchmark::kMicrosecond;
}

void measure_once(benchmark::State& state, const GoogleCase& item, int repetition) {
  const GoogleResult result = item.take(repetition);
  if (!result.taken) {
    state.SkipWithError(not_taken);
  } else if (result.status != Status::ok) {
    // This version knows no skipping but by an error; the first word tells them apart.
    state.SkipWithError(fmt::format("{}: {}", text(result.status), result.reason).c_str());
  }
  for (auto _ : state) {
    static_cast<void>(_);
    state.SetIterationTime(result.seconds);
  }
  if (result.status != Status::ok || !result.taken) return;
  for (const auto& [name, value] : result.counters)
    if (std::isfinite(value)) state.counters[name] = value;
  state.SetLabel(result.label);
}

void register_cases(const std::vector<GoogleCase>& cases, int repetitions, const GoogleOptions& options) {
  benchmark::ClearRegisteredBenchmarks();
  for (const GoogleCase& item : cases) {
    auto measured = [&item, repetition = 0](benchmark::State& state) mutable {
      measure_once(state, item, repetition++);
    };
    auto* registered = benchmark::RegisterBenchmark(item.name.c_str(), measured);
    registered->Iterations(1)->UseManualTime()->Unit(unit_of(options.time_unit));
    registered->Repetitions(repetitions);  // even for 1: the library also listens to an environment variable
    if (options.aggregates_only) registered->ReportAggregatesOnly();
  }
}

// The library's own build is no property of what was measured, and Debian's says "debug".
std::string without_library_build(const std::string& text) {
  auto whole = nlohmann::ordered_json::parse(text, nullptr, false);
  if (whole.is_discarded()) return text;
  if (whole.contains("context")) whole["context"].erase("library_build_type");
  return whole.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw Error(fmt::format("cannot write {}: is the disk full?", path));
}

void initialise() {
  static char name[] = "assay";  // the library keeps the pointer
  char* arguments[] = {name, nullptr};
  int count = 1;
  benchmark::Initialize(&count, arguments);
}

}  // namespace

GoogleResult google_result(const std::vector<Row>& rows) {
  GoogleResult result;
  if (rows.empty()) {
    result.taken = false;
    return result;
  }
  result.status = Status::skipped;
  for (const Row& row : rows) {
    const bool worse = row.status == Status::failed ||
                       (row.status == Status::mistrusted && result.status != Status::failed) ||
                       (row.status == Status::ok && result.status == Status::skipped);
    if (worse || result.reason.empty()) result.reason = row.reason;
    if (worse) result.status = row.status;
    if (!row.value || row.status != Status::ok) continue;
    if (row.metric == "seconds" && result.seconds == 0)
      result.seconds = *row.value;
    else
      result.counters.emplace(row.metric, *row.value);
    if (result.label.empty()) result.label = row.method;
  }
  // Facts have no samples; how long it took to find them is all the time there is.
  if (result.seconds == 0) result.seconds = rows.front().elapsed_seconds.value_or(0);
  return result;
}

void check_google_output(const GoogleOptions& options) {
  if (options.out.empty()) return;
  std::error_code ignored;
  if (!options.overwrite && std::filesystem::exists(options.out, ignored))
    throw BadInput(fmt::format("{} exists already: name another file, or give --force to overwrite it", options.out));
  std::ofstream file(options.out, std::ios::binary | std::ios::app);
  if (!file) throw BadInput(fmt::format("cannot write the file {} of --benchmark_out", options.out));
}

void run_google(const std::vector<GoogleCase>& cases, int repetitions, const GoogleOptions& options) {
  initialise();
  for (const auto& [name, value] : options.context) benchmark::AddCustomContext(name, value);
  register_cases(cases, repetitions, options);

  CleanReporter all;
  Output shown, kept;
  if (!options.format.empty()) {
    shown.reporter = reporter_of(options.format, options);
    shown.json = options.format == "json";
    shown.reporter->SetOutputStream(shown.json ? &shown.text : &std::cout);
    shown.reporter->SetErrorStream(&std::cerr);
    all.add(*shown.reporter);
  }
  std::ostringstream unheard;  // the same warnings a second time
  if (!options.out.empty()) {
    GoogleOptions plain = options;
    plain.colour = "false";
    kept.reporter = reporter_of(options.out_format, plain);
    kept.json = options.out_format == "json";
    kept.reporter->SetOutputStream(&kept.text);
    kept.reporter->SetErrorStream(&unheard);
    all.add(*kept.reporter);
  }
  benchmark::RunSpecifiedBenchmarks(&all, "all");
  benchmark::ClearRegisteredBenchmarks();
  if (shown.json) std::cout << without_library_build(shown.text.str()) << std::flush;
  if (kept.reporter != nullptr)
    write_file(options.out, kept.json ? without_library_build(kept.text.str()) : kept.text.str());
}

}  // namespace assay
