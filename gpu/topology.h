// What the amdgpu kernel driver shows of a device in /sys: caches, dies, partitions, the nearest host memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/device.h"

namespace vendor {

struct Topology {
  std::vector<assay::CacheLevel> caches;  // of data, first level first; Infinity Cache is the third. Empty: not shown
  std::vector<assay::Fact> facts;         // partition modes, dies (XCDs), NUMA node
  int memory_pools = 1;                   // that the card's memory is cut into (NPS4: 4): a device has one of them
};

// Of the device at a PCI address ("0000:c1:00.0"). Looks at the file system alone; `root` is "/" but for tests. What a
// container hides is absent. Never throws.
Topology topology_of(const std::string& pci, const std::filesystem::path& root = "/");

// Files of lines "name number", as KFD writes them. Numbers that are missing are 0 for operator[].
std::map<std::string, std::uint64_t> numbers_in(const std::filesystem::path& file);

// The first word of a small file, "" where it cannot be read.
std::string word_in(const std::filesystem::path& file);

}  // namespace vendor
