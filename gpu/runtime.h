// What the host calls: devices, memory, streams, events, graphs, launches. Every failure throws with a sentence. What
// is declared here each vendor defines. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/backend.h"
#include "core/device.h"
#include "gpu/availability.h"
#include "launching.h"      // the vendor's: launch(), resident_blocks(), allow_shared()
#include "runtime_types.h"  // the vendor's: Stream, Event, Graph, and its names

// Functions throw by what went wrong: OutOfMemory; Unsupported for what this card or driver cannot do; DeviceLost for
// errors after which this process can do nothing more on the device (illegal access, ECC, a fallen bus, a watchdog);
// else Error. "allocating 4096 bytes on hip:0: out of memory (hipErrorOutOfMemory)".
namespace vendor {

// Devices -----------------------------------------------------------------------------------------------------------

// Never throws, and creates no context.
Availability availability();

// Name, architecture, memory, caches, clock, driver, UUID, PCI place, NUMA node, ECC, MIG or partitions, and vendor
// facts.
assay::DeviceInfo describe(int device);

void use(int device);  // by the calling thread, from now on

// As one number: 90 for compute capability 9.0, 942 for gfx942.
int architecture(int device);
int multiprocessors(int device);
std::int64_t last_cache_bytes(int device);

struct MemoryState {
  std::int64_t free = 0;   // bytes, as the driver sees the whole device
  std::int64_t total = 0;  // bytes
};
MemoryState memory_state();

// Whether kernels of `device` can load and store in the memory of `peer`. reason where not.
assay::Support peer_access(int device, int peer);
void enable_peer_access(int peer);  // for the device in use; harmless when repeated

// Memory; alignment at least 256 bytes ------------------------------------------------------------------------------

void* allocate(std::int64_t bytes);
void release(void* memory) noexcept;
void* allocate_pinned(std::int64_t bytes);  // host memory that devices read and write directly, mapped at this address
void release_pinned(void* memory) noexcept;
// Makes ordinary host memory such memory, and back. Whole pages.
void pin(void* memory, std::int64_t bytes);
void unpin(void* memory) noexcept;
// From the stream-ordered allocator: what a step's temporary memory costs.
void* allocate_in_order(std::int64_t bytes, Stream stream);
void release_in_order(void* memory, Stream stream);

// Work in order -----------------------------------------------------------------------------------------------------

Stream make_stream();  // does not wait for the default stream
void destroy(Stream stream) noexcept;
Event make_event();  // with timing
void destroy(Event event) noexcept;
void record(Event event, Stream stream);
void wait(Stream stream, Event event);                                     // later work of the stream waits
void synchronise(Stream stream);                                           // the host waits
void synchronise();                                                        // the host waits for the whole device
double seconds_between(Event first, Event last);                           // both must have passed
void copy(void* to, const void* from, std::int64_t bytes, Stream stream);  // between any two places
void copy_peer(void* to, int to_device, const void* from, int from_device, std::int64_t bytes, Stream stream);
void set_bytes(void* to, int value, std::int64_t bytes, Stream stream);

// Everything queued on the stream between these two goes into a graph instead of running. Other streams take part by
// waiting for an event recorded on it.
void begin_capture(Stream stream);
Graph end_capture(Stream stream);
void abandon_capture(Stream stream) noexcept;
void launch(Graph graph, Stream stream);
void destroy(Graph graph) noexcept;

// A named range on the timeline of the vendor's profiler; costs nothing when none is attached.
class Range {
 public:
  explicit Range(const std::string& name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace vendor
