// The processor's plug-in with longer times: every execution takes ASSAY_PLANTED times as long, and its rows say so.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>
#include <utility>

#include "core/error.h"
#include "core/loader.h"

namespace {

using namespace assay;

double factor() {
  const char* text = std::getenv("ASSAY_PLANTED");
  const double factor = text == nullptr ? 0 : std::atof(text);
  if (!std::isfinite(factor) || factor < 1) throw Error("ASSAY_PLANTED must be a factor of at least 1, such as 1.10");
  return factor;
}

const Plugin& real() {
  static const LoadedPlugin loaded = load_plugin(REAL_PLUGINS, "cpu");
  if (loaded.plugin == nullptr) throw Error(loaded.reason);
  return *loaded.plugin;
}

class SlowedProgram : public Program {
 public:
  explicit SlowedProgram(std::unique_ptr<Program> program) : program_(std::move(program)) {}
  void fill(Pattern pattern, std::uint64_t seed) override { program_->fill(pattern, seed); }
  void write(int tensor, const std::vector<std::byte>& stored) override { program_->write(tensor, stored); }
  std::vector<double> read(int tensor, std::int64_t first, std::int64_t count) override {
    return program_->read(tensor, first, count);
  }
  std::vector<double> run(int executions) override { return longer(program_->run(executions)); }
  std::vector<double> run_by_step() override { return longer(program_->run_by_step()); }
  Footprint footprint() const override { return program_->footprint(); }
  Choice choice() const override {
    Choice choice = program_->choice();
    choice.planted = true;
    return choice;
  }

 private:
  static std::vector<double> longer(std::vector<double> seconds) {
    for (double& one : seconds) one *= factor();
    return seconds;
  }
  std::unique_ptr<Program> program_;
};

class SlowedBackend : public Backend {
 public:
  explicit SlowedBackend(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}
  std::vector<DeviceInfo> devices() override { return backend_->devices(); }
  std::vector<Fact> diagnosis() override { return backend_->diagnosis(); }
  Support supports(const Op& op, int device) override { return backend_->supports(op, device); }
  std::unique_ptr<Program> prepare(const Work& work, int device, const Preparation& preparation) override {
    return std::make_unique<SlowedProgram>(backend_->prepare(work, device, preparation));
  }
  std::vector<Fact> survey(Question question, int device) override { return backend_->survey(question, device); }

 private:
  std::unique_ptr<Backend> backend_;
};

std::unique_ptr<Backend> create_backend() {
  factor();  // says now what would be wrong later
  return std::make_unique<SlowedBackend>(real().create_backend());
}

std::unique_ptr<Telemetry> create_telemetry() {
  return real().create_telemetry == nullptr ? nullptr : real().create_telemetry();
}

}  // namespace

const Plugin* assay_plugin() {
  static const Plugin plugin = {contract_stamp(), "cpu", create_backend, create_telemetry};
  return &plugin;
}
