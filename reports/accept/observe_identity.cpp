// Is it the card that its name says: architecture, units, memory, caches, clocks, slices.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reports/accept/observe.h"
#include "reports/phrase.h"

namespace assay {
namespace {

// "sm_90" and "9.0" are both "90"; "gfx942" stays.
std::string capability_key(const std::string& text) {
  if (text.rfind("gfx", 0) == 0) return text;
  std::string digits;
  for (const char letter : text)
    if (std::isdigit(static_cast<unsigned char>(letter)) != 0) digits += letter;
  return digits;
}

void compare_with_name(Subject& subject, const DeviceInfo& device, const Gpu& gpu) {
  if (device.architecture.empty() || gpu.capability.empty()) {
    subject.hidden("capability", "the driver does not say the architecture");
  } else {
    const bool same = capability_key(device.architecture) == capability_key(gpu.capability);
    subject.word("capability", same ? "same" : "other",
                 fmt::format("{}, a {} has {}", device.architecture, gpu.name, gpu.capability));
  }
  const auto share = [&](const char* name, std::optional<double> here, std::optional<double> there, ReportUnit unit) {
    if (!there || *there <= 0) {
      subject.hidden(name, "no figure is published for " + gpu.name);
    } else if (!here || *here <= 0) {
      subject.hidden(name, "the driver does not say");
    } else {
      subject.number(name, *here / *there,
                     fmt::format("{} of {} of a {}", shown(*here, unit), shown(*there, unit), gpu.name));
    }
  };
  share("units_of_sku", device.compute_units ? std::optional<double>(*device.compute_units) : std::nullopt, gpu.units,
        ReportUnit::count);
  share("memory_of_sku", device.memory_total ? std::optional<double>(*device.memory_total) : std::nullopt, gpu.memory,
        ReportUnit::bytes);
  std::optional<double> cache;
  for (const CacheLevel& level : device.caches)
    if (level.level >= 2) cache = static_cast<double>(level.bytes) * level.instances;
  share("cache_of_sku", cache, gpu.cache, ReportUnit::bytes);
  const auto most = Machine::number(device, "clock_most_hertz");
  share("clock_of_sku", most ? most : device.clock_hertz, gpu.boost_hertz, ReportUnit::hertz);
}

// "L4-12Q", "T4-4C", and everything that begins with GRID.
bool fraction_name(const std::string& name) {
  if (name.find("GRID") != std::string::npos) return true;
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos || dash + 2 > name.size()) return false;
  const std::string end = name.substr(dash + 1);
  const std::size_t digits = end.find_first_not_of("0123456789");
  return digits != 0 && digits != std::string::npos && digits + 1 == end.size() &&
         std::string("ABCQ").find(end.back()) != std::string::npos;
}

void observe_partition(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const std::string partition = Machine::word(device, "partition");
  const std::string mig = Machine::word(device, "mig");
  if (!partition.empty() || mig.find("slice") != std::string::npos) {
    subject.word("slice", "slice", partition.empty() ? mig : partition);
  } else if (mig.empty() && !machine.managed(device)) {
    subject.hidden("slice", "the card's state cannot be read here");
  } else {
    subject.word("slice", "whole", mig.empty() ? "the driver names no partition" : "mig " + mig);
  }
  const std::string virtualised = Machine::word(device, "virtualisation");
  if (fraction_name(device.name) || virtualised == "vGPU") {
    subject.word("fraction", "fraction", device.name + (virtualised.empty() ? "" : ", virtualisation " + virtualised));
  } else {
    subject.word("fraction", "whole", device.name);
  }
  const std::string licence = Machine::word(device, "vgpu_licence");
  if (!licence.empty()) {
    subject.word("vgpu_licence", licence, "vgpu_licence " + licence);
  } else if (virtualised == "vGPU") {
    subject.hidden("vgpu_licence", "the driver does not say");
  } else {
    subject.not_here("vgpu_licence", "not a virtual GPU");
  }
}

void observe_adapter(Subject& subject, const Machine& machine, const DeviceInfo& device, const Gpu* gpu) {
  if (gpu == nullptr || gpu->form.find("SXM") == std::string::npos) {
    subject.not_here("adapter_card", "not a module");
    return;
  }
  const auto links = Machine::number(device, "nvlink_active");
  const auto watts = Machine::number(device, "power_limit_default_watts");
  if (!machine.managed(device) || !watts) {
    subject.hidden("adapter_card", "links and power limit cannot be read here");
    return;
  }
  // A module of 400 W and more in its own board; adapters supply less.
  const bool adapter = links.value_or(0) == 0 && *watts < 0.95 * gpu->watts.value_or(400);
  subject.word("adapter_card", adapter ? "adapter" : "board",
               fmt::format("{:.0f} links, {:.0f} W", links.value_or(0), *watts));
}

void observe_memory_use(Subject& subject, const DeviceInfo& device) {
  const auto used = Machine::number(device, "memory_in_use_bytes");
  if (!device.memory_total || (!used && !device.memory_available)) {
    subject.hidden("memory_taken", "the driver does not say how much memory is free");
  } else {
    // The context with which the question was asked takes up to half a GiB of its own.
    constexpr double own = 512.0 * 1024 * 1024;
    const auto total = static_cast<double>(*device.memory_total);
    const double taken = used ? *used : total - static_cast<double>(*device.memory_available);
    subject.number("memory_taken", std::max(0.0, taken - own) / total,
                   fmt::format("{} of {} in use", shown_bytes(taken), shown_bytes(total)));
  }
  if (const auto others = Machine::number(device, "other_processes")) {
    subject.number("other_processes", *others, fmt::format("other_processes {:.0f}", *others));
  } else {
    subject.hidden("other_processes", "the driver shows no processes here");
  }
}

}  // namespace

void observe_identity(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const Gpu* gpu = machine.gpu(device);
  subject.word("known_card", gpu != nullptr ? "known" : "unknown",
               gpu != nullptr ? device.name + " is the " + gpu->name : device.name + " is in no published table here");
  if (gpu != nullptr) {
    compare_with_name(subject, device, *gpu);
  } else {
    for (const char* name : {"capability", "units_of_sku", "memory_of_sku", "cache_of_sku", "clock_of_sku"})
      subject.hidden(name, "no figures are known for this name");
  }
  observe_partition(subject, machine, device);
  observe_adapter(subject, machine, device, gpu);
  observe_memory_use(subject, device);
  const std::string usable = Machine::word(device, "usable");
  const Fact* reason = Machine::fact(device, "usable");
  subject.word("usable", usable.empty() ? "yes" : usable, reason != nullptr ? reason->reason : "the driver lists it");
  const Fact* library = Machine::fact(device, "management_library");
  subject.word("management", machine.managed(device) ? "seen" : "hidden",
               library != nullptr && !library->reason.empty() ? library->reason
               : machine.managed(device)                      ? "health and limits are in the run"
                                                              : "the run holds neither limits nor clocks of the card");
}

}  // namespace assay
