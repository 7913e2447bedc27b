// What a device says of itself ten times a second.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/telemetry.h"

#include <time.h>

#include <algorithm>
#include <exception>
#include <map>
#include <set>

#include "cuda/nvml_device.h"
#include "cuda/nvml_events.h"
#include "cuda/nvml_order.h"
#include "cuda/nvml_processes.h"
#include "gpu/card_telemetry.h"

namespace vendor {
namespace {

double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class NvmlTelemetry : public assay::Telemetry {
 public:
  NvmlTelemetry() {
    library_ = nvml::Library::open().library;
    if (library_ == nullptr) return;
    devices_ = nvml::devices(library_, nvml::driver_devices(), nvml::environment());
    std::vector<nvml::Handle> wholes;
    for (const auto& device : devices_)
      if (device != nullptr) wholes.push_back(device->whole());
    events_ = std::make_unique<nvml::Events>(library_, wholes);
  }

  assay::TelemetrySample sample(int number) override {
    assay::TelemetrySample sample;
    sample.time = monotonic_seconds();
    if (number < 0 || static_cast<std::size_t>(number) >= devices_.size()) return sample;
    nvml::Device* device = devices_[static_cast<std::size_t>(number)].get();
    if (device == nullptr) return sample;
    read_state(*device, sample);
    read_errors(*device, sample);
    read_xids(*device, sample);
    read_others(*device, sample);
    if (device->lost()) sample.conditions.push_back("device_lost");
    return sample;
  }

 private:
  static void read_state(nvml::Device& device, assay::TelemetrySample& sample) {
    sample.clock_hertz = device.clock_hertz(nvml::ClockKind::multiprocessor);
    sample.memory_clock_hertz = device.clock_hertz(nvml::ClockKind::memory);
    sample.power_watts = device.power_watts();
    sample.energy_joules = device.energy_joules();
    sample.temperature_celsius = device.temperature_celsius();
    sample.memory_temperature_celsius = device.memory_temperature_celsius();
    sample.busy = device.busy();
    sample.memory_used = device.memory_used();
    if (const auto reasons = device.clock_reasons()) sample.throttle = nvml::throttle_words(*reasons);
    const nvml::Pcie pcie = device.pcie();
    sample.pcie_generation = pcie.generation;
    sample.pcie_width = pcie.width;
    sample.pcie_generation_most = pcie.generation_most;
    sample.pcie_width_most = pcie.width_most;
  }

  static void read_errors(nvml::Device& device, assay::TelemetrySample& sample) {
    const auto add = [&](const char* name, std::optional<std::int64_t> count) {
      if (count) sample.errors.push_back({name, *count});
    };
    const nvml::Counts ecc = device.ecc_errors(nvml::CounterKind::since_boot);
    add("ecc_errors", ecc.uncorrected);
    add("ecc_corrected", ecc.corrected);
    if (const auto rows = device.remapped_rows()) add("rows_remapped", rows->corrected + rows->uncorrected);
    add("link_errors", device.link_errors());
    add("pcie_replays", device.pcie_replays());
  }

  // One question brings the events of all devices; those of the others wait for their turn.
  void read_xids(const nvml::Device& device, assay::TelemetrySample& sample) {
    for (const nvml::Events::Event& event : events_->take()) xids_[event.device].insert(event.xid);
    const auto mine = xids_.find(device.whole());
    if (mine == xids_.end()) return;
    for (const std::uint64_t xid : mine->second) sample.conditions.push_back("xid_" + std::to_string(xid));
    xids_.erase(mine);
  }

  // Processes of ours come and go, so a stranger counts only if it is one to a fresh look, too.
  void read_others(nvml::Device& device, assay::TelemetrySample& sample) {
    const auto listed = nvml::processes(device);
    if (!listed || listed->empty()) return;
    if (family_.strangers(*listed) == 0) return;
    family_ = Family();
    if (family_.strangers(*listed).value_or(0) > 0) sample.conditions.push_back("other_process");
  }

  std::shared_ptr<const nvml::Library> library_;
  std::vector<std::unique_ptr<nvml::Device>> devices_;
  std::unique_ptr<nvml::Events> events_;
  std::map<nvml::Handle, std::set<std::uint64_t>> xids_;
  Family family_;
};

}  // namespace

std::unique_ptr<assay::Telemetry> make_telemetry() {
  try {
    return std::make_unique<NvmlTelemetry>();
  } catch (const std::exception&) {
    return silent_telemetry();
  }
}

}  // namespace vendor
