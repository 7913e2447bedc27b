// The state of AMD devices by ROCm SMI, looked up at run time, and by /sys where there is none. Builds without the
// toolkit. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/telemetry.h"

namespace vendor {

// Never null and never throws; what is missing is unknown. Devices are counted as the runtime counts them,
// *_VISIBLE_DEVICES included.
std::unique_ptr<assay::Telemetry> make_telemetry();

// Facts about one device that only the kernel driver knows: limits of power, link widths, errors, firmware. `pci` is
// "0000:c1:00.0". Where nothing can be asked, one fact says why. Never throws.
std::vector<assay::Fact> management_facts(const std::string& pci, const std::string& uuid = "");

}  // namespace vendor
