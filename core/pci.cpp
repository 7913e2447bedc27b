// Reads /sys/bus/pci/devices.
// SPDX-License-Identifier: Apache-2.0
#include "core/pci.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <system_error>

namespace assay {
namespace {

std::optional<std::uint32_t> read_hexadecimal(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return std::nullopt;
  try {
    return static_cast<std::uint32_t>(std::stoul(word, nullptr, 16));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::string four_digits(std::uint32_t value) {
  constexpr char digits[] = "0123456789abcdef";
  std::string result;
  for (unsigned shift : {12U, 8U, 4U, 0U}) result += digits[(value >> shift) & 0xFU];
  return result;
}

}  // namespace

std::vector<PciCard> pci_cards(const std::filesystem::path& root, std::uint32_t vendor) {
  std::vector<PciCard> cards;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(root / "sys/bus/pci/devices", failed)) {
    const auto found_vendor = read_hexadecimal(entry.path() / "vendor");
    const auto found_class = read_hexadecimal(entry.path() / "class");
    if (found_vendor != vendor || !found_class) continue;
    const std::uint32_t base = *found_class >> 16U;
    if (base != 0x03 && base != 0x12) continue;
    PciCard card;
    card.address = entry.path().filename().string();
    card.device = four_digits(vendor) + ":" + four_digits(read_hexadecimal(entry.path() / "device").value_or(0));
    std::error_code unbound;
    card.driver = std::filesystem::read_symlink(entry.path() / "driver", unbound).filename().string();
    cards.push_back(card);
  }
  std::sort(cards.begin(), cards.end(), [](const PciCard& a, const PciCard& b) { return a.address < b.address; });
  return cards;
}

std::string text(const PciCard& card) { return card.address + " (" + card.device + ")"; }

}  // namespace assay
