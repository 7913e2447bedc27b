// Capacity, context cost and rounding of the host's memory.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/survey.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "kernels/cpu/memory.h"

namespace assay::cpu {
namespace {

Fact number(std::string name, double value, std::string unit, std::string reason, std::string source) {
  Fact fact;
  fact.name = std::move(name);
  fact.value = value;
  fact.unit = std::move(unit);
  fact.reason = std::move(reason);
  fact.source = std::move(source);
  return fact;
}

Fact absent(std::string name, std::string reason, std::string source) {
  Fact fact;
  fact.name = std::move(name);
  fact.reason = std::move(reason);
  fact.source = std::move(source);
  return fact;
}

// Why the survey must not take another step; empty where it may.
std::string obstacle(const CapacityLimits& limits, std::int64_t taken, std::int64_t most, double started) {
  if (taken + limits.step > most) {
    return "stopped at " + std::to_string(static_cast<int>(limits.share * 100)) +
           " % of what is usable, so as not to endanger other programs";
  }
  if (limits.clock() - started >= limits.seconds) {
    return "stopped because its time was over";
  }
  if (usable_memory(limits.look()) < limits.step + limits.margin) {
    return "stopped because less than " + std::to_string(limits.margin >> 20) + " MiB would have been left";
  }
  return "";
}

}  // namespace

CapacityLimits capacity_limits(const HostLimits& limits) {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  const std::int64_t usable = usable_memory(limits);
  CapacityLimits chosen;
  chosen.step = std::clamp(usable / 64, 16 * mebibyte, 256 * mebibyte);
  chosen.margin = std::clamp(usable / 10, 64 * mebibyte, 1024 * mebibyte);
  return chosen;
}

std::vector<Fact> survey_capacity(const CapacityLimits& limits, int threads) {
  const std::int64_t usable = usable_memory(limits.look());
  const auto most = static_cast<std::int64_t>(static_cast<double>(usable) * limits.share);
  const double started = limits.clock();
  std::vector<Block> taken;
  std::int64_t total = 0;
  std::string stopped;
  bool refused = false;
  while ((stopped = obstacle(limits, total, most, started)).empty()) {
    try {
      taken.emplace_back(limits.step);
    } catch (const OutOfMemory& error) {
      stopped = error.what();
      refused = true;
      break;
    }
    touch(taken.back().data(), taken.back().bytes(), threads);
    total += limits.step;
  }
  const double seconds = limits.clock() - started;
  // What the system promises beyond a refusal cannot be had by this process: a limit of its own stands before it.
  const std::int64_t left = refused ? 0 : std::max<std::int64_t>(0, usable_memory(limits.look()) - limits.margin);
  std::vector<Fact> facts;
  facts.push_back(number("allocatable_bytes", static_cast<double>(total + left), "bytes",
                         refused ? "what was taken and touched until the system refused more"
                                 : "what was taken and touched, and what was then still usable beyond a margin of " +
                                       std::to_string(limits.margin >> 20) + " MiB for the system",
                         "allocated and touched; /proc/meminfo and control groups"));
  facts.push_back(number("touched_bytes", static_cast<double>(total), "bytes", stopped, "allocated and touched"));
  facts.push_back(number("usable_bytes", static_cast<double>(usable), "bytes",
                         "what the system and the limits of this process promised at the start",
                         "/proc/meminfo and control groups"));
  if (total > 0 && seconds > 0) {
    facts.push_back(number("first_touch_bytes_per_second", static_cast<double>(total) / seconds, "bytes_per_second",
                           "how fast new pages are handed out and cleared", "allocated and touched"));
  }
  return facts;
}

std::vector<Fact> survey_context_cost(Libraries& libraries, int threads) {
  const auto before = resident_bytes();
  const bool fresh = !libraries.opened();
  std::string opened;
  if (libraries.onednn().usable()) {
    opened += "oneDNN " + libraries.onednn().version();
  }
  if (libraries.openblas().usable()) {
    opened += std::string(opened.empty() ? "" : ", ") + "OpenBLAS " + libraries.openblas().version();
  }
#pragma omp parallel num_threads(threads)
  { asm volatile("" ::: "memory"); }
  const auto after = resident_bytes();
  const std::string source = "/proc/self/statm";
  if (!before || !after) {
    return {absent("context_bytes", "the system does not say how much memory this process holds", source)};
  }
  if (!fresh) {
    return {absent("context_bytes", "the libraries were already open in this process", source)};
  }
  return {number("context_bytes", static_cast<double>(std::max<std::int64_t>(0, *after - *before)), "bytes",
                 "what opening " + (opened.empty() ? std::string("no library") : opened) + " and starting " +
                     std::to_string(threads) + " threads added to the process",
                 source)};
}

std::vector<Fact> survey_rounding() {
  std::vector<Fact> facts;
  facts.push_back(number("page_bytes", static_cast<double>(sysconf(_SC_PAGESIZE)), "bytes",
                         "every block of tensors is rounded up to whole pages", "sysconf"));
  const std::string source = "/sys/kernel/mm/transparent_hugepage/enabled";
  Fact large;
  large.name = "large_pages";
  large.text = transparent_huge_pages();
  large.source = source;
  large.reason = large.text.empty() ? "the system does not say whether it has large pages"
                                    : "large pages of 2 MiB are asked for wherever a block is large enough";
  facts.push_back(large);
  return facts;
}

std::vector<Fact> survey_limits(const HostLimits& limits) {
  std::vector<Fact> facts = limits.facts;
  facts.push_back(number("usable_threads", usable_threads(limits), "threads",
                         "the least of the cores allowed and the processor quota, rounded up", "computed"));
  facts.push_back(number("usable_bytes", static_cast<double>(usable_memory(limits)), "bytes",
                         "the least of what is available and what the control groups leave", "computed"));
  return facts;
}

}  // namespace assay::cpu
