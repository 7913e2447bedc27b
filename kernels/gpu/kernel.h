// One step of a work, made ready for one device: operands fixed, code path picked. What programs and kernels agree on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/backend.h"
#include "core/op.h"
#include "gpu/runtime.h"

namespace assay::gpu {

// Memory of an op's operands, in the order of operands(op), 256-byte aligned. They outlive the kernel. Host code must
// not touch what they point to.
using Pointers = std::vector<std::byte*>;

class Kernel {
 public:
  virtual ~Kernel() = default;

  // Does the op once, in the stream's order, without waiting for anything. It may be captured into a graph: no
  // allocation, no copy from or to pageable memory, and the same launches each time.
  virtual void enqueue(vendor::Stream stream) = 0;

  // The same step on another copy of its operands; null where copies have nothing to share, and each is made as the
  // first was.
  virtual std::unique_ptr<Kernel> again(const Pointers&) const { return nullptr; }

  // Called outside of the clock, with nothing queued on the device, after operands were filled or written from outside:
  // builds a ring, sorts tokens. It may allocate, and waits for what it queues.
  virtual void refresh() {}

  // What goes into the row. Choice::workspace is not read: see workspace_bytes().
  virtual Choice choice() const = 0;

  // Device memory the kernel holds for itself beside the operands.
  virtual std::int64_t workspace_bytes() const { return 0; }

  // How many things one enqueue() puts into the queue at most; a queue behind a closed gate holds only so many.
  virtual int launches() const { return 2; }

  // Whether enqueue() may keep the host waiting until the device has come that far (copies of pageable memory): such
  // work is not queued behind a gate and not captured.
  virtual bool blocks_host() const { return false; }
};

struct KernelSetup {
  int device = 0;              // in use by the calling thread
  std::vector<bool> constant;  // by operand: persistent, and no step of the work writes it
  vendor::Stream stream = {};  // for what must be queued and waited for while preparing or in refresh(); outlives it
  Algorithm algorithm = Algorithm::by_default;
  std::optional<std::int64_t> workspace_limit;  // bytes
};

// The own bodies: Stream, Chase, Pointwise, Cast, AdamW, Softmax, Norm, NormWeights, ColumnSum, CrossEntropy,
// Embedding, Rope, Heads, Attention (forward), CacheAppend, SumSquares, AdamControl, TensorScale, AdamW8 and Issue on
// Unit::vector. Never throws; the reason is a sentence that names the formats.
Support body_support(const Op& op, int device);

// Throws Unsupported where body_support() says no, OutOfMemory, Error.
std::unique_ptr<Kernel> make_body_kernel(const Op& op, const Pointers& operands, const KernelSetup& setup);

}  // namespace assay::gpu
