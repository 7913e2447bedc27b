// What the host calls, on the pretended machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/backend.h"
#include "core/device.h"

namespace vendor {

namespace host {
struct StreamState;
struct EventState;
struct GraphState;
}  // namespace host

inline constexpr const char* backend_name = "hostgpu";
inline constexpr const char* vendor_name = "Nobody";

using Stream = host::StreamState*;
using Event = host::EventState*;
using Graph = host::GraphState*;

struct Availability {
  int devices = 0;
  std::string reason;
  std::string cure;
};
Availability availability();
assay::DeviceInfo describe(int device);
void use(int device);
int architecture(int device);
int multiprocessors(int device);
std::int64_t last_cache_bytes(int device);

struct MemoryState {
  std::int64_t free = 0;
  std::int64_t total = 0;
};
MemoryState memory_state();
assay::Support peer_access(int device, int peer);
void enable_peer_access(int peer);

void* allocate(std::int64_t bytes);
void release(void* memory) noexcept;
void* allocate_pinned(std::int64_t bytes);
void release_pinned(void* memory) noexcept;
void pin(void* memory, std::int64_t bytes);
void unpin(void* memory) noexcept;
void* allocate_in_order(std::int64_t bytes, Stream stream);
void release_in_order(void* memory, Stream stream);

Stream make_stream();
void destroy(Stream stream) noexcept;
Event make_event();
void destroy(Event event) noexcept;
void record(Event event, Stream stream);
void wait(Stream stream, Event event);
void synchronise(Stream stream);
void synchronise();
double seconds_between(Event first, Event last);
void copy(void* to, const void* from, std::int64_t bytes, Stream stream);
void copy_peer(void* to, int to_device, const void* from, int from_device, std::int64_t bytes, Stream stream);
void set_bytes(void* to, int value, std::int64_t bytes, Stream stream);

void begin_capture(Stream stream);
Graph end_capture(Stream stream);
void abandon_capture(Stream stream) noexcept;
void launch(Graph graph, Stream stream);
void destroy(Graph graph) noexcept;

namespace host {

// Queues blocks of threads, each of which calls `body`.
void queue_kernel(unsigned blocks, unsigned threads, std::size_t shared_bytes, Stream stream,
                  std::function<void()> body);

// Queues something that the device does in so many seconds, in place of a kernel of the vendor's library.
void queue_work(const std::string& name, double seconds, Stream stream, std::function<void()> body);

}  // namespace host

constexpr std::int64_t most_blocks() { return 2147483647; }

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

class Range {
 public:
  explicit Range(const std::string&) {}
  ~Range() = default;
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace vendor
