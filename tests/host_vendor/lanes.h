// What kernels call, by fibers: every lane of a block has a stack of its own, so that waiting and exchanging work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// The keywords of the GPU languages. Blocks run one at a time, so what is static is shared by a block.
#define __global__
#define __device__
#define __host__
#define __shared__ static
#define __launch_bounds__(threads)

namespace vendor {

namespace host {

// Where the lane that runs now stands.
struct Standing {
  unsigned thread = 0;
  unsigned threads = 1;
  unsigned block = 0;
  unsigned blocks = 1;
  std::byte* shared = nullptr;
};
const Standing& standing();

void wait_for_block();
constexpr std::size_t largest_exchanged = 16;
void exchange(void* value, std::size_t bytes, unsigned mask);
std::int64_t next_cycles();

}  // namespace host

inline unsigned thread_index() { return host::standing().thread; }
inline unsigned threads_per_block() { return host::standing().threads; }
inline unsigned block_index() { return host::standing().block; }
inline unsigned blocks() { return host::standing().blocks; }

inline void wait_for_block() { host::wait_for_block(); }
inline void publish() {}

// Narrower than any real one, so that nobody gets used to 32.
constexpr unsigned lanes_per_warp() { return 8; }
constexpr unsigned widest_warp() { return 8; }

template <class Value>
Value exchange(Value value, unsigned mask) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= host::largest_exchanged);
  host::exchange(&value, sizeof value, mask);
  return value;
}

template <class Value>
void store_streaming(Value* to, Value value) {
  *to = value;
}

inline std::uint32_t load_fresh(const std::uint32_t* from) { return __atomic_load_n(from, __ATOMIC_ACQUIRE); }

// Passes quickly, so that what waits forever is seen soon.
inline std::int64_t cycles() { return host::next_cycles(); }

inline std::byte* shared_memory() { return host::standing().shared; }

inline void add_atomically(unsigned long long* to, unsigned long long value) { *to += value; }
inline void add_atomically(double* to, double value) { *to += value; }

}  // namespace vendor
