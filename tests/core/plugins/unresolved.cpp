// A plug-in that lacks a function.
// SPDX-License-Identifier: Apache-2.0
#include "core/backend.h"

// Nobody defines it. Opened lazily, the plug-in would load and fail in the middle of a measurement.
const assay::Plugin* assay_defined_nowhere();

extern "C" const assay::Plugin* assay_plugin() { return assay_defined_nowhere(); }
