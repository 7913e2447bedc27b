// The host: what it grants, its disk, and how its cards differ from one another.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/accept/observe.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

const char* const not_surveyed = "the host was not surveyed (assay run --filter ^host --device cpu)";

void share(Subject& host, const char* observation, std::optional<double> part, std::optional<double> whole,
           const std::string& words) {
  if (part && whole && *whole > 0) {
    host.number(observation, *part / *whole, words);
  } else {
    host.hidden(observation, not_surveyed);
  }
}

void observe_granted(Subject& host, const Machine& machine) {
  const auto cards = static_cast<double>(machine.cards().size());
  const auto threads = machine.host_number("usable_threads");
  const auto online = machine.host_number("cores_online");
  share(host, "cores_of_visible", threads, online,
        fmt::format("{:.0f} of {:.0f} cores are granted", threads.value_or(0), online.value_or(0)));
  const auto each = [&](const char* observation, std::optional<double> value, ReportUnit unit, const char* words) {
    if (cards == 0) {
      host.not_here(observation, "no cards");
    } else if (!value) {
      host.hidden(observation, not_surveyed);
    } else {
      host.number(observation, *value / cards,
                  shown(*value, unit) + " " + words + " for " + counted(machine.cards().size(), "card"));
    }
  };
  each("cores_per_gpu", threads, ReportUnit::count, "cores");
  const auto total = machine.host_number("memory_total_bytes");
  const auto limit = machine.host_number("memory_limit_bytes");
  const std::optional<double> granted = limit && total ? std::optional<double>(std::min(*limit, *total)) : total;
  each("ram_per_gpu", granted, ReportUnit::bytes, "of memory");
  each("disk_per_gpu", machine.host_number("storage_total_bytes"), ReportUnit::bytes, "of storage");
  each("shared_memory_per_gpu", machine.host_number("shared_memory_bytes"), ReportUnit::bytes, "of shared memory");
  share(host, "memory_limit_of_total", granted, total,
        shown_bytes(granted.value_or(0)) + " of " + shown_bytes(total.value_or(0)) + " may be used");
  const auto processes = machine.host_number("processes_limit");
  if (processes && threads && *threads > 0) {
    host.number("processes_per_core", *processes / *threads,
                fmt::format("{:.0f} processes for {:.0f} cores", *processes, *threads));
  } else if (!threads) {
    host.hidden("processes_per_core", not_surveyed);
  } else {
    host.not_here("processes_per_core", "no limit is set");
  }
  if (const auto locked = machine.host_number("locked_memory_limit_bytes")) {
    host.number("locked_memory", *locked, "locked_memory_limit_bytes " + shown_bytes(*locked));
  } else if (!threads) {
    host.hidden("locked_memory", not_surveyed);
  } else {
    host.not_here("locked_memory", "no limit is set");
  }
}

void observe_disk(Subject& host, const Machine& machine) {
  const auto plain = [&](const char* observation, const char* fact, ReportUnit unit) {
    if (const auto value = machine.host_number(fact)) {
      host.number(observation, *value, std::string(fact) + " " + shown(*value, unit));
    } else {
      host.hidden(observation, "the disk was not measured (assay run --filter ^host/storage --device cpu)");
    }
  };
  plain("disk_read", "storage_read_bytes_per_second", ReportUnit::bytes_per_second);
  plain("small_files", "storage_small_files_per_second", ReportUnit::none);
  const std::string system = machine.host_word("storage_filesystem");
  if (system.empty()) {
    host.hidden("disk_network", "the disk was not surveyed");
    return;
  }
  bool network = false;
  for (const char* name : {"nfs", "ceph", "lustre", "gpfs", "9p", "cifs", "fuse", "gluster", "beegfs"})
    network = network || system.find(name) != std::string::npos;
  host.word("disk_network", network ? "network" : "local", "file system " + system);
}

