// Copies between the host, the device and its peers: by the driver's copy engine, or by a kernel's loads and stores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "kernels/gpu/kernel.h"

namespace assay::gpu {

// `devices`: how many there are. Never throws.
Support transfer_support(const Transfer& transfer, int device, int devices);

std::unique_ptr<Kernel> make_transfer_kernel(const Transfer& transfer, const Pointers& operands,
                                             const KernelSetup& setup);

}  // namespace assay::gpu
