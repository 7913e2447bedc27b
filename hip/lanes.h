// What kernels call: where a thread stands, how it waits, how lanes exchange values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

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

// 64 on CDNA, 32 on RDNA: known when a kernel is compiled for one of them, and not before.
__device__ inline unsigned lanes_per_warp() { return __builtin_amdgcn_wavefrontsize(); }

// For the host, which plans for devices of both kinds: a block of fewer threads wastes lanes somewhere.
constexpr unsigned widest_warp() { return 64; }

// The value of the lane whose number differs by `mask`; all lanes of the warp must call it.
template <class Value>
__device__ Value exchange(Value value, unsigned mask) {
  return __shfl_xor(value, static_cast<int>(mask));
}

// Stores that are not kept in caches.
template <class Value>
__device__ void store_streaming(Value* to, Value value) {
  if constexpr (std::is_arithmetic_v<Value>) {
    __builtin_nontemporal_store(value, to);
  } else {
    using Words = std::uint32_t __attribute__((ext_vector_type(sizeof(Value) / sizeof(std::uint32_t))));
    static_assert(sizeof(Value) == sizeof(Words) && alignof(Value) >= alignof(Words));
    Words words;
    __builtin_memcpy(&words, &value, sizeof words);
    __builtin_nontemporal_store(words, reinterpret_cast<Words*>(to));
  }
}

// A load that nothing may merge or leave out, past the first cache.
__device__ inline std::uint32_t load_fresh(const std::uint32_t* from) {
  return __hip_atomic_load(from, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

// Cycles of this compute unit's clock. RDNA3 counts them in 20 bits, which are over in half a millisecond, so there it
// is the steady 100 MHz counter times 16: as many as at 1.6 GHz.
__device__ inline std::int64_t cycles() {
#if defined(__GFX11__)
  return static_cast<std::int64_t>(wall_clock64()) * 16;
#else
  return static_cast<std::int64_t>(clock64());
#endif
}

// The block's dynamic shared memory, 16-byte aligned; its size is a parameter of launch().
__device__ inline std::byte* shared_memory() {
  extern __shared__ uint4 assay_shared[];
  return reinterpret_cast<std::byte*>(assay_shared);
}

__device__ inline void add_atomically(unsigned long long* to, unsigned long long value) { atomicAdd(to, value); }
__device__ inline void add_atomically(double* to, double value) { atomicAdd(to, value); }

}  // namespace vendor
