// The entry of the CPU plug-in.
// SPDX-License-Identifier: Apache-2.0
#include "core/backend.h"
#include "core/loader.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/telemetry.h"

const assay::Plugin* assay_plugin() {
  static const assay::Plugin plugin{assay::contract_stamp(), "cpu", [] { return assay::cpu::make_backend(); },
                                    [] { return assay::cpu::make_telemetry(); }};
  return &plugin;
}
