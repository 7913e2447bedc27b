// What kernels call: where a thread stands, how it waits, how lanes exchange values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace vendor {

// Kernels are one-dimensional: `threads_per_block()` threads in each of `blocks()` blocks.
__device__ inline unsigned thread_index() { return threadIdx.x; }
__device__ inline unsigned threads_per_block() { return blockDim.x; }
__device__ inline unsigned block_index() { return blockIdx.x; }
__device__ inline unsigned blocks() { return gridDim.x; }

// Waits for all threads of the block; what they wrote is visible to each other.
__device__ inline void wait_for_block() { __syncthreads(); }

// What this thread wrote is visible to the whole device, to the host and to peers.
__device__ inline void publish() { __threadfence_system(); }

// For kernels. Another vendor's compiler does not know it before a kernel is compiled for one kind of device.
__device__ inline unsigned lanes_per_warp() { return 32; }

// For the host: of the widest devices of this vendor.
constexpr unsigned widest_warp() { return 32; }

// The value of the lane whose number differs by `mask`; all lanes of the warp must call it.
template <class Value>
__device__ Value exchange(Value value, unsigned mask) {
  return __shfl_xor_sync(0xffffffffU, value, static_cast<int>(mask));
}

// Stores that are not kept in caches.
template <class Value>
__device__ void store_streaming(Value* to, Value value) {
  __stcs(to, value);
}

// A load that nothing may merge or leave out, past the first cache.
__device__ inline std::uint32_t load_fresh(const std::uint32_t* from) {
  std::uint32_t value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

// Cycles of this multiprocessor's clock.
__device__ inline std::int64_t cycles() { return clock64(); }

// The block's dynamic shared memory, 16-byte aligned; its size is a parameter of launch().
__device__ inline std::byte* shared_memory() {
  extern __shared__ uint4 assay_shared[];
  return reinterpret_cast<std::byte*>(assay_shared);
}

__device__ inline void add_atomically(unsigned long long* to, unsigned long long value) { atomicAdd(to, value); }
__device__ inline void add_atomically(double* to, double value) { atomicAdd(to, value); }

}  // namespace vendor
