// A copy by the device's own loads and stores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/runtime.h"

namespace assay::gpu {

// Both addresses on multiples of 16 bytes; memory that kernels of the device in use can reach.
void enqueue_copy(std::byte* to, const std::byte* from, std::int64_t bytes, int device, vendor::Stream stream);

}  // namespace assay::gpu
