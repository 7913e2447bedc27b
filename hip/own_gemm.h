// Own matrix products by MFMA and WMMA, for where there is no library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "gpu/plain_gemm.h"

namespace vendor {

// For FP16, BF16 and INT8 on cards whose matrix units multiply them; absent elsewhere.
std::optional<TileKernel> own_tile_kernel(const assay::Gemm& gemm, int architecture);

}  // namespace vendor
