// The triad as anyone would write it with OpenMP, compiled for the processor it runs on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace assay::comparison {

void plain_triad(const float* x, const float* y, float* z, std::int64_t count, int threads);

// Stores past the caches; the same as plain where the processor has no such stores. `count` is a multiple of 16 times
// the number of threads.
void nontemporal_triad(const float* x, const float* y, float* z, std::int64_t count, int threads);

}  // namespace assay::comparison
