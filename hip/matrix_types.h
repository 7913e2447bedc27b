// Which matrix products AMD's hardware does, whatever library drives it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/backend.h"
#include "core/ops/gemm.h"

namespace vendor {

// Whether the elements, scalings and accumulator go together at all on cards of this architecture (942 for gfx942). The
// reason says which hardware has it. The two dialects of FP8 are never taken for each other.
assay::Support formats_possible(const assay::Gemm& gemm, int architecture);

}  // namespace vendor
