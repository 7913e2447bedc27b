// Runs of both sides of a change, made up in memory: each a process start on a driver load of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "reports/gate/gate.h"
#include "tests/reports/made_up_run.h"

namespace assay::gate {

// Shares that spread eight runs over 0.7 %, so that 2 % is seen and nothing is exact.
inline const std::vector<double>& wobble() {
  static const std::vector<double> all{0.000, 0.003, -0.002, 0.001, -0.003, 0.002, -0.001, 0.004};
  return all;
}

// A card with a product, a stream, a context and what can be allocated. Run `index` of side `side`, its times longer by
// `factor`.
inline Run made_up_card(const std::string& side, std::size_t index, double factor = 1) {
  Run run = made_up_run();
  run.path = side + "/" + std::to_string(index);
  run.info.id = side + "-" + std::to_string(index);
  run.info.profile = "standard";
  run.info.program_version = "0.1.0";
  run.info.facts.push_back({"boot_id", std::nullopt, "", side + std::to_string(index), "", ""});
  DeviceInfo& device = run.info.devices.front();
  device.id = "fake:0";
  device.backend = "fake";
  device.name = "Made-up Card";
  device.unique_id = "FAKE-1";
  device.driver = "1.0";
  const double own = factor * (1 + wobble()[index % wobble().size()]);
  run.rows.push_back(made_up_row("gemm/bf16/square/1024", made_up_gemm(1024, 1024, 1024), 2e-3 * own));
  run.rows.push_back(made_up_row("memory/triad/plain/dram", made_up_triad(2'400'000'000), 24e-3 * own));
  for (Row& row : run.rows) {
    row.method = "madeup 1.2 kernel 7";
    row.better = "lower";
    row.clock_hertz = 1.5e9;
  }
  for (const auto& [metric, bytes] : {std::pair{"allocatable_bytes", 60 * gib}, {"context_bytes", 0.5 * gib}}) {
    Row row;
    row.case_name = metric == std::string("context_bytes") ? "capacity/context" : "capacity/allocatable";
    row.family = "capacity";
    row.metric = metric;
    row.unit = "bytes";
    row.value = bytes;
    run.rows.push_back(row);
  }
  for (Row& row : run.rows) {
    row.run = run.info.id;
    row.device = "fake:0";
    row.backend = "fake";
    row.scope = "alone";
  }
  return run;
}

inline GateRuns made_up_runs(std::size_t count = 8, double slowdown = 0) {
  GateRuns runs;
  for (std::size_t i = 0; i < count; ++i) {
    runs.before.push_back(made_up_card("before", i));
    runs.after.push_back(made_up_card("after", count - 1 - i, 1 + slowdown));
  }
  return runs;
}

inline void each(std::vector<Run>& runs, const std::function<void(Run&)>& change) {
  for (Run& run : runs) change(run);
}

inline Row& row_of(Run& run, const std::string& case_name) {
  for (Row& row : run.rows)
    if (row.case_name == case_name) return row;
  throw std::runtime_error("no such case: " + case_name);
}

inline const MetricVerdict& verdict_of(const Gate& gate, const std::string& case_name) {
  for (const MetricVerdict& one : gate.metrics)
    if (one.key.case_name == case_name) return one;
  throw std::runtime_error("no verdict on " + case_name);
}

inline constexpr const char* product = "gemm/bf16/square/1024";
inline constexpr const char* stream = "memory/triad/plain/dram";

}  // namespace assay::gate
