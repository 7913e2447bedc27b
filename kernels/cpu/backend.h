// The CPU back end: one device, which is all the cores this process may use.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "core/backend.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/libraries.h"

namespace assay::cpu {

// What the back end stands on; tests put other things there.
struct BackendSetup {
  std::filesystem::path root = "/";
  LibraryNames libraries;
  Features features = detect_features();
};

std::unique_ptr<Backend> make_backend(const BackendSetup& setup = {});

}  // namespace assay::cpu
