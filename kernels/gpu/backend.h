// The back end of a GPU vendor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "core/backend.h"

namespace assay::gpu {

// `root` is where libraries are looked for: "/" but for tests.
std::unique_ptr<Backend> make_backend(const std::filesystem::path& root = "/");

}  // namespace assay::gpu
