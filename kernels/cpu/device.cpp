// Describing the processor: /proc/cpuinfo, /sys/devices/system/cpu, and the files of the math libraries.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/device.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "kernels/cpu/kernel.h"

namespace assay::cpu {
namespace {

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// "2048K", "260M" in bytes.
std::optional<std::int64_t> size_in_bytes(const std::string& text) {
  std::istringstream words(text);
  std::int64_t number = 0;
  if (!(words >> number) || number <= 0 || number > (std::int64_t{1} << 40)) {
    return std::nullopt;
  }
  char unit = ' ';
  words >> unit;
  return unit == 'K' ? number << 10 : unit == 'M' ? number << 20 : unit == 'G' ? number << 30 : number;
}

std::filesystem::path processor_folder(const std::filesystem::path& root, int processor) {
  return root / "sys/devices/system/cpu" / ("cpu" + std::to_string(processor));
}

// The highest clock that the governor may choose. /proc/cpuinfo shows the clock of the moment, and in a virtual machine
// a constant, so it is no source.
std::optional<double> highest_clock(const std::filesystem::path& root, int processor) {
  std::istringstream text(first_line(processor_folder(root, processor) / "cpufreq/cpuinfo_max_freq"));
  double kilohertz = 0;
  if (text >> kilohertz && kilohertz > 0) {
    return kilohertz * 1e3;
  }
  return std::nullopt;
}

Fact library_fact(const std::string& name, const std::vector<std::string>& candidates, const std::string& package) {
  Fact fact;
  fact.name = name;
  fact.text = locate_library(candidates);
  fact.source = fact.text;
  if (fact.text.empty()) {
    fact.reason = "not found in the usual folders; the package " + package + " brings it";
  }
  return fact;
}

// The last level that a virtual machine shows is often the whole host's, shared with neighbours.
void explain_last_level(DeviceInfo& device, bool virtual_machine, int threads) {
  if (device.caches.empty() || device.caches.back().level < 3) {
    return;
  }
  const CacheLevel& last = device.caches.back();
  constexpr std::int64_t plausible_share = std::int64_t{24} << 20;  // more than any server gives one core
  const std::int64_t share = last.bytes * last.instances / std::max(1, threads);
  if (!virtual_machine && share <= plausible_share) {
    return;
  }
  Fact fact;
  fact.name = "last_level_cache_bytes_per_core";
  fact.value = static_cast<double>(share);
  fact.unit = "bytes";
  fact.reason = share > plausible_share
                    ? "the system shows the cache of the whole socket, which other cores and machines use too"
                    : "a virtual machine may share this cache with its neighbours";
  fact.source = "/sys/devices/system/cpu";
  device.facts.push_back(fact);
}

std::optional<std::int64_t> memory_ever(const HostLimits& limits) {
  if (limits.memory_total <= 0) {
    return std::nullopt;
  }
  return limits.memory_limit ? std::min(*limits.memory_limit, limits.memory_total) : limits.memory_total;
}

}  // namespace

std::string cpuinfo_value(const std::filesystem::path& root, const std::string& key) {
  std::ifstream file(root / "proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) {
      continue;
    }
    const auto end = line.find_last_not_of(" \t", colon == 0 ? 0 : colon - 1);
    if (end != std::string::npos && line.compare(0, end + 1, key) == 0) {
      const auto start = line.find_first_not_of(" \t", colon + 1);
      return start == std::string::npos ? "" : line.substr(start);
    }
  }
  return "";
}

bool is_virtual(const std::filesystem::path& root) {
  std::istringstream flags(cpuinfo_value(root, "flags"));
  for (std::string flag; flags >> flag;) {
    if (flag == "hypervisor") {
      return true;
    }
  }
  return false;
}

std::vector<CacheLevel> find_caches(const std::filesystem::path& root, const std::vector<int>& allowed) {
  std::map<int, CacheLevel> levels;
  std::map<int, std::set<std::string>> sharers;  // by level: lists of processors that share one instance
  for (const int processor : allowed) {
    std::error_code failed;
    std::filesystem::directory_iterator entries(processor_folder(root, processor) / "cache", failed);
    if (failed) {
      continue;
    }
    for (const auto& entry : entries) {
      const std::string type = first_line(entry.path() / "type");
      const auto bytes = size_in_bytes(first_line(entry.path() / "size"));
      std::istringstream text(first_line(entry.path() / "level"));
      int level = 0;
      if ((type == "Data" || type == "Unified") && bytes && text >> level && level > 0) {
        levels[level].level = level;
        levels[level].bytes = *bytes;
        sharers[level].insert(first_line(entry.path() / "shared_cpu_list"));
      }
    }
  }
  std::vector<CacheLevel> caches;
  for (auto& [level, cache] : levels) {
    cache.instances = static_cast<int>(sharers[level].size());
    caches.push_back(cache);
  }
  return caches;
}

DeviceInfo describe_processor(const std::filesystem::path& root, const HostLimits& limits, const Features& features,
                              const LibraryNames& libraries) {
  const std::vector<int> allowed = allowed_processors(root);
  DeviceInfo device;
  device.id = "cpu:0";
  device.backend = "cpu";
  device.name = cpuinfo_value(root, "model name");
  if (device.name.empty()) {
    device.name = "unnamed " + features.level + " processor";
  }
  device.vendor = maker_name(features);
  device.architecture = features.level;
  device.memory_total = memory_ever(limits);
  if (device.memory_total) {
    device.memory_available = usable_memory(limits);
  }
  device.compute_units = usable_threads(limits);
  if (!allowed.empty()) {
    device.clock_hertz = highest_clock(root, allowed.front());
  }
  device.caches = find_caches(root, allowed);
  const std::string release = first_line(root / "proc/sys/kernel/osrelease");
  device.driver = release.empty() ? "" : "Linux " + release;
  device.runtime = "OpenMP, own kernels for " + body_level();
  device.facts = limits.facts;
  explain_last_level(device, is_virtual(root), *device.compute_units);
  device.facts.push_back(library_fact("onednn_library", libraries.onednn, OneDnn::package()));
  device.facts.push_back(library_fact("openblas_library", libraries.openblas, OpenBlas::package()));
  return device;
}

}  // namespace assay::cpu
