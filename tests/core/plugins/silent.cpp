// A plug-in whose entry returns null.
// SPDX-License-Identifier: Apache-2.0
#include "core/backend.h"

extern "C" const assay::Plugin* assay_plugin() { return nullptr; }
