// Programs of launches, graphs, allocations and waits, by the host's clock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/backend.h"

namespace assay::gpu {

// Whether every step is a Launch.
bool is_launch_work(const Work& work);

std::unique_ptr<Program> make_launch_program(const Work& work, int device);

}  // namespace assay::gpu
