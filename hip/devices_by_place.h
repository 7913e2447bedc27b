// Which PCI device each device number of the runtime stands for, without the runtime: the process that reads telemetry
// must not open one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace vendor {

struct PlacedDevice {
  std::string pci;        // "0000:c1:00.0"
  std::string unique_id;  // sixteen hexadecimal digits; empty where the card has none
};

using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// In the runtime's order: that of KFD's nodes, of which ROCR_VISIBLE_DEVICES and then HIP_VISIBLE_DEVICES (or
// CUDA_VISIBLE_DEVICES) choose some. Partitions of one card are devices of their own at one place. `root` is "/" but
// for tests.
std::vector<PlacedDevice> devices_by_place(const std::filesystem::path& root, const Environment& environment);

}  // namespace vendor
