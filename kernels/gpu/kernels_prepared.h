// What the families of kernels make of an op, and how they are asked: for host code, with no kernel in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/gpu/kernel.h"

namespace assay::gpu {

// How a family is asked to launch. `threads` a block; 0 is what the family finds best.
struct BodySetup {
  KernelSetup kernel;
  unsigned threads = 0;
  unsigned threads_or(unsigned usual) const { return threads == 0 ? usual : threads; }
};

// Device memory of one kernel.
class OwnMemory {
 public:
  explicit OwnMemory(std::int64_t bytes) : bytes_(bytes), data_(static_cast<std::byte*>(vendor::allocate(bytes))) {}
  ~OwnMemory() { vendor::release(data_); }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  template <class Value>
  Value* as() const {
    return reinterpret_cast<Value*>(data_);
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_;
  std::byte* data_;
};
using OwnMemoryPointer = std::shared_ptr<OwnMemory>;
inline OwnMemoryPointer own_memory(std::int64_t bytes) { return std::make_shared<OwnMemory>(bytes); }

// What a family makes of an op.
struct Prepared {
  std::function<void(vendor::Stream)> enqueue;
  std::function<void()> refresh;  // may be empty
  int launches = 1;
  std::int64_t workspace = 0;  // bytes of the kernel's own device memory
  std::string method;          // beside "own"; empty: nothing to tell
  std::string note;
  std::string executed;  // for Choice, where it is not plain from the op
  std::string accumulated;
  double flops = 0;  // for an Issue
};

// Every family; each throws Unsupported where body_support() says no.
Prepared prepare(const Stream& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const Chase& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const Issue& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const Pointwise& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const Cast& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const AdamW& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const Softmax& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const CrossEntropy& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const Norm& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const NormWeights& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const ColumnSum& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const Embedding& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const Rope& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const Heads& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const Attention& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const CacheAppend& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const SumSquares& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const AdamControl& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const TensorScale& op, const Pointers& operands, const BodySetup& setup);
Prepared prepare(const AdamW8& op, const Pointers& operands, const BodySetup& setup);

// Why not, as a sentence without its full stop; empty where it can be done.
std::string objection(const Chase& op);
std::string objection(const Attention& op);
std::string objection(const Issue& op, int device);

// make_body_kernel() with so many threads a block; tests try several.
std::unique_ptr<Kernel> make_body_kernel(const Op& op, const Pointers& operands, const BodySetup& setup);

// Copies the indices from the device and throws Error naming the first that is not in [0, bound), and what it is.
std::vector<std::int32_t> check_indices(const std::int32_t* values, std::int64_t count, std::int64_t bound,
                                        const char* what, vendor::Stream stream);

}  // namespace assay::gpu