// Repetitions of the same case: standard deviation over mean, the middle of all cases.
void observe_repeats(Subject& host, const Machine& machine) {
  std::map<std::pair<std::string, std::string>, std::vector<double>> groups;
  std::size_t rows = 0, loaded = 0;
  for (const Row& row : machine.run().rows) {
    if (row.metric != "seconds" || row.status != Status::ok || !row.value || has_condition(row, "planted")) continue;
    ++rows;
    if (has_condition(row, "other_load")) ++loaded;
    const bool telling =
        row.family == "memory" || row.case_name.find("host_to_device/pinned/256MiB") != std::string::npos;
    if (telling) groups[{row.device, row.case_name}].push_back(*row.value);
  }
  std::vector<double> spreads;
  double worst = 0;
  std::string where;
  for (const auto& [key, values] : groups) {
    if (values.size() < 3) continue;
    double mean = 0, square = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    for (const double value : values) square += (value - mean) * (value - mean);
    const double spread = std::sqrt(square / static_cast<double>(values.size() - 1)) / mean;
    spreads.push_back(spread);
    if (spread >= worst) worst = spread, where = key.second + " on " + key.first;
  }
  if (spreads.empty()) {
    host.hidden("repeat_spread", "nothing was measured three times (--repeat 10)");
  } else {
    host.number("repeat_spread", middle(spreads),
                fmt::format("the middle of {}; most {} in {}", counted(spreads.size(), "case"),
                            shown(worst, ReportUnit::share), where));
  }
  if (rows == 0) {
    host.hidden("other_load", "nothing was timed");
  } else {
    host.number("other_load", static_cast<double>(loaded) / static_cast<double>(rows),
                fmt::format("{} of {} timed rows bear other_load", loaded, rows));
  }
}

}  // namespace

void observe_host(Subject& host, const Machine& machine) {
  observe_granted(host, machine);
  observe_disk(host, machine);
  observe_repeats(host, machine);
  const Ending ending = machine.run().info.ending;
  host.word("ending", ending == Ending::complete || ending == Ending::budget ? "complete" : "unfinished",
            "the run is " + text(ending) +
                (machine.run().info.ending_reason.empty() ? "" : ": " + machine.run().info.ending_reason));
  std::string multicast;
  for (const auto& [name, value] : machine.run().info.environment)
    if (name.find("NVLS") != std::string::npos && value == "0") multicast = name + "=" + value;
  if (machine.cards().size() < 2) {
    host.not_here("multicast_off", "fewer than two cards");
  } else {
    host.word("multicast_off", multicast.empty() ? "on" : "off",
              multicast.empty() ? "no variable turns it off" : multicast);
  }
}

void observe_siblings(Subject& host, const Machine& machine) {
  std::map<std::string, int> kinds;
  for (const DeviceInfo* card : machine.cards())
    ++kinds[fmt::format("{}, {} units, {} bytes", card->name, card->compute_units.value_or(0),
                        card->memory_total.value_or(0) >> 30)];
  if (machine.cards().size() < 2) {
    for (const char* name : {"device_kinds", "gemm_spread", "memory_spread", "host_spread"})
      host.not_here(name, "fewer than two cards");
    return;
  }
  host.number("device_kinds", static_cast<double>(kinds.size()), kinds.begin()->first);
  const auto spread = [&](const char* observation, const std::function<std::optional<Reached>(const DeviceInfo&)>& of,
                          ReportUnit unit) {
    double least = 0, most = 0;
    std::string slowest;
    std::size_t found = 0;
    for (const DeviceInfo* card : machine.cards()) {
      const auto rate = of(*card);
      if (!rate) continue;
      if (found == 0 || rate->rate < least) least = rate->rate, slowest = card->id;
      most = std::max(most, rate->rate);
      ++found;
    }
    if (found < 2) {
      host.hidden(observation, "fewer than two cards were measured");
    } else {
      host.number(observation, least / most,
                  fmt::format("{} is slowest: {} of {}", slowest, shown(least, unit), shown(most, unit)));
    }
  };
  spread(
      "gemm_spread", [&](const DeviceInfo& card) { return machine.products(card, Element::bf16); },
      ReportUnit::flops_per_second);
  spread(
      "memory_spread", [&](const DeviceInfo& card) { return machine.memory(card); }, ReportUnit::bytes_per_second);
  spread(
      "host_spread", [&](const DeviceInfo& card) { return machine.copy(card.id, "transfer/host_to_device/pinned"); },
      ReportUnit::bytes_per_second);
}

}  // namespace assay
