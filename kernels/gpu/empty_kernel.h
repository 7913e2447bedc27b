// A kernel that does nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/runtime.h"

namespace assay::gpu {

void enqueue_nothing(vendor::Stream stream);

}  // namespace assay::gpu
