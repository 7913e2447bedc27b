// Sizes, rough speeds and estimates.
// SPDX-License-Identifier: Apache-2.0
#include "bench/case_sizes.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "bench/profile.h"

namespace assay {

namespace {

constexpr std::int64_t kibibyte = 1024;
constexpr std::int64_t mebibyte = kibibyte * 1024;
constexpr std::int64_t gibibyte = mebibyte * 1024;

std::int64_t power_of_two_below(std::int64_t value) {
  std::int64_t power = 1;
  while (power <= value / 2) power *= 2;
  return power;
}

// Flops a cycle of one core: x86 by its vector width; others as a machine with 128-bit vectors.
double processor_flops_per_cycle(const DeviceInfo& device, Element element) {
  const bool wide = device.architecture == "x86-64-v4";
  const double fp32 = wide ? 48 : device.architecture == "x86-64-v3" ? 24 : 8;
  if (element == Element::fp64) return fp32 / 2;
  if (element == Element::int8) return fp32 * (wide ? 3 : 1);
  if (element == Element::fp32 || element == Element::tf32) return fp32;
  return fp32 / 2;  // bf16 and fp16: emulated, or at half rate where there is no matrix unit
}

double accelerator_flops_per_cycle(Element element) {
  if (element == Element::fp64) return 128;
  if (element == Element::fp32) return 256;
  if (element == Element::tf32) return 1024;
  return bits(element) >= 16 ? 2048 : 4096;
}

double fill_seconds_per_element(const DeviceInfo& device) {
  // Measured at 2 to 4 ns on one core; a GPU writes at memory speed.
  return is_processor(device) ? 3e-9 / std::max(device.compute_units.value_or(1), 1) : 1e-11;
}

std::int64_t largest_by_time(const DeviceInfo& device, ProfileKind profile) {
  const bool processor = is_processor(device);
  switch (profile) {
    case ProfileKind::quick:
      return processor ? 512 * mebibyte : 4 * gibibyte;
    case ProfileKind::standard:
      return processor ? 2 * gibibyte : 16 * gibibyte;
    case ProfileKind::full:
      break;
  }
  return processor ? 8 * gibibyte : 32 * gibibyte;
}

}  // namespace

bool is_processor(const DeviceInfo& device) { return device.backend == "cpu"; }

double rough_flops_per_second(const DeviceInfo& device, Element element) {
  const double units = std::max(device.compute_units.value_or(1), 1);
  if (is_processor(device)) return units * 2.8e9 * processor_flops_per_cycle(device, element);
  return units * device.clock_hertz.value_or(1.5e9) * accelerator_flops_per_cycle(element);
}

double rough_bytes_per_second(const DeviceInfo& device) {
  const double units = std::max(device.compute_units.value_or(1), 1);
  return is_processor(device) ? std::min(units * 1e10, 2e11) : std::max(units * 1e10, 1e11);
}

std::int64_t last_cache_bytes(const DeviceInfo& device) {
  if (device.caches.empty()) return 32 * mebibyte;
  const CacheLevel& last = device.caches.back();
  return std::max<std::int64_t>(last.bytes, 1) * std::max(last.instances, 1);
}

std::int64_t largest_set(const DeviceInfo& device, ProfileKind profile) {
  const std::int64_t memory = device.memory_available.value_or(device.memory_total.value_or(2 * gibibyte));
  const std::int64_t quarter = power_of_two_below(std::max<std::int64_t>(memory / 4, mebibyte));
  return std::min(quarter, largest_by_time(device, profile));
}

DramSet dram_set(const DeviceInfo& device, ProfileKind profile) {
  const std::int64_t least = is_processor(device) ? 256 * mebibyte : gibibyte;
  const std::int64_t wanted = std::max(4 * last_cache_bytes(device), least);
  const std::int64_t largest = largest_set(device, profile);
  return {std::min(wanted, largest), 4 * last_cache_bytes(device) <= largest};
}

Copies cold_copies(const DeviceInfo& device, ProfileKind profile, std::int64_t bytes) {
  const DramSet set = dram_set(device, profile);
  // Each copy of a product may have scratch of its own, so that there are no more of them than it takes.
  const std::int64_t wanted = std::min(set.bytes, std::max(4 * last_cache_bytes(device), 256 * mebibyte));
  const std::int64_t count = (wanted + bytes - 1) / std::max<std::int64_t>(bytes, 1);
  Copies copies;
  copies.count = static_cast<int>(std::clamp<std::int64_t>(count, 1, 4096));
  copies.far = set.far && copies.count * bytes >= 4 * last_cache_bytes(device);
  return copies;
}

void keep_cold(Case& item, const DeviceInfo& device, ProfileKind profile, std::int64_t bytes) {
  const Copies copies = cold_copies(device, profile, bytes);
  item.preparation.operand_copies = copies.count;
  item.cache = "cold";
  if (!copies.far) item.conditions.push_back("near_cache");
}

std::vector<std::string> fact_list(const DeviceInfo& device, const std::string& name) {
  std::vector<std::string> list;
  for (const Fact& fact : device.facts) {
    if (fact.name != name) continue;
    std::istringstream parts(fact.text);
    for (std::string part; std::getline(parts, part, ',');) {
      if (!part.empty()) list.push_back(part);
    }
  }
  return list;
}

void measure_briefly(Case& item, ProfileKind profile) {
  if (profile == ProfileKind::full) item.limits = assay::profile(ProfileKind::standard).limits;
}

void measure_at_a_glance(Case& item, ProfileKind profile) {
  if (profile == ProfileKind::full) item.limits = assay::profile(ProfileKind::quick).limits;
}

void sustain(Case& item, ProfileKind profile) {
  const bool full = profile == ProfileKind::full;
  Limits limits = assay::profile(profile).limits;
  // Heat and power limits act within seconds, so that six runs must span more than one to see a drift.
  limits.batch_seconds = full ? 0.25 : 0.1;
  limits.runs_per_batch = 1;
  limits.warm_up_seconds = full ? 5 : 2;
  limits.steady_clock = full;
  limits.maximum_seconds = full ? 30 : 6;
  item.limits = limits;
  item.phase = "sustained";
}

double longest_execution(ProfileKind profile) { return assay::profile(profile).limits.maximum_seconds * 0.6; }

std::vector<std::int64_t> steps(std::int64_t first, std::int64_t last, int factor) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = first; size <= last; size *= factor) sizes.push_back(size);
  return sizes;
}

