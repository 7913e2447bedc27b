// Partitions from the PCI device's folder, dies and caches from the node that KFD makes of it.
// SPDX-License-Identifier: Apache-2.0
#include "gpu/topology.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>

namespace vendor {
namespace {

using assay::CacheLevel;
using assay::Fact;
using Path = std::filesystem::path;

std::vector<Path> folders_in(const Path& folder) {
  std::vector<Path> found;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    found.push_back(at->path());
  }
  return found;
}

// KFD writes bus, device and function in one number, as PCI does: "c1:00.0" is 0xc100.
struct Place {
  std::uint64_t domain = 0;
  std::uint64_t location = 0;
};
std::optional<Place> place_of(const std::string& pci) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  if (std::sscanf(pci.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) return std::nullopt;
  return Place{domain, bus << 8U | device << 3U | function};
}

// Data caches alone. The first level has small scalar caches too, which several compute units share, so there are fewer
// of them: of each level the kind with the most instances counts.
std::vector<CacheLevel> caches_of(const Path& node) {
  constexpr std::uint64_t data = 1;                              // HSA_CACHE_TYPE_DATA
  std::map<std::uint64_t, std::map<std::uint64_t, int>> counts;  // level, kibibytes: instances
  for (const Path& folder : folders_in(node / "caches")) {
    auto cache = numbers_in(folder / "properties");
    if (cache["level"] > 0 && cache["size"] > 0 && (cache["type"] & data) != 0) ++counts[cache["level"]][cache["size"]];
  }
  std::vector<CacheLevel> levels;
  for (const auto& [level, sizes] : counts) {
    CacheLevel most{static_cast<int>(level), 0, 0};
    for (const auto& [kibibytes, instances] : sizes) {
      if (instances >= most.instances)
        most = {static_cast<int>(level), static_cast<std::int64_t>(kibibytes) * 1024, instances};
    }
    levels.push_back(most);
  }
  return levels;
}

// "NPS4": four pools of memory, each with its part of the channels and of the cache before them.
int pools_of(const std::string& mode) {
  const int pools = mode.rfind("NPS", 0) == 0 ? std::atoi(mode.c_str() + 3) : 1;
  return pools > 0 ? pools : 1;
}

void add_word(std::vector<Fact>& facts, const std::string& name, const Path& file, const std::string& meaning) {
  Fact fact;
  fact.name = name;
  fact.text = word_in(file);
  fact.reason = meaning;
  fact.source = file.string();
  if (!fact.text.empty()) facts.push_back(fact);
}

void add_number(std::vector<Fact>& facts, const std::string& name, double value, const Path& file,
                const std::string& meaning) {
  Fact fact;
  fact.name = name;
  fact.value = value;
  fact.reason = meaning;
  fact.source = file.string();
  facts.push_back(fact);
}

}  // namespace

std::map<std::string, std::uint64_t> numbers_in(const Path& file) {
  std::map<std::string, std::uint64_t> numbers;
  std::ifstream stream(file);
  std::string name;
  std::string value;
  while (stream >> name >> value) numbers[name] = std::strtoull(value.c_str(), nullptr, 10);
  return numbers;
}

std::string word_in(const Path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

Topology topology_of(const std::string& pci, const Path& root) {
  Topology topology;
  const auto place = place_of(pci);
  if (!place) return topology;
  const Path device = root / "sys/bus/pci/devices" / pci;
  add_word(topology.facts, "compute_partition", device / "current_compute_partition",
           "how the card's compute dies are shared out: all to one device in SPX, one to each in CPX");
  add_word(topology.facts, "memory_partition", device / "current_memory_partition",
           "how the card's memory is shared out: NPS1 is one pool");
  topology.memory_pools = pools_of(word_in(device / "current_memory_partition"));
  const std::string node_number = word_in(device / "numa_node");
  if (!node_number.empty() && node_number[0] != '-') {  // -1: the firmware does not say
    add_number(topology.facts, "numa_node", std::atof(node_number.c_str()), device / "numa_node",
               "the host memory nearest to the card");
  }
  for (const Path& node : folders_in(root / "sys/class/kfd/kfd/topology/nodes")) {
    auto properties = numbers_in(node / "properties");
    if (properties["simd_count"] == 0 || properties["location_id"] != place->location ||
        properties["domain"] != place->domain) {
      continue;
    }
    topology.caches = caches_of(node);
    if (properties["num_xcc"] > 0) {
      add_number(topology.facts, "compute_dies", static_cast<double>(properties["num_xcc"]), node / "properties",
                 "XCDs that this device consists of");
    }
    break;  // partitions of one card are alike
  }
  return topology;
}

}  // namespace vendor
