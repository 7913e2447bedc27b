// What a device is: facts a back end knows without measuring. Anything not known is absent, never 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay {

// One thing found out, with what it means and where it comes from.
struct Fact {
  std::string name;             // "cpu_quota_cores", "allocatable_bytes": snake_case, the unit in the name
  std::optional<double> value;  // absent where it is a text, or could not be found
  std::string unit;             // "bytes", "cores", "seconds", "bytes_per_second", ""
  std::string text;             // for facts that are words
  std::string reason;           // why the value is absent, or what is remarkable about it
  std::string source;           // where it was read: "/sys/fs/cgroup/cpu.max"
};

struct CacheLevel {
  int level = 0;
  std::int64_t bytes = 0;  // one instance
  int instances = 1;       // within what this device may use
};

struct DeviceInfo {
  std::string id;       // "cpu:0", "cuda:1"
  std::string backend;  // "cpu", "cuda", "hip", "fake"
  std::string name;     // as the maker calls it
  std::string vendor;
  std::string architecture;                      // "x86-64-v4", "sm_90", "gfx942"
  std::optional<std::int64_t> memory_total;      // bytes that this process could ever get
  std::optional<std::int64_t> memory_available;  // bytes free now
  std::optional<int> compute_units;              // cores, SMs, CUs
  std::optional<double> clock_hertz;
  std::vector<CacheLevel> caches;  // first level first
  std::string driver;
  std::string runtime;
  std::string unique_id;    // UUID or serial, where the platform gives one
  std::vector<Fact> facts;  // anything else worth a line: limits, libraries found with path and version, partitions
};

// What the operating system shows of one vendor's cards, without asking any driver library.
struct Presence {
  std::string vendor;              // as people say it
  std::string backend;             // the plug-in that would use them
  std::vector<std::string> cards;  // "0000:3b:00.0 (10de:2331)"; empty: none visible
  std::string driver;              // version of the kernel driver, where it says so
  std::string problem;             // a sentence, where something stands between the cards and this process
  std::string cure;                // what to do about it
};

}  // namespace assay
