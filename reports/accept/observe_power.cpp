// Power, clocks and heat: what holds a card back while it works.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "reports/accept/observe.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

const char* const no_telemetry = "the run holds nothing that the card said while it worked";

// Cases whose throttle or conditions name one of these words.
std::vector<const Row*> held_by(const Machine& machine, const DeviceInfo& device, const std::vector<std::string>& words,
                                const std::string& condition) {
  return machine.rows(device.id, "", [&](const Row& row) {
    return has_condition(row, condition) || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
             return row.throttle.find(word) != std::string::npos;
           });
  });
}

void observe_held(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  if (!machine.telemetry(device)) {
    subject.hidden("thermal", no_telemetry);
    subject.hidden("hardware_slowdown", no_telemetry);
    return;
  }
  const auto hot = held_by(machine, device, {"thermal"}, "thermal_throttle");
  subject.word("thermal", hot.empty() ? "cool" : "hot",
               hot.empty() ? "no case was held back by heat" : hot.front()->case_name + ": " + hot.front()->throttle,
               hot.empty() ? "" : hot.front()->case_name);
  const auto slowed = held_by(machine, device, {"hardware slowdown", "power brake"}, "hardware_slowdown");
  subject.word("hardware_slowdown", slowed.empty() ? "free" : "slowed",
               slowed.empty() ? "no case was held back by the hardware"
                              : slowed.front()->case_name + ": " + slowed.front()->throttle,
               slowed.empty() ? "" : slowed.front()->case_name);
}

void observe_limits(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const auto limit = Machine::number(device, "power_limit_watts");
  const auto usual = Machine::number(device, "power_limit_default_watts");
  const Gpu* gpu = machine.gpu(device);
  if (limit && usual && *usual > 0) {
    subject.number("power_limit_of_default", *limit / *usual, fmt::format("{:.0f} W of {:.0f} W", *limit, *usual));
  } else if (limit && gpu != nullptr && gpu->watts) {
    subject.number("power_limit_of_default", *limit / *gpu->watts,
                   fmt::format("{:.0f} W of the {:.0f} W of a {}", *limit, *gpu->watts, gpu->name));
  } else {
    subject.hidden("power_limit_of_default", "the limit cannot be read here");
  }
  const Fact* set = Machine::fact(device, "clock_set_hertz");
  if (set != nullptr && set->value) {
    subject.word("clocks_set", "held", shown(*set->value, ReportUnit::hertz) + ", " + set->reason);
  } else if (!machine.managed(device)) {
    subject.hidden("clocks_set", "clocks cannot be read here");
  } else {
    subject.word("clocks_set", "free", "no clock is set below the highest");
  }

  const auto capped = held_by(machine, device, {"power cap"}, "power_capped");
  const Row* least = nullptr;
  for (const Row* row : capped)
    if (row->power_watts && (least == nullptr || *row->power_watts > *least->power_watts)) least = row;
  if (!machine.telemetry(device) || !limit) {
    subject.hidden("power_of_limit_when_capped", no_telemetry);
  } else if (least == nullptr) {
    subject.not_here("power_of_limit_when_capped", "no case was held back by the power limit");
  } else {
    subject.number("power_of_limit_when_capped", *least->power_watts / *limit,
                   fmt::format("{}: {:.0f} W of {:.0f} W", least->case_name, *least->power_watts, *limit),
                   least->case_name);
  }
}

// The highest clock while products ran, where neither power nor heat is said to hold it.
void observe_clock(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  auto most = Machine::number(device, "clock_most_hertz");
  if (!most) most = device.clock_hertz;
  const Row* fastest = nullptr;
  bool held = false;
  for (const Row* row : machine.timed(device.id, "gemm/")) {
    if (row->throttle.find("power") != std::string::npos || row->throttle.find("thermal") != std::string::npos ||
        has_condition(*row, "power_capped")) {
      held = true;
      continue;
    }
    if (row->clock_hertz && (fastest == nullptr || *row->clock_hertz > *fastest->clock_hertz)) fastest = row;
  }
  if (fastest != nullptr && most && *most > 0) {
    subject.number("clock_under_load", *fastest->clock_hertz / *most,
                   fmt::format("{}: {} of {}", fastest->case_name, shown(*fastest->clock_hertz, ReportUnit::hertz),
                               shown(*most, ReportUnit::hertz)),
                   fastest->case_name);
  } else if (held) {
    subject.not_here("clock_under_load", "power or heat held every product's clock; other rules speak of that");
  } else {
    subject.hidden("clock_under_load", no_telemetry);
  }
}

void observe_lasting(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const auto kept = machine.rows(device.id, "derived/sustained_over_burst", [](const Row& row) {
    return row.status == Status::ok && row.value && row.metric == "sustained_over_burst";
  });
  if (kept.empty()) {
    subject.hidden("sustained_over_burst", "no sustained load was measured (--profile standard or full)");
  } else {
    const Row* worst =
        *std::min_element(kept.begin(), kept.end(), [](const Row* a, const Row* b) { return *a->value < *b->value; });
    subject.number("sustained_over_burst", *worst->value, worst->case_name, worst->case_name);
  }
  // The same stream, measured first and last.
  const Row* first = nullptr;
  const Row* last = nullptr;
  for (const Row* row : machine.timed(device.id, "memory/")) {
    if (row->case_name.find("dram") == std::string::npos) continue;
    if (first != nullptr && first->case_name != row->case_name) continue;
    if (first == nullptr || row->repetition < first->repetition) first = row;
    if (last == nullptr || row->repetition > last->repetition) last = row;
  }
  if (first == nullptr || last->repetition == first->repetition) {
    subject.hidden("memory_kept", "no stream was measured twice (--repeat 3)");
  } else {
    subject.number("memory_kept", *first->value / *last->value,
                   fmt::format("{}, repetition {} against {}", first->case_name, last->repetition, first->repetition),
                   first->case_name);
  }
}

}  // namespace

void observe_power(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  observe_held(subject, machine, device);
  observe_limits(subject, machine, device);
  observe_clock(subject, machine, device);
  observe_lasting(subject, machine, device);
}

}  // namespace assay
