// Starting kernels that a device compiler has seen, by their addresses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <type_traits>

#include "runtime_types.h"

namespace vendor {

// Queues a kernel, which a device compiler has seen. Throws where the launch itself is refused; what happens later
// shows at synchronise(). Shared memory beyond 48 KiB must be asked for by allow_shared() before.
void launch_by_address(const void* kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes, Stream stream,
                       void** parameters);
template <class... Parameters>
void launch_with(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, std::size_t shared_bytes,
                 Stream stream, std::decay_t<Parameters>... values) {
  void* list[] = {const_cast<void*>(static_cast<const void*>(&values))..., nullptr};
  launch_by_address(reinterpret_cast<const void*>(kernel), blocks, threads, shared_bytes, stream, list);
}
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, std::size_t shared_bytes, Stream stream,
            Arguments... arguments) {
  launch_with(kernel, blocks, threads, shared_bytes, stream, static_cast<Parameters>(arguments)...);
}

// Blocks of this kernel that fit on one multiprocessor at a time, at least 1.
int resident_by_address(const void* kernel, unsigned threads, std::size_t shared_bytes);
template <class... Parameters>
int resident_blocks(void (*kernel)(Parameters...), unsigned threads, std::size_t shared_bytes) {
  return resident_by_address(reinterpret_cast<const void*>(kernel), threads, shared_bytes);
}

// Lets a kernel take that much shared memory a block. Throws Unsupported where the device has less.
void allow_shared_by_address(const void* kernel, std::size_t shared_bytes);
template <class... Parameters>
void allow_shared(void (*kernel)(Parameters...), std::size_t shared_bytes) {
  allow_shared_by_address(reinterpret_cast<const void*>(kernel), shared_bytes);
}

}  // namespace vendor
