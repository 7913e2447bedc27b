// Where a ROCm keeps its libraries, and which variables choose among its devices.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace vendor {

// $ROCM_PATH, then ROCm's folders in /opt, the newest first. Python's wheels are not looked at, since theirs bring a
// HIP runtime of their own, which knows nothing of our streams. `root` is "/" but for tests.
std::vector<std::filesystem::path> rocm_folders(const std::filesystem::path& root = "/");

using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// What ROCR_VISIBLE_DEVICES and then HIP_VISIBLE_DEVICES (or CUDA_VISIBLE_DEVICES) say, where they are set: each
// chooses among the devices that the one before has left.
std::vector<std::string> visible_lists(const Environment& environment);

}  // namespace vendor
