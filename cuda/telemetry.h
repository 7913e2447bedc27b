// The state of NVIDIA devices by NVML, looked up at run time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/telemetry.h"

namespace vendor {

// Never null and never throws; where the library is missing every field is unknown.
std::unique_ptr<assay::Telemetry> make_telemetry();

// Facts about one device that only the management library knows: ECC, row remapping, link widths, MIG, virtualisation,
// compute mode, persistence, power limit, other processes. `pci` is "0000:3b:00.0". Empty where it cannot be asked.
std::vector<assay::Fact> management_facts(const std::string& pci);

}  // namespace vendor
