// One folder a process, named by its number as the host counts; in it a file vram_GPUID for each device it has opened.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/card_processes.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include "gpu/card_files.h"

namespace vendor {
namespace {

bool is_pid(const std::string& name) {
  return !name.empty() && name.size() < 10 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::optional<std::vector<Listed>> card_processes(const std::string& gpu_id, const std::filesystem::path& root) {
  if (gpu_id.empty()) return std::nullopt;
  std::error_code failed;
  std::vector<Listed> all;
  std::filesystem::directory_iterator at(root / "sys/class/kfd/kfd/proc", failed);
  if (failed) return std::nullopt;
  for (const std::filesystem::directory_iterator end; !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (!is_pid(name)) continue;
    const auto bytes = number_in(at->path() / ("vram_" + gpu_id));
    if (!bytes || *bytes <= 0) continue;
    Listed entry;
    entry.pid = static_cast<std::uint32_t>(std::stoul(name));
    entry.memory = static_cast<std::int64_t>(*bytes);
    all.push_back(entry);
  }
  return all;
}

}  // namespace vendor
