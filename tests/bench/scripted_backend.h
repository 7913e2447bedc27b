// A back end for tests of measuring: it computes with the interpreter, tells scripted times, and can be made to lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/interpreter.h"

namespace assay {

// What the back end does, right or wrong. Shared by all its programs.
struct Script {
  double now = 0;                                     // the host's clock, moved by what runs
  double seconds_per_execution = 1e-3;                // told, and by how much the clock moves
  std::function<double(std::int64_t)> seconds;        // of the n-th run, if the time is not always the same
  std::vector<double> other_lanes;                    // seconds of one execution in further lanes
  std::function<void(const Work&, Values&)> execute;  // in place of the interpreter
  std::string unsupported;                            // the reason, if nothing is supported
  std::function<void()> on_prepare;                   // may throw
  std::function<void()> on_run;                       // may throw
  std::vector<Fact> facts;
  Choice choice{"scripted 1.0", "", "", 4096, std::nullopt, ""};
  std::int64_t runs = 0;
  std::int64_t executions = 0;
  std::vector<Pattern> fills;
};

class ScriptedProgram : public Program {
 public:
  ScriptedProgram(Work work, Script& script) : work_(std::move(work)), script_(script) {}

  void fill(Pattern pattern, std::uint64_t seed) override {
    values_ = initial_values(work_, pattern, seed);
    script_.fills.push_back(pattern);
  }
  void write(int, const std::vector<std::byte>&) override {}
  std::vector<double> read(int tensor, std::int64_t first, std::int64_t count) override {
    const auto& values = values_.at(static_cast<std::size_t>(tensor));
    return {values.begin() + first, values.begin() + first + count};
  }
  std::vector<double> run(int executions) override {
    if (script_.on_run) script_.on_run();
    // Every execution gives the same here unless something is added to; one stands for all.
    execute();
    ++script_.runs;
    script_.executions += executions;
    const double once = script_.seconds ? script_.seconds(script_.runs) : script_.seconds_per_execution;
    script_.now += once * executions;
    std::vector<double> lanes = {once * executions};
    for (const double lane : script_.other_lanes) lanes.push_back(lane * executions);
    return lanes;
  }
  std::vector<double> run_by_step() override {
    execute();
    return std::vector<double>(work_.steps.size(), script_.seconds_per_execution);
  }
  Footprint footprint() const override { return {1000, 1024, 2048, std::nullopt, 64}; }
  Choice choice() const override { return script_.choice; }

 private:
  void execute() {
    if (script_.execute) {
      script_.execute(work_, values_);
    } else {
      interpret(work_, values_, true);
    }
  }

  Work work_;
  Script& script_;
  Values values_;
};

class ScriptedBackend : public Backend {
 public:
  explicit ScriptedBackend(Script& script) : script_(script) {}
  std::vector<DeviceInfo> devices() override { return {}; }
  std::vector<Fact> diagnosis() override { return {}; }
  Support supports(const Op&, int) override { return {script_.unsupported.empty(), script_.unsupported}; }
  std::unique_ptr<Program> prepare(const Work& work, int, const Preparation&) override {
    if (script_.on_prepare) script_.on_prepare();
    return std::make_unique<ScriptedProgram>(work, script_);
  }
  std::vector<Fact> survey(Question, int) override { return script_.facts; }

 private:
  Script& script_;
};

}  // namespace assay
