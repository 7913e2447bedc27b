// The project's only macro: marks functions that run on the host and on a device alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define PORTABLE __host__ __device__
#else
#define PORTABLE
#endif
