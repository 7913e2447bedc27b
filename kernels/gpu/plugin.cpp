// The entry of a GPU plug-in; the vendor's folder gives it its name.
// SPDX-License-Identifier: Apache-2.0
#include "core/backend.h"
#include "core/loader.h"
#include "gpu/runtime.h"
#include "gpu/telemetry.h"
#include "kernels/gpu/backend.h"

const assay::Plugin* assay_plugin() {
  static const assay::Plugin plugin{assay::contract_stamp(), vendor::backend_name,
                                    [] { return assay::gpu::make_backend(); }, [] { return vendor::make_telemetry(); }};
  return &plugin;
}
