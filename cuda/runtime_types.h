// What NVIDIA calls the things that gpu/runtime.h speaks of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

namespace vendor {

inline constexpr const char* backend_name = "cuda";  // "cuda:0" is a device
inline constexpr const char* vendor_name = "NVIDIA";

using Stream = cudaStream_t;
using Event = cudaEvent_t;
using Graph = cudaGraphExec_t;

// Throws what gpu/runtime.h says.
void check(cudaError_t status, const std::string& doing);

// Blocks that one launch may have, whatever their size.
constexpr std::int64_t most_blocks() { return 2147483647; }

}  // namespace vendor
