// Devices, support, programs and surveys of one vendor.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/backend.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "gpu/telemetry.h"
#include "kernels/gpu/clock.h"
#include "kernels/gpu/devices.h"
#include "kernels/gpu/make_kernel.h"
#include "kernels/gpu/program.h"
#include "kernels/gpu/survey.h"

namespace assay::gpu {
namespace {

// What the first use of a device cost this process.
struct FirstUse {
  std::optional<std::int64_t> memory;  // bytes of the device, where the management library counts them
  double seconds = 0;
  std::int64_t missing = 0;  // bytes of the device that are not free although nothing was allocated
};

std::optional<std::int64_t> memory_used(Telemetry* telemetry, int device) {
  if (telemetry == nullptr) return std::nullopt;
  return telemetry->sample(device).memory_used;
}

class GpuBackend : public Backend {
 public:
  explicit GpuBackend(std::filesystem::path root) : root_(std::move(root)) {}

  std::vector<DeviceInfo> devices() override { return list_devices(available()); }

  std::vector<Fact> diagnosis() override {
    std::vector<Fact> facts = {availability_fact(available())};
    for (Fact& fact : library()->facts()) facts.push_back(std::move(fact));
    return facts;
  }

  Support supports(const Op& op, int device) override {
    try {
      require_device(device);
      return step_support(op, *library(), device, available().devices);
    } catch (const std::exception& error) {
      return {false, error.what()};
    }
  }

  std::unique_ptr<Program> prepare(const Work& work, int device, const Preparation& preparation) override {
    enter(device);
    for (const Step& step : work.steps) {
      const Support answer = step_support(step.op, *library(), device, available().devices);
      if (!answer.yes) throw Unsupported(answer.reason);
    }
    return make_program(work, preparation, {device, library()});
  }

  std::vector<Fact> survey(Question question, int device) override {
    enter(device);
    const bool integrated = question != Question::limits && fact_text(vendor::describe(device), "integrated") == "yes";
    const SurveyLimits limits = assay::gpu::survey_limits(vendor::memory_state().total, integrated);
    switch (question) {
      case Question::capacity:
        return survey_capacity(limits, device);
      case Question::context_cost:
        return context_cost(device);
      case Question::rounding:
        return survey_rounding(limits, device);
      case Question::integrity:
        return survey_integrity(limits, device);
      case Question::limits:
        return list_devices(available()).at(static_cast<std::size_t>(device)).facts;
    }
    throw Error("asking a device an unknown question");
  }

 private:
  const vendor::Availability& available() {
    if (!available_) available_ = vendor::availability();
    return *available_;
  }

  // Opened late: that takes time, and most questions do not need it.
  std::shared_ptr<vendor::MatrixLibrary> library() {
    if (library_ == nullptr) library_ = vendor::open_matrix_library(root_);
    return library_;
  }

  void require_device(int device) {
    const vendor::Availability& found = available();
    if (found.devices == 0) throw Unsupported("no device can be used: " + found.reason);
    if (device < 0 || device >= found.devices) {
      throw Error("there is no device " + std::string(vendor::backend_name) + ":" + std::to_string(device) +
                  "; the driver lists " + std::to_string(found.devices));
    }
  }

  // The first use of a device makes a context; what that takes can only be seen then.
  void enter(int device) {
    require_device(device);
    if (first_uses_.count(device) == 0) {
      const auto telemetry = vendor::make_telemetry();
      const auto before = memory_used(telemetry.get(), device);
      FirstUse use;
      const double started = monotonic_seconds();
      vendor::use(device);
      const vendor::MemoryState state = vendor::memory_state();
      use.seconds = monotonic_seconds() - started;
      use.missing = state.total - state.free;
      const auto after = memory_used(telemetry.get(), device);
      if (before && after && *after >= *before) use.memory = *after - *before;
      first_uses_.emplace(device, use);
    }
    vendor::use(device);
  }

  std::vector<Fact> context_cost(int device) {
    const FirstUse& use = first_uses_.at(device);
    std::vector<Fact> facts;
    Fact memory = number_fact("context_bytes", 0, "bytes", "what using the device at all takes of its memory",
                              "the management library's count of memory in use");
    memory.value.reset();
    if (use.memory) {
      memory.value = static_cast<double>(*use.memory);
    } else {
      memory.reason = "the management library does not count the device's memory here";
    }
    facts.push_back(memory);
    facts.push_back(number_fact("unavailable_bytes", static_cast<double>(use.missing), "bytes",
                                "not free before anything was allocated: the context, what the driver keeps, and other "
                                "programs",
                                "driver"));
    facts.push_back(number_fact("context_seconds", use.seconds, "seconds", "until the device could be used at first",
                                "host clock"));
    return facts;
  }

  std::filesystem::path root_;
  std::optional<vendor::Availability> available_;
  std::shared_ptr<vendor::MatrixLibrary> library_;
  std::map<int, FirstUse> first_uses_;
};

}  // namespace

std::unique_ptr<Backend> make_backend(const std::filesystem::path& root) { return std::make_unique<GpuBackend>(root); }

}  // namespace assay::gpu
