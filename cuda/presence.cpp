// PCI bus, kernel driver, device nodes and libraries, in the order in which they can be missing.
// SPDX-License-Identifier: Apache-2.0
#include "cuda/presence.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "core/pci.h"

namespace assay::cuda {
namespace {

constexpr std::uint32_t vendor_id = 0x10de;

#ifdef ASSAY_CUDA_TOOLKIT
constexpr int built_with = ASSAY_CUDA_TOOLKIT;
#else
constexpr int built_with = 0;  // no plug-in is built
#endif

struct Trouble {
  std::string problem;
  std::string cure;
};

bool there(const std::filesystem::path& path) {
  std::error_code failed;
  return std::filesystem::exists(path, failed);
}

std::vector<std::filesystem::path> entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
    found.push_back(at->path());
  return found;
}

// "580.65" or "580.65.06".
bool is_version(const std::string& word) {
  const auto dots = std::count(word.begin(), word.end(), '.');
  const bool plain =
      std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
  return plain && (dots == 1 || dots == 2) && word.front() != '.' && word.back() != '.' &&
         word.find("..") == std::string::npos;
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 ..." holds the version of the driver.
std::string kernel_driver(const std::filesystem::path& root) {
  std::ifstream file(root / "proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (is_version(word)) return word;
  return "";
}

// Cards have numbers of their own; a container may have been given just the fourth: /dev/nvidia3.
std::vector<std::filesystem::path> card_nodes(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> nodes;
  for (const auto& path : entries(root / "dev")) {
    const std::string number =
        path.filename().string().rfind("nvidia", 0) == 0 ? path.filename().string().substr(6) : "";
    const bool numeric =
        std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!number.empty() && numeric) nodes.push_back(path);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

bool in_container(const std::filesystem::path& root) {
  if (there(root / ".dockerenv") || there(root / "run/.containerenv")) return true;
  std::ifstream file(root / "proc/1/environ");
  const std::string all((std::istreambuf_iterator<char>(file)), {});
  return all.find("container=") != std::string::npos || all.find("KUBERNETES_") != std::string::npos;
}

// Libraries of the driver that the loader can find here, under `file` ("libcuda.so.1"): the files they really are.
class Libraries {
 public:
  Libraries(const std::filesystem::path& root, const std::string& library_path) : root_(root) {
    for (const char* folder :
         {"usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib", "usr/lib/wsl/lib", "lib64",
          "lib/x86_64-linux-gnu", "usr/local/nvidia/lib64", "usr/local/nvidia/lib", "usr/local/lib", "opt/nvidia/lib64",
          "run/opengl-driver/lib", "run/nvidia/driver/usr/lib64", "usr/lib/x86_64-linux-gnu/nvidia/current"})
      folders_.push_back(root / folder);
    std::istringstream given(library_path);
    for (std::string folder; std::getline(given, folder, ':');)
      if (!folder.empty()) folders_.push_back(root / std::filesystem::path(folder).relative_path());
    std::ifstream file(root / "etc/ld.so.cache", std::ios::binary);
    cache_.assign((std::istreambuf_iterator<char>(file)), {});
  }

  bool found(const std::string& file) const {
    const bool in_folder = std::any_of(folders_.begin(), folders_.end(),
                                       [&](const std::filesystem::path& folder) { return there(folder / file); });
    return in_folder || cache_.find(file) != std::string::npos;
  }

  // "550.54.15" of every "libnvidia-ml.so.550.54.15" and "libcuda.so.550.54.15".
  std::vector<std::string> versions() const {
    std::vector<std::string> all;
    for (const auto& folder : folders_) {
      for (const auto& path : entries(folder)) {
        const std::string file = path.filename().string();
        for (const std::string start : {"libnvidia-ml.so.", "libcuda.so."})
          if (file.rfind(start, 0) == 0 && is_version(file.substr(start.size())))
            all.push_back(file.substr(start.size()));
      }
    }
    return all;
  }

 private:
  std::filesystem::path root_;
  std::vector<std::filesystem::path> folders_;
  std::string cache_;  // of the dynamic loader: names are in it as they are
};

int major_version(const std::string& version) { return version.empty() ? 0 : std::atoi(version.c_str()); }

// The first driver branch that runs programs of a toolkit's major version; from "CUDA Compatibility",
// https://docs.nvidia.com/deploy/cuda-compatibility/.
int driver_for(int toolkit) {
  if (toolkit >= 13) return 580;
  if (toolkit == 12) return 525;
  return toolkit == 11 ? 450 : 0;
}

Trouble without_driver(const std::vector<PciCard>& cards) {
  const auto bound_to = [&](const char* driver) {
    return std::any_of(cards.begin(), cards.end(), [&](const PciCard& card) { return card.driver == driver; });
  };
  const std::string host = "have the provider install or load NVIDIA's driver on the host";
  const std::string not_here = "it cannot be done from inside a container";
  if (bound_to("nouveau"))
    return {"the open-source driver nouveau holds the card, so CUDA cannot use it",
            host + " in place of nouveau (blacklist nouveau, then reboot); " + not_here};
  if (bound_to("vfio-pci"))
    return {"the card is set aside for a virtual machine (driver vfio-pci)",
            "start the virtual machine that has the card and measure there, or have the host give it back to the "
            "driver nvidia"};
  return {"the NVIDIA kernel driver is not loaded", host + "; " + not_here};
}

Trouble without_nodes(bool contained, const std::string& what) {
  if (contained)
    return {"the kernel driver is loaded, but there is no " + what + " in this container",
            "start the container with the GPU passed in (docker run --gpus all, or the NVIDIA container toolkit)"};
  return {"the kernel driver is loaded, but there is no " + what + " here",
          "run nvidia-smi (or nvidia-modprobe -u -c=0) as root once, which makes the device files; in a container, "
          "start it with the GPU passed in (docker run --gpus all)"};
}

Trouble with_nodes(const std::filesystem::path& root, const std::vector<std::filesystem::path>& nodes, bool contained) {
  const auto usable = [](const std::filesystem::path& path) { return access(path.c_str(), R_OK | W_OK) == 0; };
  const std::filesystem::path control = root / "dev/nvidiactl";
  if (!there(control)) return without_nodes(contained, "/dev/nvidiactl");
  const bool any = std::any_of(nodes.begin(), nodes.end(), usable);
  if (any && usable(control)) return {};
  const std::string card = "/dev/" + nodes.front().filename().string();
  return {"this user may not open " + card + " and /dev/nvidiactl",
          "ask for access to the device files, or run as a user that has it (see ls -l /dev/nvidia*)"};
}

// A driver library beside the module's version is legal where a compatibility package brings it; elsewhere it fails.
Trouble of_versions(const std::filesystem::path& root, const std::string& driver, const Libraries& libraries,
                    int toolkit) {
  const int needed = driver_for(toolkit);
  const int major = major_version(driver);
  const bool compatible = there(root / "usr/local/cuda/compat/libcuda.so.1");
  if (major > 0 && needed > 0 && major < needed && !compatible)
    return {"the NVIDIA driver is version " + driver + ", and this build (CUDA " + std::to_string(toolkit) +
                ") needs " + std::to_string(needed) + " or later",
            "have the provider update the driver on the host, or build Assay with an older CUDA toolkit"};
  const auto versions = libraries.versions();
  if (driver.empty() || versions.empty() || compatible) return {};
  if (std::find(versions.begin(), versions.end(), driver) != versions.end()) return {};
  return {"the kernel module is of driver " + driver + ", but the driver's libraries here are of " + versions.front(),
          "reboot the host after the driver's update, or restart the container so that it gets the libraries of the "
          "running driver"};
}

Trouble of_libraries(const Libraries& libraries, bool contained) {
  if (libraries.found("libcuda.so.1")) return {};
  return {"the device files are here, but the driver's library libcuda.so.1 is not",
          contained ? "start the container with the NVIDIA container toolkit (docker run --gpus all, with "
                      "NVIDIA_DRIVER_CAPABILITIES=compute,utility), which brings the library along"
                    : "install the libraries of the driver in the kernel module's version (libnvidia-compute or "
                      "nvidia-driver-cuda-libs)"};
}

// An empty list and a negative first number hide every device; other values need the driver to be understood.
Trouble of_visibility(const std::optional<std::string>& visible) {
  if (!visible) return {};
  const auto start = visible->find_first_not_of(' ');
  const bool hides = start == std::string::npos || (*visible)[start] == '-' || *visible == "NoDevFiles";
  if (!hides) return {};
  return {"CUDA_VISIBLE_DEVICES is \"" + *visible + "\", which hides every GPU",
          "unset CUDA_VISIBLE_DEVICES, or name the GPUs to be used in it"};
}

Trouble trouble(const std::filesystem::path& root, const Circumstances& here, const std::vector<PciCard>& cards,
                const std::string& driver) {
  const bool contained = in_container(root);
  const auto nodes = card_nodes(root);
  if (!there(root / "proc/driver/nvidia/version")) return without_driver(cards);
  if (nodes.empty()) return without_nodes(contained, "/dev/nvidia0");
  Trouble found = with_nodes(root, nodes, contained);
  const Libraries libraries(root, here.library_path);
  if (found.problem.empty()) found = of_libraries(libraries, contained);
  if (found.problem.empty()) found = of_versions(root, driver, libraries, here.toolkit);
  if (found.problem.empty()) found = of_visibility(here.visible);
  return found;
}

}  // namespace

Circumstances circumstances() {
  Circumstances here;
  here.toolkit = built_with;
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) here.visible = visible;
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) here.library_path = path;
  return here;
}

Presence presence(const std::filesystem::path& root, const Circumstances& here) {
  Presence result;
  result.vendor = "NVIDIA";
  result.backend = "cuda";
  result.driver = kernel_driver(root);
  const std::vector<PciCard> cards = pci_cards(root, vendor_id);
  for (const PciCard& card : cards) result.cards.push_back(text(card));

  const bool driver_loaded = there(root / "proc/driver/nvidia/version");
  if (cards.empty() && !driver_loaded && card_nodes(root).empty()) {
    // Windows lends its card, of whatever maker, by /dev/dxg, and NVIDIA's library by this folder.
    if (!there(root / "dev/dxg") || !there(root / "usr/lib/wsl/lib/libcuda.so.1")) return result;
    result.cards.emplace_back("a card of the Windows host (/dev/dxg)");
    const Trouble found = of_visibility(here.visible);
    result.problem = found.problem;
    result.cure = found.cure;
    return result;
  }
  if (cards.empty()) result.cards.emplace_back("a card whose PCI entry is hidden from here");
  const Trouble found = trouble(root, here, cards, result.driver);
  result.problem = found.problem;
  result.cure = found.cure;
  return result;
}

}  // namespace assay::cuda
