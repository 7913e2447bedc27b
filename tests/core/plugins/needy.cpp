// A plug-in that needs a library which is not there.
// SPDX-License-Identifier: Apache-2.0
#include "core/backend.h"

extern "C" const assay::Plugin* assay_from_absent_library();

extern "C" const assay::Plugin* assay_plugin() { return assay_from_absent_library(); }
