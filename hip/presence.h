// Whether AMD cards can be seen from here, and what stands between them and this process.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "core/device.h"

namespace assay::hip {

// Looks at the file system alone; opens no driver and no library. `root` is "/" but for tests. Never throws.
Presence presence(const std::filesystem::path& root = "/");

}  // namespace assay::hip
