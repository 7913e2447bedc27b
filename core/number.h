// Bit patterns to numbers and back, the same on host and device: nearest-even, saturation where the format saturates,
// NaN kept. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "core/format.h"
#include "core/portable.h"

namespace assay {

// Rounds `value` to the element and returns its bits in the low end of the word. Out-of-range finite values become the
// largest finite value where the element has no infinity or is one of the 8- and 4-bit elements (saturating, as GPUs
// convert), else infinity. Integers round to nearest even and clamp; NaN becomes 0 for them.
PORTABLE std::uint64_t encode(Element element, double value);

// The number that the bits stand for, exactly.
PORTABLE double decode(Element element, std::uint64_t bits);

}  // namespace assay
