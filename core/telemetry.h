// The state of a device while it works. Every field is optional: what cannot be read is unknown, never 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

struct TelemetrySample {
  double time = 0;  // seconds on CLOCK_MONOTONIC
  std::optional<double> clock_hertz;
  std::optional<double> memory_clock_hertz;
  std::optional<double> power_watts;
  std::optional<double> energy_joules;  // a counter
  std::optional<double> temperature_celsius;
  std::optional<double> other_load;         // share (0..1) of the device's compute that other processes use
  std::optional<std::int64_t> memory_used;  // bytes
  std::optional<std::string> throttle;      // reasons, comma-separated; "none" where the device says none
};

class __attribute__((visibility("default"))) Telemetry {
 public:
  virtual ~Telemetry() = default;
  virtual TelemetrySample sample(int device) = 0;  // may be slow; throws nothing for a missing field
};

}  // namespace assay
