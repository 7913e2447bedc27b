// Display and compute cards on the PCI bus, as the kernel lists them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay {

struct PciCard {
  std::string address;  // "0000:3b:00.0"
  std::string device;   // "10de:2331"
  std::string driver;   // kernel driver bound to it, empty where none is
};

// Cards of one vendor id whose class is display (0x03) or processing accelerator (0x12). `root` is "/" but for tests.
// Never throws: what cannot be read is left out.
std::vector<PciCard> pci_cards(const std::filesystem::path& root, std::uint32_t vendor);

// "0000:3b:00.0 (10de:2331)"
std::string text(const PciCard& card);

}  // namespace assay
