// Which PCI device each device number of the runtime stands for, without the runtime: the process that reads telemetry
// must not open one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vendor {

struct PlacedDevice {
  std::string pci;        // "0000:c1:00.0"
  std::string unique_id;  // sixteen hexadecimal digits; empty where the card has none
  std::string gpu_id;     // KFD's number of it, "51826"; empty where it is not shown
};

// In the runtime's order: that of KFD's nodes, of which each list in turn chooses some, by numbers among what is left
// or by "GPU-" and a unique identifier; the first word that names nothing ends its list. Partitions of one card are
// devices of their own at one place. `root` is "/" but for tests.
std::vector<PlacedDevice> devices_by_place(const std::filesystem::path& root, const std::vector<std::string>& lists);

}  // namespace vendor
