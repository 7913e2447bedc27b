// A plug-in of another version.
// SPDX-License-Identifier: Apache-2.0
#include "core/backend.h"

// What follows the stamp would not be believed even if it made sense, and here it must not be touched.
extern "C" const assay::Plugin* assay_plugin() {
  static const assay::Plugin plugin = {"of long ago", reinterpret_cast<const char*>(1), nullptr, nullptr};
  return &plugin;
}
