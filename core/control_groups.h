// Finds the control groups (cgroups, v1 and v2) whose limits bind this process, and reads their files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// At most the first MiB of a small text file (of /proc or /sys, whose sizes say 0); absent where it cannot be read.
std::optional<std::string> read_small_file(const std::filesystem::path& path);

// The one whole number a file holds; absent for anything else, such as "max".
std::optional<std::int64_t> read_whole_number(const std::filesystem::path& path);

// The number after `key` in a file of lines "key number" or "key: number".
std::optional<std::int64_t> read_keyed_number(const std::filesystem::path& path, const std::string& key);

struct ControlGroup {
  std::filesystem::path folder;
  bool unified = false;  // v2
};

// The groups of this process for "cpu", "memory" or "pids": its own first, then every ancestor up to the root of the
// mount, in v1 and v2 hierarchies alike, since on a hybrid system either may hold the controller. In a container whose
// own path is not visible below the mount, the mount's root is the container's group.
std::vector<ControlGroup> control_groups(const std::filesystem::path& root, const std::string& controller);

}  // namespace assay
