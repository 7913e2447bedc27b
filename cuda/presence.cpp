// PCI bus, kernel driver and device nodes, in the order in which they can be missing.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/presence.h"

#include <unistd.h>

#include <fstream>
#include <regex>
#include <string>
#include <system_error>

#include "core/pci.h"

namespace assay::cuda {
namespace {

constexpr std::uint32_t vendor_id = 0x10de;

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 ..." holds the version of the driver.
std::string kernel_driver(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::smatch found;
  const std::regex version(R"(\s(\d+\.\d+(\.\d+)?)\s)");
  return std::regex_search(line, found, version) ? found[1].str() : "";
}

bool there(const std::filesystem::path& path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed);
}

}  // namespace

Presence presence(const std::filesystem::path& root) {
  Presence result;
  result.vendor = "NVIDIA";
  result.backend = "cuda";
  result.driver = kernel_driver(root);
  const std::vector<PciCard> cards = pci_cards(root, vendor_id);
  for (const PciCard& card : cards) result.cards.push_back(text(card));

  const bool driver_loaded = there(root / "proc/driver/nvidia/version");
  const bool node = there(root / "dev/nvidia0");
  const bool windows = there(root / "dev/dxg");
  if (cards.empty() && !node && !driver_loaded) {
    if (windows) result.cards.emplace_back("a card of the Windows host (/dev/dxg)");
    return result;
  }
  if (cards.empty()) result.cards.emplace_back("a card whose PCI entry is hidden from here");
  if (!driver_loaded) {
    const std::string bound = cards.empty() ? "" : cards.front().driver;
    result.problem = bound == "nouveau"    ? "the open-source driver nouveau holds the card, so CUDA cannot use it"
                     : bound == "vfio-pci" ? "the card is set aside for a virtual machine (driver vfio-pci)"
                                           : "the NVIDIA kernel driver is not loaded";
    result.cure =
        "have the provider install or load NVIDIA's driver on the host; it cannot be done from inside a container";
  } else if (!node) {
    result.problem = "the kernel driver is loaded, but there is no /dev/nvidia0 here";
    result.cure = "start the container with the GPU passed in (docker run --gpus all, or the NVIDIA container toolkit)";
  } else if (access((root / "dev/nvidia0").c_str(), R_OK | W_OK) != 0 ||
             access((root / "dev/nvidiactl").c_str(), R_OK | W_OK) != 0) {
    result.problem = "this user may not open /dev/nvidia0 and /dev/nvidiactl";
    result.cure = "ask for access to the device files, or run as a user that has it (see ls -l /dev/nvidia*)";
  }
  return result;
}

}  // namespace assay::cuda
