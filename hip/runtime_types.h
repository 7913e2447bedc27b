// What AMD calls the things that gpu/runtime.h speaks of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <string>

namespace vendor {

inline constexpr const char* backend_name = "hip";  // "hip:0" is a device
inline constexpr const char* vendor_name = "AMD";

using Stream = hipStream_t;
using Event = hipEvent_t;
using Graph = hipGraphExec_t;

// Throws what gpu/runtime.h says.
void check(hipError_t status, const std::string& doing);

// Blocks that one launch may have, whatever their size: HIP counts the threads of a grid in 32 bits, and a block has up
// to 1024.
constexpr std::int64_t most_blocks() { return 4294967295 / 1024; }

}  // namespace vendor
