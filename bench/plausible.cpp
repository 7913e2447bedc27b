// Upper bounds from the device's own facts, generous on purpose.
// SPDX-License-Identifier: Apache-2.0
#include "bench/plausible.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay {

namespace {

// Flops that one compute unit can do in a cycle at most. x86: two 512-bit multiply-adds; with AMX 2048 int8 products a
// cycle. Others: the densest matrix units known do about 35,000 (B200 in FP4: 10 PFLOP/s, 148 units, 1.9 GHz).
double flops_per_cycle(const DeviceInfo& device, Element element) {
  if (device.architecture.rfind("x86-64", 0) != 0) return 65536;
  if (element == Element::fp64) return 32;
  if (element == Element::fp32) return 64;
  return 4096;
}

// Bytes that one compute unit can load and store in a cycle at most. x86: two loads and a store of 64 bytes. Others:
// 128 bytes of first-level cache each way.
constexpr double bytes_per_cycle = 256;

// Clocks are often reported as the base clock, or not at all; no processor in sight runs faster than this.
constexpr double fastest_clock = 6.5e9;

}  // namespace

std::string impossible(const DeviceInfo& device, const std::vector<double>& seconds, double flops, double bytes,
                       Element element) {
  if (seconds.empty()) return "no sample was taken";
  for (const double sample : seconds) {
    if (!(std::isfinite(sample) && sample > 0)) {
      return fmt::format("the back end reported {} seconds for an execution", sample);
    }
  }
  if (!device.compute_units) return "";
  const double cycles = *device.compute_units * std::max(fastest_clock, device.clock_hertz.value_or(0));
  const double fastest = *std::min_element(seconds.begin(), seconds.end());
  const double most_flops = cycles * flops_per_cycle(device, element);
  if (flops / fastest > most_flops) {
    return fmt::format("{:.3g} flop/s are more than {} compute units can do ({:.3g} at the very most)", flops / fastest,
                       *device.compute_units, most_flops);
  }
  if (bytes / fastest > cycles * bytes_per_cycle) {
    return fmt::format("{:.3g} B/s are more than {} compute units can load and store ({:.3g} at the very most)",
                       bytes / fastest, *device.compute_units, cycles * bytes_per_cycle);
  }
  return "";
}

}  // namespace assay
