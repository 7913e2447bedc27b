// How fast the storage under a folder is: large files around the page cache, and small ones through it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/device.h"

namespace assay {

// Writes at most `bytes` (and at most a quarter of what is free) into the folder, reads them back and removes them. A
// kill in between leaves no large file behind. What cannot be measured is a fact with a reason; never throws.
std::vector<Fact> survey_storage(const std::filesystem::path& folder, std::int64_t bytes);

}  // namespace assay
