// Measures cases in a process of its own, so that a fault or a hang costs no more than the case in flight.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/asked.h"
#include "bench/case.h"
#include "bench/process.h"
#include "results/row.h"

namespace assay {

// What a worker must know before it can measure anything.
struct WorkerOrder {
  std::filesystem::path plugin_folder;
  std::string plugin;
  int device_index = 0;
  DeviceInfo device;
  ProfileKind profile = ProfileKind::quick;
  std::filesystem::path storage_folder;
  std::optional<Asked> asked;  // a step beside the suite's own cases
};

// What came back for one case.
struct WorkerAnswer {
  std::vector<Row> rows;
  std::vector<double> samples;
  bool device_lost = false;  // and the worker has ended
};

// The front's side.
class Worker {
 public:
  Worker(const WorkerOrder& order, int number);

  Child& child() { return child_; }
  int number() const { return number_; }  // counts the workers of a run, from 1
  void ask(const std::string& case_name);
  static WorkerAnswer understand(const nlohmann::json& said);  // throws on nonsense

 private:
  Child child_;
  int number_;
};

}  // namespace assay
