// Device numbers as the runtime gives them, from KFD's nodes and the lists that choose among them.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/devices_by_place.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "gpu/topology.h"

namespace vendor {
namespace {

using Path = std::filesystem::path;

std::string pci_text(std::uint64_t domain, std::uint64_t location) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", static_cast<unsigned>(domain),
                static_cast<unsigned>(location >> 8U & 0xFFU), static_cast<unsigned>(location >> 3U & 0x1FU),
                static_cast<unsigned>(location & 7U));
  return text;
}

std::vector<PlacedDevice> all_devices(const Path& root) {
  std::vector<std::pair<int, PlacedDevice>> found;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(root / "sys/class/kfd/kfd/topology/nodes", failed), end;
       !failed && at != end; at.increment(failed)) {
    auto properties = numbers_in(at->path() / "properties");
    if (properties["simd_count"] == 0) continue;  // a processor; or a card that this container may not use
    char id[17] = "";
    if (properties["unique_id"] != 0) {
      std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(properties["unique_id"]));
    }
    found.push_back({std::atoi(at->path().filename().c_str()),
                     {pci_text(properties["domain"], properties["location_id"]), id, word_in(at->path() / "gpu_id")}});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<PlacedDevice> devices;
  for (auto& entry : found) devices.push_back(std::move(entry.second));
  return devices;
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  std::size_t from = 0;
  while (from <= list.size()) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    words.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  return words;
}

// Numbers, and "GPU-" with a unique identifier; the first that names nothing ends the list.
std::vector<PlacedDevice> chosen(const std::vector<PlacedDevice>& from, const std::string& list) {
  std::vector<PlacedDevice> result;
  for (const std::string& word : split(list)) {
    const PlacedDevice* match = nullptr;
    if (word.rfind("GPU-", 0) == 0) {
      for (const PlacedDevice& device : from) {
        if (!device.unique_id.empty() && device.unique_id == word.substr(4)) match = &device;
      }
    } else if (!word.empty() && word.size() < 6 && word.find_first_not_of("0123456789") == std::string::npos) {
      const auto number = static_cast<std::size_t>(std::atoi(word.c_str()));
      if (number < from.size()) match = &from[number];
    }
    if (match == nullptr) break;
    result.push_back(*match);
  }
  return result;
}

}  // namespace

std::vector<PlacedDevice> devices_by_place(const Path& root, const std::vector<std::string>& lists) {
  std::vector<PlacedDevice> devices = all_devices(root);
  for (const std::string& list : lists) devices = chosen(devices, list);
  return devices;
}

}  // namespace vendor
