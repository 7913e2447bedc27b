// Values that a loop must find ready. Without this the compiler works them out again in every turn, to save registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace vendor {

// The value has to be in a register here, and where it came from is forgotten.
__device__ inline void keep(std::uint64_t& value) { asm volatile("" : "+l"(value)); }
__device__ inline void keep(std::uint32_t& value) { asm volatile("" : "+r"(value)); }
__device__ inline void keep(double& value) { asm volatile("" : "+d"(value)); }

}  // namespace vendor
