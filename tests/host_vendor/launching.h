// How kernels of the pretended machine are started: by calling them, lane by lane.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "runtime_types.h"

namespace vendor {

namespace host {

// Queues blocks of threads, each of which calls `body`.
void queue_kernel(unsigned blocks, unsigned threads, std::size_t shared_bytes, Stream stream,
                  std::function<void()> body);

// Queues something that the device does in so many seconds, in place of a kernel of the vendor's library.
void queue_work(const std::string& name, double seconds, Stream stream, std::function<void()> body);

}  // namespace host

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, std::size_t shared_bytes, Stream stream,
            Arguments... arguments) {
  host::queue_kernel(blocks, threads, shared_bytes, stream,
                     [kernel, arguments...] { kernel(static_cast<Parameters>(arguments)...); });
}

template <class... Parameters>
int resident_blocks(void (*)(Parameters...), unsigned threads, std::size_t) {
  return threads > 1024 ? 1 : static_cast<int>(2048 / (threads == 0 ? 1 : threads));
}

template <class... Parameters>
void allow_shared(void (*)(Parameters...), std::size_t) {}

}  // namespace vendor
