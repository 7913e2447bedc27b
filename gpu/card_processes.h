// The processes that compute on a card, as the kernel driver lists them in /sys/class/kfd/kfd/proc.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gpu/processes.h"

namespace vendor {

// Those that hold memory of the device. `gpu_id` is KFD's number of it ("51826"). Absent where the driver lists none at
// all, as in some containers. `root` is "/" but for tests.
std::optional<std::vector<Listed>> card_processes(const std::string& gpu_id, const std::filesystem::path& root);

}  // namespace vendor
