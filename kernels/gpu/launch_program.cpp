// Host-clocked programs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/launch_program.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "kernels/gpu/clock.h"
#include "kernels/gpu/launch.h"

namespace assay::gpu {
namespace {

class LaunchProgram : public Program {
 public:
  LaunchProgram(const Work& work, int device) : work_(work), device_(device) {
    for (const Step& step : work.steps) chores_.push_back(make_chore(std::get<Launch>(step.op), stream_.get()));
  }

  void fill(Pattern, std::uint64_t) override {}
  void write(int, const std::vector<std::byte>&) override { throw Error(work_.name + " has no tensors to write"); }
  std::vector<double> read(int, std::int64_t, std::int64_t) override {
    throw Error(work_.name + " has no tensors to read");
  }

  std::vector<double> run(int executions) override {
    if (executions < 1) throw Error("running " + work_.name + " " + std::to_string(executions) + " times");
    double total = 0;
    for (int i = 0; i < executions; ++i) {
      const std::vector<double> steps = run_by_step();
      total = std::accumulate(steps.begin(), steps.end(), total);
    }
    return {total};
  }

  std::vector<double> run_by_step() override {
    vendor::use(device_);
    std::vector<double> seconds;
    for (const auto& chore : chores_) {
      const double start = monotonic_seconds();
      chore->run();
      seconds.push_back(monotonic_seconds() - start);
    }
    return seconds;
  }

  Footprint footprint() const override { return {}; }
  Choice choice() const override { return chores_.front()->choice(); }

 private:
  Work work_;
  int device_;
  StreamHandle stream_ = new_stream();
  std::vector<std::unique_ptr<Chore>> chores_;
};

}  // namespace

bool is_launch_work(const Work& work) {
  return !work.steps.empty() && std::all_of(work.steps.begin(), work.steps.end(),
                                            [](const Step& step) { return std::holds_alternative<Launch>(step.op); });
}

std::unique_ptr<Program> make_launch_program(const Work& work, int device) {
  return std::make_unique<LaunchProgram>(work, device);
}

}  // namespace assay::gpu
