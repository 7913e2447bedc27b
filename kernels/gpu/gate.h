// A kernel that holds a stream until the host has queued everything: then what follows runs without gaps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/runtime.h"
#include "kernels/gpu/memory.h"

namespace assay::gpu {

class Gate {
 public:
  explicit Gate(int device);  // in use; queues nothing
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Queues the waiting kernel. Nothing may be behind an earlier closing that has not been opened and passed.
  void close(vendor::Stream stream);
  void open() noexcept;

  // Whether the kernel ever lost patience (after a few seconds) and let the stream go on by itself: the queue was full,
  // or something on the host waited for the device. Ask when the stream has been synchronised.
  bool gave_up() const;

 private:
  Block flags_;  // pinned
};

}  // namespace assay::gpu
