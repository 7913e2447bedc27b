// What AMD calls things: the names that kernels/gpu/ uses, as HIP. cuda/vendor.h declares the same names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/runtime.h"  // what the host calls
#include "lanes.h"        // what a kernel may call
