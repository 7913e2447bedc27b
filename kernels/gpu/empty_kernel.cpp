// The empty kernel: one warp, no parameters.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/empty_kernel.h"

#include "vendor.h"

namespace assay::gpu {
namespace {

__global__ static void do_nothing() {}

}  // namespace

void enqueue_nothing(vendor::Stream stream) { vendor::launch(do_nothing, 1, vendor::widest_warp(), 0, stream); }

}  // namespace assay::gpu
