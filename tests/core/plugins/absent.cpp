// A shared library that one plug-in needs and the loader does not find.
// SPDX-License-Identifier: Apache-2.0
namespace assay {
struct Plugin;
}

extern "C" __attribute__((visibility("default"))) const assay::Plugin* assay_from_absent_library() { return nullptr; }