std::string size_name(std::int64_t bytes) {
  if (bytes % gibibyte == 0) return std::to_string(bytes / gibibyte) + "GiB";
  if (bytes % mebibyte == 0) return std::to_string(bytes / mebibyte) + "MiB";
  if (bytes % kibibyte == 0) return std::to_string(bytes / kibibyte) + "KiB";
  return std::to_string(bytes) + "B";
}

Case single_case(const std::string& name, const Op& op, const std::string& precision) {
  Case item;
  item.name = name;
  item.family = family(op);
  item.work = single(op);
  item.precision = precision;
  return item;
}

namespace {

// Fixed costs of a case on an accelerator: plans, allocations, and proving values one by one on the host.
constexpr double accelerator_overhead = 0.08;
constexpr double executions_to_try = 100;           // a dozen or two algorithms, each a few times, for every copy
constexpr double proving_by_twin = 0.3;             // the interpreter works on the host
constexpr double pinning_seconds_per_byte = 5e-10;  // 2 GB/s: pages are cleared and locked one by one

// Each product at the rate of what multiplies, all else at that of fp32.
double accelerator_flops_seconds(const Work& work, const DeviceInfo& device) {
  double seconds = 0;
  for (const Step& step : work.steps) {
    const auto* gemm = std::get_if<Gemm>(&step.op);
    const Element element = gemm == nullptr ? Element::fp32 : gemm->a.element;
    seconds += cost(step.op).flops / rough_flops_per_second(device, element);
  }
  return seconds;
}

double host_bytes(const Work& work) {
  double total = 0;
  for (const Tensor& tensor : work.tensors) {
    if (tensor.place.kind != PlaceKind::device) total += static_cast<double>(bytes(tensor));
  }
  return total;
}

// Accelerators are steady enough that samples rarely go on until the time is over.
double accelerator_sampling(const Limits& limits, double once) {
  const double run = std::max(once, limits.batch_seconds);
  const int runs = run >= 10 * limits.batch_seconds ? 1 : limits.runs_per_batch;
  return std::min(limits.warm_up_seconds + 1.5 * limits.minimum_samples * runs * run, limits.maximum_seconds);
}

// Copies go over a link that is slower than the memory at its ends.
double wire_seconds(const Work& work) {
  constexpr double bytes_per_second = 2e10;
  return host_bytes(work) > 0 ? cost(work).bytes_wire / bytes_per_second : 0;
}

}  // namespace

double worker_seconds(const DeviceInfo& device) { return is_processor(device) ? 0 : 0.8; }

void estimate(Case& item, const DeviceInfo& device, ProfileKind profile) {
  const Limits& limits = item.limits ? *item.limits : assay::profile(profile).limits;
  double filled = 0;
  Element slowest = Element::fp32;
  for (const Tensor& tensor : item.work.tensors) {
    filled += static_cast<double>(elements(tensor)) * item.preparation.operand_copies;
    slowest = tensor.format.element;
  }
  const Cost total = cost(item.work);
  const double calculating = is_processor(device) ? total.flops / rough_flops_per_second(device, slowest)
                                                  : accelerator_flops_seconds(item.work, device);
  const double once = calculating + (total.bytes_read + total.bytes_written) / rough_bytes_per_second(device);
  const double fills = 3 * filled * fill_seconds_per_element(device);
  if (!is_processor(device)) {
    const double execution = std::max(once, wire_seconds(item.work));
    const double trying = item.preparation.algorithm == Algorithm::best
                              ? executions_to_try * item.preparation.operand_copies * std::max(once, 2e-4)
                              : 0;
    const double twin = item.whole_step ? proving_by_twin : 0;
    item.seconds_expected = accelerator_overhead + twin + fills + pinning_seconds_per_byte * host_bytes(item.work) +
                            trying + accelerator_sampling(limits, execution) + 6 * execution;
    return;
  }
  const double sampling = std::max(0.6 * limits.maximum_seconds, once);
  item.seconds_expected = 0.05 + fills + sampling + 4 * once;
}

}  // namespace assay
