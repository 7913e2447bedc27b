// What AMD calls things: the names that kernels/gpu/ uses, as HIP. cuda/vendor.h declares the same names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lanes.h"    // what a kernel may call
#include "runtime.h"  // what the host calls
