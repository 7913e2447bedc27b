// What a command and everything that it started take of this machine at one moment, read from /proc without root.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay {

struct ProcessUse {
  pid_t pid = 0;
  std::string name;                          // as the kernel knows it, at most 15 letters
  std::int64_t resident = 0;                 // bytes, pages shared with others counted in full
  std::int64_t resident_peak = 0;            // bytes, the kernel's own highest since the process began
  std::optional<std::int64_t> proportional;  // bytes, shared pages divided among those who share them
  double cpu_seconds = 0;                    // of all its threads, and of its children that it has waited for
  std::int64_t threads = 0;
};

struct TreeUse {
  std::vector<ProcessUse> processes;
  std::int64_t resident = 0;                 // sum; counts shared pages more than once
  std::optional<std::int64_t> proportional;  // sum; absent where it could not be read of every process
  double cpu_seconds = 0;
};

// The descendants of `root`, not itself, and none of `except` nor what descends from them. With `proportional`
// the kernel walks the page tables, which takes a while for processes of many GiB.
TreeUse look_at_tree(pid_t root, const std::set<pid_t>& except, bool proportional,
                     const std::filesystem::path& proc = "/proc");

}  // namespace assay
