// PCI bus, kernel driver and device nodes, in the order in which they can be missing.
// SPDX-License-Identifier: Apache-2.0
#include "hip/presence.h"

#include <unistd.h>

#include <fstream>
#include <string>
#include <system_error>

#include "core/pci.h"

namespace assay::hip {
namespace {

constexpr std::uint32_t vendor_id = 0x1002;

bool there(const std::filesystem::path& path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed);
}

}  // namespace

Presence presence(const std::filesystem::path& root) {
  Presence result;
  result.vendor = "AMD";
  result.backend = "hip";
  std::ifstream version(root / "sys/module/amdgpu/version");
  std::getline(version, result.driver);
  const std::vector<PciCard> cards = pci_cards(root, vendor_id);
  for (const PciCard& card : cards) result.cards.push_back(text(card));

  const bool driver_loaded = there(root / "sys/module/amdgpu");
  const bool node = there(root / "dev/kfd");
  if (cards.empty() && !node) return result;
  if (cards.empty()) result.cards.emplace_back("a card whose PCI entry is hidden from here");
  if (!driver_loaded && !node) {
    result.problem = "the amdgpu kernel driver is not loaded";
    result.cure = "have the provider load amdgpu on the host; it cannot be done from inside a container";
  } else if (!node) {
    result.problem = "the kernel driver is loaded, but there is no /dev/kfd here";
    result.cure = "start the container with --device=/dev/kfd --device=/dev/dri";
  } else if (access((root / "dev/kfd").c_str(), R_OK | W_OK) != 0) {
    result.problem = "this user may not open /dev/kfd";
    result.cure = "add the user to the groups render and video, or start the container with --group-add render";
  }
  return result;
}

}  // namespace assay::hip
