// Initial values made on the device, equal to the last bit to those of core/work.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/work.h"
#include "gpu/runtime.h"

namespace assay::gpu {

// A range of a tensor's stored units: elements, or bytes of two elements where they have 4 bits.
struct FillRange {
  Element element = Element::fp32;
  Initial initial = Initial::pattern;  // pattern, index, one or zero
  Pattern pattern = Pattern::zero;
  std::uint64_t seed = 0;
  double magnitude = 1;
  std::int64_t bound = 0;
  std::int64_t columns = 1;  // of a row, for elements of 4 bits
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// Queues the filling of `count` units at `to`, which is where unit `first` goes, in the memory of the device in use.
void enqueue_fill(const FillRange& range, std::byte* to, int device, vendor::Stream stream);

}  // namespace assay::gpu
