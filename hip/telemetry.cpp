// What a device says of itself ten times a second: from /sys, and the counter of energy from ROCm SMI.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/telemetry.h"

#include <exception>

#include "gpu/card_telemetry.h"
#include "hip/rocm.h"
#include "hip/rocm_smi.h"

namespace vendor {

std::unique_ptr<assay::Telemetry> make_telemetry() {
  try {
    const std::vector<PlacedDevice> placed = devices_by_place("/", visible_lists(process_environment()));
    const std::shared_ptr<const RocmSmi> smi = placed.empty() ? nullptr : RocmSmi::open();
    EnergyOf energy;
    if (smi != nullptr) energy = [smi](const std::string& pci) { return smi->energy_joules(pci); };
    return card_telemetry(placed, energy);
  } catch (const std::exception&) {
    return silent_telemetry();
  }
}

std::vector<assay::Fact> management_facts(const std::string& pci, const std::string&) { return card_facts(pci); }

}  // namespace vendor
