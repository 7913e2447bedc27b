// Copies from one place of the host's memory to another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/backend.h"
#include "kernels/cpu/kernel.h"

namespace assay::cpu {

Support transfer_support(const Transfer& transfer);

// By the engine: memcpy by one thread. By a kernel: all threads, with stores that go past the caches where the
// processor has them.
std::unique_ptr<Kernel> make_transfer_kernel(const Transfer& transfer, const Pointers& operands, int threads);

}  // namespace assay::cpu
