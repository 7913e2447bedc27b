// Which device of the management library is which of the runtime's: the two count differently.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/nvml_device.h"

namespace vendor::nvml {

// One device as the runtime counts it.
struct Identity {
  std::string pci;   // "0000:3b:00.0"
  std::string uuid;  // 32 hexadecimal digits with dashes, no "GPU-" or "MIG-" before them
};

// Asks the driver library itself, which knows CUDA_VISIBLE_DEVICES and the order of this machine. Opens no context.
// Absent where the library is missing or does not start.
std::optional<std::vector<Identity>> driver_devices(const std::string& path = "libcuda.so.1");

// What the environment says, for when the driver library does not.
struct Environment {
  std::optional<std::string> visible;  // CUDA_VISIBLE_DEVICES
  std::string order;                   // CUDA_DEVICE_ORDER
};
Environment environment();

// One device as the management library counts it; partitions are not among them.
struct Managed {
  std::string pci;
  std::string uuid;  // "GPU-..."
  std::string name;
  bool partitioned = false;
};

// Places in `all` by the runtime's numbers. Absent where that cannot be known, so that no device is shown another's
// numbers: without an order by bus, different cards come fastest first; and partitions are counted by the driver alone.
std::optional<std::vector<std::size_t>> guessed_order(const std::vector<Managed>& all, const Environment& environment);

// Devices by the runtime's numbers; null where one cannot be told.
std::vector<std::unique_ptr<Device>> devices(const std::shared_ptr<const Library>& library,
                                             const std::optional<std::vector<Identity>>& identities,
                                             const Environment& environment);

// All physical devices, in the library's own order.
std::vector<std::unique_ptr<Device>> all_devices(const std::shared_ptr<const Library>& library);

// The device at that place on the bus, or the partition with that UUID where one is given and it is one.
std::unique_ptr<Device> find_device(const std::shared_ptr<const Library>& library, const Identity& identity);

}  // namespace vendor::nvml
