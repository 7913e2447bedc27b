// The pointer chase: how long one load takes when the next one depends on it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/backend.h"
#include "kernels/cpu/kernel.h"

namespace assay::cpu {

Support chase_support(const Chase& chase);
std::unique_ptr<Kernel> make_chase_kernel(const Chase& chase, const Pointers& operands, int threads);

// Links the slots of a ring, one every `stride` bytes, into one random cycle: each slot holds the byte offset of the
// next. The order is the same every time.
void build_ring(std::byte* ring, std::int64_t slots, std::int64_t stride);

// Throws Error where the ring is not one cycle through every slot. Follows many pieces of the cycle at once, since one
// walk would take as long as it takes to wait for memory once for every slot.
void check_ring(const std::byte* ring, std::int64_t slots, std::int64_t stride);

}  // namespace assay::cpu
