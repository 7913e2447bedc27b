// Who else uses a device, as far as that can be known from where we are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cuda/nvml_device.h"
#include "gpu/processes.h"

namespace vendor::nvml {

// Compute and graphics processes of the device or partition, each once. Absent where the driver does not tell.
std::optional<std::vector<Listed>> processes(Device& device);

// The layout of the entries changed three times under two names, once without a new name (drivers 535.43 to 535.86),
// so it is read off from how much was written: 16, 24 or 32 bytes an entry. `written` bytes hold `count` entries.
std::size_t entry_bytes(std::size_t written, std::size_t count);

}  // namespace vendor::nvml
