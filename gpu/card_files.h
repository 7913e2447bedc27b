// The state of one card as the amdgpu kernel driver writes it to /sys. Needs no library and no rights.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/telemetry.h"
#include "gpu/card_metrics.h"

namespace vendor {

class CardFiles {
 public:
  // `pci` is "0000:c1:00.0"; `root` is "/" but for tests.
  CardFiles(const std::string& pci, const std::filesystem::path& root);

  // Fills in what the files say; what they do not say stays as it is.
  void read(assay::TelemetrySample& sample);

  bool there() const;  // the kernel shows the card at all
  const std::filesystem::path& folder() const { return card_; }
  const std::filesystem::path& sensors() const { return sensors_; }

 private:
  void read_metrics(assay::TelemetrySample& sample);

  std::filesystem::path card_;
  std::filesystem::path sensors_;         // hwmon/hwmonN; empty where there is none
  std::optional<ThrottleCounts> counts_;  // as the sample before had them
};

// A number at the beginning of a small file; absent where it cannot be read.
std::optional<double> number_in(const std::filesystem::path& file);

// "16.0 GT/s PCIe" is generation 4.
std::optional<int> pcie_generation(const std::string& speed);

}  // namespace vendor
