// Whether NVIDIA cards can be seen from here, and what stands between them and this process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/device.h"

namespace assay::cuda {

// What the outcome depends on apart from the file system.
struct Circumstances {
  int toolkit = 0;                     // major version of the toolkit that the plug-in was built with; 0: none
  std::optional<std::string> visible;  // $CUDA_VISIBLE_DEVICES
  std::string library_path;            // $LD_LIBRARY_PATH
};
Circumstances circumstances();  // of this build and this process

// Looks at the file system alone; opens no driver and no library. `root` is "/" but for tests. Never throws. A problem
// is said only where it is certain, since nothing is measured then.
Presence presence(const std::filesystem::path& root = "/", const Circumstances& here = circumstances());

}  // namespace assay::cuda
