// The usual places of a ROCm, and its variables.
// SPDX-License-Identifier: Apache-2.0
#include "hip/rocm.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <system_error>

namespace vendor {

namespace fs = std::filesystem;

std::vector<fs::path> rocm_folders(const fs::path& root) {
  std::vector<fs::path> folders;
  if (const char* rocm = std::getenv("ROCM_PATH")) folders.push_back(fs::path(rocm) / "lib");
  folders.push_back(root / "opt/rocm/lib");
  std::vector<fs::path> others;
  std::error_code error;
  for (fs::directory_iterator at(root / "opt", error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().rfind("rocm-", 0) == 0) others.push_back(at->path() / "lib");
  }
  std::sort(others.begin(), others.end(), std::greater<>());
  folders.insert(folders.end(), others.begin(), others.end());
  return folders;
}

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

std::vector<std::string> visible_lists(const Environment& environment) {
  std::vector<std::string> lists;
  if (const auto first = environment("ROCR_VISIBLE_DEVICES")) lists.push_back(*first);
  auto second = environment("HIP_VISIBLE_DEVICES");
  if (!second) second = environment("CUDA_VISIBLE_DEVICES");
  if (second && !second->empty()) lists.push_back(*second);  // the runtime takes an empty one for none
  return lists;
}

}  // namespace vendor
