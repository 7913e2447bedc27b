// Google Benchmark's JSON, schema version 1.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <nlohmann/json.hpp>

#include "reports/gate/ci.h"
#include "results/cell.h"

namespace assay::gate {
namespace {

using Json = nlohmann::ordered_json;

constexpr double nanoseconds = 1e9;

Json context_of(const std::vector<Run>& runs) {
  Json context;
  const RunInfo& info = runs.front().info;
  context["date"] = info.started_utc;
  context["host_name"] = clean_text(info.host);
  context["executable"] = "assay";
  int cores = 1;
  for (const DeviceInfo& device : info.devices)
    if (device.backend == "cpu") cores = device.compute_units.value_or(1);
  context["num_cpus"] = cores;
  context["mhz_per_cpu"] = 0;  // the form wants a number; the clock of each case is in its counters
  context["cpu_scaling_enabled"] = false;
  context["caches"] = Json::array();
  context["load_avg"] = Json::array();
  context["library_build_type"] = info.build_type == "Release" ? "release" : "debug";
  context["json_schema_version"] = 1;
  context["assay_version"] = info.program_version;
  context["assay_commit"] = info.commit;
  for (const DeviceInfo& device : info.devices) {
    context["device " + device.id] = clean_text(device.name);
    context["driver " + device.id] = clean_text(device.driver);
  }
  return context;
}

Json entry_of(const Key& key, const Observation& one, int family, std::size_t repetition, std::size_t repetitions) {
  Json entry;
  entry["name"] = text(key);
  entry["family_index"] = family;
  entry["per_family_instance_index"] = 0;
  entry["run_name"] = text(key);
  entry["run_type"] = "iteration";
  entry["repetitions"] = repetitions;
  entry["repetition_index"] = repetition;
  entry["threads"] = 1;
  if (!one.value) {
    entry["error_occurred"] = true;
    entry["error_message"] = clean_text(one.trouble.empty() ? "disturbed: " + one.unfit : one.trouble);
    return entry;
  }
  entry["iterations"] = one.row->executions.value_or(1);
  entry["real_time"] = *one.value * nanoseconds;
  entry["cpu_time"] = *one.value * nanoseconds;  // readers want it; what a device takes is no processor's time
  entry["time_unit"] = "ns";
  if (one.row->clock_hertz) entry["clock_hertz"] = *one.row->clock_hertz;
  if (one.row->power_watts) entry["power_watts"] = *one.row->power_watts;
  return entry;
}

}  // namespace

std::string google_benchmark(const std::vector<Run>& runs, bool planted_counts) {
  const Side side = observe(runs, planted_counts);
  Json file;
  file["context"] = context_of(runs);
  file["benchmarks"] = Json::array();
  int family = 0;
  for (const auto& [key, series] : side.series) {
    if (key.metric != "seconds") continue;
    for (std::size_t i = 0; i < series.size(); ++i)
      file["benchmarks"].push_back(entry_of(key, series[i], family, i, series.size()));
    ++family;
  }
  return file.dump(2) + "\n";
}

}  // namespace assay::gate
