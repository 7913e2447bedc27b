// What tensors hold: filled by the device wherever they live, poisoned, written and read back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/work.h"
#include "gpu/runtime.h"
#include "kernels/gpu/memory.h"

namespace assay::gpu {

// Where a tensor is.
struct Spot {
  std::byte* memory = nullptr;
  Home home;
};

// Puts things into tensors and takes them out. Every call waits until it is done. Memory that is not the device's own
// is filled through a staging block, so that large host buffers are filled at the speed of the bus.
class Contents {
 public:
  Contents(int device, vendor::Stream stream) : device_(device), stream_(stream) {}

  void fill(const Tensor& tensor, const Filling& filling, Spot to);
  void poison(const Tensor& tensor, Spot to);         // NaN, or an improbable value
  void copy(Spot from, Spot to, std::int64_t bytes);  // between any two places
  void write(const std::vector<std::byte>& from, Spot to);
  // Elements [first, first + count), decoded. Throws Error where they do not lie in the tensor.
  std::vector<double> read(const Tensor& tensor, Spot from, std::int64_t first, std::int64_t count);

 private:
  void fill_image(const Tensor& tensor, const Filling& filling, std::byte* to);
  void fill_elements(const Tensor& tensor, const Filling& filling, std::byte* to, std::int64_t first,
                     std::int64_t count);
  void fill_scales(const Tensor& tensor, std::byte* scales, std::int64_t size);
  void queue_copy(Spot from, Spot to, std::int64_t bytes);

  int device_;
  vendor::Stream stream_;
};

}  // namespace assay::gpu
