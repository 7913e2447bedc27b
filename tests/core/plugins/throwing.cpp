// A plug-in whose entry throws.
// SPDX-License-Identifier: Apache-2.0
#include "core/backend.h"
#include "core/error.h"

extern "C" const assay::Plugin* assay_plugin() { throw assay::Error("the driver answers nonsense"); }
