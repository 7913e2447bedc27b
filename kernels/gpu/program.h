// Work made ready for one device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/backend.h"
#include "gpu/matrix.h"

namespace assay::gpu {

struct ProgramSetup {
  int device = 0;
  std::shared_ptr<vendor::MatrixLibrary> library;
};

// Throws Unsupported, OutOfMemory, DeviceLost, Error.
std::unique_ptr<Program> make_program(const Work& work, const Preparation& preparation, const ProgramSetup& setup);

}  // namespace assay::gpu
