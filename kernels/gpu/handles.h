// Streams, events and graphs that are destroyed with their owner.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "gpu/runtime.h"

namespace assay::gpu {

// Owns one handle of the vendor's; empty where it was moved from.
template <class Handle>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, Handle{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != Handle{}) vendor::destroy(handle_);
  }

  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != Handle{}; }

 private:
  Handle handle_{};
};

using StreamHandle = Owned<vendor::Stream>;
using EventHandle = Owned<vendor::Event>;
using GraphHandle = Owned<vendor::Graph>;

inline StreamHandle new_stream() { return StreamHandle(vendor::make_stream()); }
inline EventHandle new_event() { return EventHandle(vendor::make_event()); }

// What is queued while it lives becomes a graph; where that is left by an exception, it is forgotten.
class Capture {
 public:
  explicit Capture(vendor::Stream stream) : stream_(stream) { vendor::begin_capture(stream); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    if (stream_ != vendor::Stream{}) vendor::abandon_capture(stream_);
  }
  GraphHandle end() { return GraphHandle(vendor::end_capture(std::exchange(stream_, vendor::Stream{}))); }

 private:
  vendor::Stream stream_;
};

}  // namespace assay::gpu
