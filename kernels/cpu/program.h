// Prepared work on the processor: memory by the plan, one kernel a step, the host's clock around them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/backend.h"
#include "core/host.h"
#include "kernels/cpu/libraries.h"

namespace assay::cpu {

struct ProgramSetup {
  std::shared_ptr<Libraries> libraries;
  HostLimits limits;  // as they are now: memory is not taken beyond them
  int threads = 1;
};

// Throws Unsupported where a step cannot be done here, OutOfMemory where the memory is not there, Error where the work
// is wrong.
std::unique_ptr<Program> make_program(const Work& work, const Preparation& preparation, const ProgramSetup& setup);

}  // namespace assay::cpu
