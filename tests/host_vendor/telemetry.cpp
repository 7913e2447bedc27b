// Readings of the pretended devices.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/telemetry.h"

#include <ctime>

#include "tests/host_vendor/machine.h"
#include "tests/host_vendor/memory.h"

namespace vendor {
namespace {

class MadeUp : public assay::Telemetry {
 public:
  assay::TelemetrySample sample(int device) override {
    assay::TelemetrySample sample;
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    sample.time = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
    sample.clock_hertz = 1e9;
    sample.power_watts = 100;
    sample.temperature_celsius = 50;
    sample.throttle = "none";
    sample.memory_used = host::used(device);
    return sample;
  }
};

}  // namespace

std::unique_ptr<assay::Telemetry> make_telemetry() { return std::make_unique<MadeUp>(); }

std::vector<assay::Fact> management_facts(const std::string& pci, const std::string& uuid) {
  assay::Fact fact;
  fact.name = "management";
  fact.text = "pretended for " + pci + " " + uuid;
  fact.source = "made up";
  return {fact};
}

}  // namespace vendor
