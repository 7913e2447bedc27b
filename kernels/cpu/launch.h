// What it costs to do nothing: an empty team, a barrier, taking and giving back memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/backend.h"
#include "kernels/cpu/kernel.h"

namespace assay::cpu {

Support launch_support(const Launch& launch);
std::unique_ptr<Kernel> make_launch_kernel(const Launch& launch, int threads);

}  // namespace assay::cpu
