// How fast the card is, against what is published for the very card, and against other machines.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "reports/accept/bands.h"
#include "reports/accept/observe.h"
#include "reports/phrase.h"

namespace assay {
namespace {

struct Measured {
  const char* quantity;  // as bands.csv calls it
  std::optional<Reached> reached;
  std::optional<double> peak;  // the maker's
  ReportUnit unit;
  const char* missing;
};

void against_band(Subject& subject, const Gpu& gpu, const Measured& measured, bool healthy, const char* observation) {
  const Band* band = find_band(gpu.name, measured.quantity, healthy);
  if (band == nullptr) {
    subject.not_here(observation, fmt::format("nobody publishes one for the {}", gpu.name));
  } else if (!measured.reached) {
    subject.hidden(observation, measured.missing);
  } else {
    subject.number(
        observation, measured.reached->rate / band->value,
        fmt::format("{}: {} of {} ({}, {})", measured.reached->case_name, shown(measured.reached->rate, measured.unit),
                    shown(band->value, measured.unit), band->who, band->source),
        measured.reached->case_name);
  }
}

void against_peak(Subject& subject, const Gpu& gpu, const Measured& measured, const char* observation) {
  if (!measured.peak) {
    subject.not_here(observation, "no figure is published for " + gpu.name);
  } else if (!measured.reached) {
    subject.hidden(observation, measured.missing);
  } else {
    subject.number(
        observation, measured.reached->rate / *measured.peak,
        fmt::format("{}: {} of {} ({})", measured.reached->case_name, shown(measured.reached->rate, measured.unit),
                    shown(*measured.peak, measured.unit), gpu.sources.empty() ? "catalogue" : gpu.sources.front()),
        measured.reached->case_name);
  }
}

// The same card on other machines: the middle of them.
void against_fleet(Subject& subject, const std::vector<double>& others, std::optional<Reached> here, ReportUnit unit,
                   const char* observation) {
  if (others.empty()) {
    subject.not_here(observation, "no run of another machine with this card was given (--fleet RUN)");
  } else if (!here) {
    subject.hidden(observation, "not measured on this machine");
  } else {
    const double usual = middle(others);
    subject.number(observation, here->rate / usual,
                   fmt::format("{}: {} against {} on {}", here->case_name, shown(here->rate, unit), shown(usual, unit),
                               counted(others.size(), "other card")),
                   here->case_name);
  }
}

// Training steps that both measured: the middle of how much faster this one is.
void training_fleet(Subject& subject, const Machine& machine, const DeviceInfo& device,
                    const std::vector<Machine>& fleet) {
  std::vector<double> ratios;
  std::string where;
  for (const Row* row : machine.timed(device.id, "train/")) {
    for (const Machine& other : fleet)
      for (const DeviceInfo* card : other.cards())
        if (card->name == device.name)
          for (const Row* there : other.timed(card->id, row->case_name))
            if (there->case_name == row->case_name && there->precision == row->precision) {
              ratios.push_back(*there->value / *row->value);
              where = row->case_name;
            }
  }
  if (fleet.empty()) {
    subject.not_here("training_of_fleet", "no run of another machine with this card was given (--fleet RUN)");
  } else if (ratios.empty()) {
    subject.hidden("training_of_fleet", "no training step was measured on both machines");
  } else {
    subject.number("training_of_fleet", middle(ratios),
                   fmt::format("{}: the middle of {}", where, counted(ratios.size(), "ratio")), where);
  }
}

bool failed_there(const Machine& machine, const DeviceInfo& device) {
  Subject there;
  observe_health(there, machine, device);
  const auto is = [&](const char* name, const char* word) { return there.observations[name].word == word; };
  const auto more = [&](const char* name) { return there.observations[name].value.value_or(0) > 0; };
  return is("device_lost", "lost") || is("row_remap", "failed") || is("xid", "fatal") || is("ecc_in_run", "errors") ||
         is("memory_content", "wrong") || more("ecc_uncorrected_now") || more("wrong_results");
}

void observe_seen(Subject& subject, const DeviceInfo& device, const std::vector<Machine>& fleet) {
  if (fleet.empty()) {
    subject.not_here("seen_failing", "no earlier run was given (--fleet RUN)");
    return;
  }
  if (device.unique_id.empty()) {
    subject.hidden("seen_failing", "the driver gives no serial number here");
    return;
  }
  for (const Machine& other : fleet) {
    for (const DeviceInfo* card : other.cards()) {
      if (card->unique_id == device.unique_id && failed_there(other, *card)) {
        subject.word("seen_failing", "seen", "it failed in run " + other.run().info.id);
        return;
      }
    }
  }
  subject.word("seen_failing", "new", fmt::format("not among the failed cards of {}", counted(fleet.size(), "run")));
}

void observe_launch(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const Row* least = nullptr;
  for (const Row* row : machine.rows(device.id, "launch/kernel", [](const Row& one) {
         return one.metric == "seconds_per_launch" && one.status == Status::ok && one.value.value_or(0) > 0;
       })) {
    if (row->case_name == "launch/kernel" && (least == nullptr || *row->value < *least->value)) least = row;
  }
  if (least == nullptr) {
    subject.hidden("launch_seconds", "starting a kernel was not measured");
    subject.hidden("launch_jitter", "starting a kernel was not measured");
  } else {
    subject.number("launch_seconds", *least->value, "launch/kernel: " + shown(*least->value, ReportUnit::seconds),
                   "launch/kernel");
    if (least->maximum) {
      subject.number("launch_jitter", *least->maximum / *least->value,
                     "launch/kernel: slowest batch over the middle one", "launch/kernel");
    } else {
      subject.hidden("launch_jitter", "the run holds no slowest sample");
    }
  }
  double worst = 0;
  std::string where;
  for (const Row* first : machine.timed(device.id, "launch/allocate/")) {
    for (const Row* later : machine.timed(device.id, first->case_name)) {
      if (later->case_name != first->case_name || first->repetition != 0 || later->repetition <= first->repetition)
        continue;
      const double ratio = *later->value / *first->value;
      if (ratio > worst) worst = ratio, where = first->case_name;
    }
  }
  if (worst > 0) {
    subject.number("allocation_growth", worst, where + ": later against first", where);
  } else {
    subject.hidden("allocation_growth", "taking memory was measured once only (--repeat 3)");
  }
}

}  // namespace

void observe_speed(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const Gpu* gpu = machine.gpu(device);
  const Measured bf16{"bf16", machine.products(device, Element::bf16),
                      gpu != nullptr ? peak(*gpu, Element::bf16) : std::nullopt, ReportUnit::flops_per_second,
                      "no products in bf16 were measured"};
  const Measured fp8{"fp8", machine.products(device, Element::fp8_e4m3), std::nullopt, ReportUnit::flops_per_second,
                     "no products in fp8 were measured"};
  const Measured memory{"memory", machine.memory(device), gpu != nullptr ? gpu->bandwidth : std::nullopt,
                        ReportUnit::bytes_per_second, "no stream beyond the caches was measured"};
  const Measured host{"host", machine.copy(device.id, "transfer/host_to_device/pinned"), std::nullopt,
                      ReportUnit::bytes_per_second, "no copy from pinned host memory was measured"};
  if (gpu == nullptr) {
    for (const char* name : {"gemm_of_band", "fp8_of_band", "memory_of_band", "gemm_of_peak", "memory_of_peak",
                             "memory_of_pass_line", "host_of_pass_line"})
      subject.hidden(name, "no figures are known for this name");
  } else {
    against_band(subject, *gpu, bf16, true, "gemm_of_band");
    against_band(subject, *gpu, fp8, true, "fp8_of_band");
    against_band(subject, *gpu, memory, true, "memory_of_band");
    against_band(subject, *gpu, memory, false, "memory_of_pass_line");
    against_band(subject, *gpu, host, false, "host_of_pass_line");
    against_peak(subject, *gpu, bf16, "gemm_of_peak");
    against_peak(subject, *gpu, memory, "memory_of_peak");
  }
  const bool products =
      bf16.reached || machine.products(device, Element::fp16) || machine.products(device, Element::fp32);
  if (products || memory.reached) {
    subject.word("kinds_measured", products && memory.reached ? "both" : "one",
                 std::string(products ? "products" : "no products") + (memory.reached ? ", memory" : ", no memory"));
  } else {
    subject.hidden("kinds_measured", "neither was measured");
  }
  observe_launch(subject, machine, device);
}

void observe_fleet(Subject& subject, const Machine& machine, const DeviceInfo& device,
                   const std::vector<Machine>& fleet) {
  std::vector<double> products, memory;
  for (const Machine& other : fleet) {
    for (const DeviceInfo* card : other.cards()) {
      if (card->name != device.name) continue;
      if (const auto there = other.products(*card, Element::bf16)) products.push_back(there->rate);
      if (const auto there = other.memory(*card)) memory.push_back(there->rate);
    }
  }
  against_fleet(subject, products, machine.products(device, Element::bf16), ReportUnit::flops_per_second,
                "gemm_of_fleet");
  against_fleet(subject, memory, machine.memory(device), ReportUnit::bytes_per_second, "memory_of_fleet");
  training_fleet(subject, machine, device, fleet);
  observe_seen(subject, device, fleet);
}

}  // namespace assay
