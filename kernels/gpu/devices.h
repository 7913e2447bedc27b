// What devices there are, and why where there are none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/device.h"
#include "gpu/runtime.h"

namespace assay::gpu {

// All devices that the driver lists, by number, with what the management library knows of them. One that cannot be used
// stays in the list and says why among its facts. Never throws.
std::vector<DeviceInfo> list_devices(const vendor::Availability& found);

// How many devices can be used, or why none.
Fact availability_fact(const vendor::Availability& found);

// The value of a fact that is words; empty where there is none.
std::string fact_text(const DeviceInfo& device, const std::string& name);

}  // namespace assay::gpu
