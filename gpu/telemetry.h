// The state of the vendor's devices, by what is looked up at run time. Builds without a toolkit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/telemetry.h"

namespace vendor {

// Never null and never throws; where the library is missing every field is unknown. Devices are counted as the runtime
// counts them, hiding variables and partitions included.
std::unique_ptr<assay::Telemetry> make_telemetry();

// Facts about one device that only its management knows: ECC, row remapping, link widths, MIG, virtualisation,
// compute mode, persistence, power limit, other processes. `pci` is "0000:3b:00.0"; `uuid` tells a partition from the
// card it is on ("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", with or without "GPU-" or "MIG-" before it; may be empty).
// Where nothing can be asked, one fact says why. Never throws.
std::vector<assay::Fact> management_facts(const std::string& pci, const std::string& uuid = "");

}  // namespace vendor
