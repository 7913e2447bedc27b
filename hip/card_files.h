// The state of one card as the amdgpu kernel driver writes it to /sys. Needs no library and no rights.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/telemetry.h"

namespace vendor {

class CardFiles {
 public:
  // `pci` is "0000:c1:00.0"; `root` is "/" but for tests.
  CardFiles(const std::string& pci, const std::filesystem::path& root);

  // Fills in what the files say; what they do not say stays as it is.
  void read(assay::TelemetrySample& sample) const;

  bool there() const;  // the kernel shows the card at all
  const std::filesystem::path& folder() const { return card_; }
  const std::filesystem::path& sensors() const { return sensors_; }

 private:
  std::filesystem::path card_;
  std::filesystem::path sensors_;  // hwmon/hwmonN; empty where there is none
};

// A number at the beginning of a small file; absent where it cannot be read.
std::optional<double> number_in(const std::filesystem::path& file);

// What holds the clock back, in the words of core/telemetry.h, from the bits that do not depend on the card's firmware
// (the kernel's SMU_THROTTLER_*_BIT).
std::string throttle_words(std::uint64_t bits);

// Those bits of the file gpu_metrics, where its layout is one that has them (1.3: MI200, RDNA2, RDNA3).
std::optional<std::uint64_t> throttle_bits(const std::string& metrics);

// "16.0 GT/s PCIe" is generation 4.
std::optional<int> pcie_generation(const std::string& speed);

}  // namespace vendor
