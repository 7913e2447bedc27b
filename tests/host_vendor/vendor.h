// A third vendor, for the host compiler alone: the names that kernels/gpu/ uses, over threads and memory that are
// pretended. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/runtime.h"
#include "lanes.h"
