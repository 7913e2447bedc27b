// What the kernel driver says of cards ten times a second, and once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/telemetry.h"
#include "gpu/devices_by_place.h"

namespace vendor {

// A counter of energy in joules of the card at "0000:c1:00.0", for drivers whose files have none; may be empty.
using EnergyOf = std::function<std::optional<double>(const std::string& pci)>;

// Devices are counted as in `placed`. `root` is "/" but for tests.
std::unique_ptr<assay::Telemetry> card_telemetry(const std::vector<PlacedDevice>& placed, EnergyOf energy,
                                                 const std::filesystem::path& root = "/");

// Of which nothing is known but the time.
std::unique_ptr<assay::Telemetry> silent_telemetry();

// Limits of power, size of memory, firmware. Where the card shows nothing, one fact says so.
std::vector<assay::Fact> card_facts(const std::string& pci);

}  // namespace vendor
