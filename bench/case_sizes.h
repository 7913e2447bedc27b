// How large a case may be on a device: from its memory, its caches and a rough idea of its speed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/case.h"
#include "core/device.h"

namespace assay {

// The host's own processor, as opposed to an accelerator: small launches are cheap and large fills are not.
bool is_processor(const DeviceInfo& device);

// Rough speeds, within a factor of a few: they choose sizes and estimate durations, and are never shown.
double rough_flops_per_second(const DeviceInfo& device, Element element);
double rough_bytes_per_second(const DeviceInfo& device);

// All instances of the last cache level together; 32 MiB where the device does not say.
std::int64_t last_cache_bytes(const DeviceInfo& device);

// The largest working set of one case: a quarter of the memory that is free, as a power of two so that it does not
// change from one look to the next, and no more than the profile has time to fill.
std::int64_t largest_set(const DeviceInfo& device, ProfileKind profile);

// Bytes of working set that certainly come from memory: four times the last cache, or the largest set if that is less;
// `far` says which.
struct DramSet {
  std::int64_t bytes = 0;
  bool far = true;
};
DramSet dram_set(const DeviceInfo& device, ProfileKind profile);

// Copies of a working set of `bytes` that rotation needs to keep it cold; `far` as above.
struct Copies {
  int count = 1;
  bool far = true;
};
Copies cold_copies(const DeviceInfo& device, ProfileKind profile, std::int64_t bytes);

// Sets the operand copies that keep a work of `bytes` cold, and says so.
void keep_cold(Case& item, const DeviceInfo& device, ProfileKind profile, std::int64_t bytes);

// What the device says of itself under this name: the text between its commas; empty where it says nothing.
std::vector<std::string> fact_list(const DeviceInfo& device, const std::string& name);

// A point of a curve, or one case of many: in the full profile it is measured as the standard one does, so that the
// time goes where runs are compared.
void measure_briefly(Case& item, ProfileKind profile);
// In the full profile, as the quick one does: points of a curve of which the ends are told by others.
void measure_at_a_glance(Case& item, ProfileKind profile);

// Under load for seconds before it is timed, until the rate is steady: at most 6 s (standard), or 30 s (full).
void sustain(Case& item, ProfileKind profile);

// Seconds that one execution of this kind of case may take, so that enough samples fit into the profile's limits.
double longest_execution(ProfileKind profile);

// Working sets from `first` to `last` bytes in steps of `factor`.
std::vector<std::int64_t> steps(std::int64_t first, std::int64_t last, int factor);

// "16KiB", "4MiB", "1GiB": for names. Bytes that are no whole number of those stay bytes.
std::string size_name(std::int64_t bytes);

// A case of one op: name, family, work, precision.
Case single_case(const std::string& name, const Op& op, const std::string& precision);

// Seconds until a fresh worker has a device's driver and libraries ready; next to nothing on a processor.
double worker_seconds(const DeviceInfo& device);

// Sets seconds_expected from the work's fills, its executions and its limits.
void estimate(Case& item, const DeviceInfo& device, ProfileKind profile);

}  // namespace assay
