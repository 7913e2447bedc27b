// The file gpu_metrics of the amdgpu kernel driver: why the clock is lowered, and what energy was used.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace vendor {

// How long, in units of the firmware's own, something held the clock back since some moment that does not matter.
struct ThrottleCounts {
  std::uint32_t power = 0;
  std::uint32_t thermal = 0;   // of the socket and its memory
  std::uint32_t hardware = 0;  // PROCHOT, and the voltage regulators' temperature
};

struct CardMetrics {
  std::optional<std::uint64_t> throttle_bits;     // the kernel's SMU_THROTTLER_*_BIT; layout 1.3: MI200, RDNA2, RDNA3
  std::optional<ThrottleCounts> throttle_counts;  // layout 1.6: MI300
  std::optional<double> energy_joules;            // a counter; layouts 1.4 to 1.6: MI300
};

// What the file's content says; nothing where its layout is not known.
CardMetrics metrics_in(const std::string& content);

// In the words of core/telemetry.h.
std::string throttle_words(std::uint64_t bits);
std::string throttle_words(const ThrottleCounts& before, const ThrottleCounts& now);

}  // namespace vendor
