// The front's part in measuring: hands cases to workers one at a time and writes down what becomes of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/budget.h"
#include "bench/run.h"
#include "bench/signals.h"
#include "bench/telemetry_process.h"
#include "bench/worker.h"
#include "results/run.h"

namespace assay {

// A device that is measured, and where to find it.
struct Target {
  std::string plugin;
  int index = 0;  // within the plug-in
  DeviceInfo device;
};

// A case on a device.
struct Planned {
  std::size_t target = 0;
  Case item;
  std::string label;  // what people and Google Benchmark call it: with the device where there are several
};

// ok where the case gave anything to go by and nothing was wrong: failed beats mistrusted beats ok beats skipped.
Status worst(const std::vector<Row>& rows);

class Session {
 public:
  struct Order {
    std::filesystem::path plugin_folder;
    ProfileKind profile = ProfileKind::quick;
    std::filesystem::path storage_folder;
    Patience patience;
    std::optional<Asked> asked;
  };
  // `tick` is called about twice a second while a case runs.
  Session(Order order, std::vector<Target> targets, Budget budget, RunWriter& writer, Signals& signals,
          std::function<void()> tick);

  // Measures once, writes the rows and returns them; none where the run has ended. Throws nothing: what the writer
  // threw is in failure().
  std::vector<Row> take(const Planned& planned, int repetition);

  bool over() const { return failure_ != nullptr || signal_.has_value(); }
  std::optional<int> signal() const { return signal_; }
  std::exception_ptr failure() const { return failure_; }
  bool budget_used_up() const { return budget_used_up_; }
  const std::vector<std::string>& remarks() const { return telemetry_.remarks(); }

 private:
  struct Outcome {
    std::vector<Row> rows;
    std::vector<double> samples;
  };
  enum class Why { answered, closed, late, out_of_budget, signalled };

  Outcome attempt(const Planned& planned, int repetition);
  Outcome measure(const Planned& planned, int repetition);
  Outcome answered(const Planned& planned, const nlohmann::json& said, double start);
  Outcome faulted(const Planned& planned, const std::string& reason, double start);
  void count_fault(const Planned& planned, const std::string& reason);
  Outcome skipped(const Planned& planned, const std::string& reason) const;
  Worker& worker_for(const Planned& planned, int repetition);
  Why await(double deadline, std::optional<nlohmann::json>& said);
  std::string what_went_wrong(Why why, double waited);
  double patience_for(const Planned& planned, bool fresh) const;
  void write(const Planned& planned, int repetition, Outcome& outcome);

  Order order_;
  std::vector<Target> targets_;
  Budget budget_;
  RunWriter& writer_;
  Signals& signals_;
  std::function<void()> tick_;
  TelemetryProcesses telemetry_;

  std::unique_ptr<Worker> worker_;
  std::string worker_serves_;  // device and family
  bool worker_is_fresh_ = false;
  int workers_ = 0;
  std::map<std::size_t, int> faults_;        // in a row, by target
  std::map<std::size_t, std::string> lost_;  // why, by target
  std::optional<int> signal_;
  std::exception_ptr failure_;
  bool budget_used_up_ = false;
};

}  // namespace assay
