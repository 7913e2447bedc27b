// The state of a device while it works. Every field is optional: what cannot be read is unknown, never 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// Errors that a device has counted since some moment that does not matter. Where a count grows while a case runs, its
// name becomes a condition of the case's rows.
struct ErrorCount {
  std::string name;  // "ecc_errors", "ecc_corrected", "link_errors", "pcie_replays", "rows_remapped"
  std::int64_t count = 0;
};

struct TelemetrySample {
  double time = 0;  // seconds on CLOCK_MONOTONIC
  std::optional<double> clock_hertz;
  std::optional<double> memory_clock_hertz;
  std::optional<double> power_watts;
  std::optional<double> energy_joules;  // a counter
  std::optional<double> temperature_celsius;
  std::optional<double> other_load;         // share (0..1) of the device's compute that other processes use
  std::optional<std::int64_t> memory_used;  // bytes
  // What holds the clock back, comma-separated; "none" where the device says none. The words, whoever made the device:
  // "power cap", "power brake", "thermal (software)", "thermal (hardware)", "hardware slowdown", "sync boost",
  // "display clocks". Being idle, and running at clocks that somebody set, are not among them.
  std::optional<std::string> throttle;
  std::optional<double> memory_temperature_celsius;
  std::optional<double> busy;               // share (0..1) of the time in which anything ran
  std::optional<int> pcie_generation;       // now; lower when idle, so only what is read under load counts
  std::optional<int> pcie_width;            // lanes
  std::optional<int> pcie_generation_most;  // of this device in this slot
  std::optional<int> pcie_width_most;
  std::vector<std::string> conditions;  // what is true at this moment: "other_process", "device_lost", "xid_79"
  std::vector<ErrorCount> errors;
};

class __attribute__((visibility("default"))) Telemetry {
 public:
  virtual ~Telemetry() = default;
  virtual TelemetrySample sample(int device) = 0;  // may be slow; throws nothing for a missing field
};

}  // namespace assay
