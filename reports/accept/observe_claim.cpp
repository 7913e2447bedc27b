// What was promised against what is there.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "reports/accept/observe.h"
#include "reports/accept/speed_claim.h"
#include "reports/phrase.h"

namespace assay {
namespace {

const char* const not_claimed = "the claim does not say";

void claim_cards(Subject& host, const Machine& machine, const Claim& claim) {
  if (!claim.devices && claim.gpu_words.empty()) {
    host.not_here("claim_devices", not_claimed);
  } else {
    const int promised = claim.devices.value_or(1);
    host.number("claim_devices", static_cast<double>(machine.cards().size()) / promised,
                fmt::format("{} of {}", machine.cards().size(), promised));
  }
  if (claim.gpu_words.empty()) {
    host.not_here("claim_gpu", not_claimed);
    host.not_here("claim_sku", not_claimed);
    return;
  }
  std::vector<std::string> meant;
  for (const Gpu* gpu : claim.gpus) meant.push_back(gpu->name);
  host.word("claim_sku", claim.gpus.size() > 1 ? "unclear" : "clear",
            "'" + claim.gpu_words + "' means " + joined(meant, " or "));
  if (machine.cards().empty()) {
    host.hidden("claim_gpu", "the run holds no card");
    return;
  }
  std::string verdict = "match";
  std::string words;
  bool known = true;
  for (const DeviceInfo* card : machine.cards()) {
    const Gpu* gpu = machine.gpu(*card);
    if (gpu == nullptr) {
      known = false;
      words = card->name + " is in no published table here";
      continue;
    }
    if (std::find(claim.gpus.begin(), claim.gpus.end(), gpu) == claim.gpus.end()) {
      verdict = "other";
      words = card->id + " is a " + gpu->name + ", promised was " + claim.gpu_words;
    }
  }
  if (verdict == "match" && !known) {
    host.hidden("claim_gpu", words);
    return;
  }
  if (verdict == "match" && claim.gpus.size() > 1) verdict = "unclear";
  host.word("claim_gpu", verdict, words.empty() ? machine.cards().front()->name + " is what was promised" : words);
}

void claim_memory(Subject& host, const Machine& machine, const Claim& claim) {
  if (!claim.memory) {
    host.not_here("claim_memory", not_claimed);
    return;
  }
  std::optional<double> least;
  for (const DeviceInfo* card : machine.cards()) {
    if (!card->memory_total) continue;
    const auto total = static_cast<double>(*card->memory_total);
    least = least ? std::min(*least, total) : total;
  }
  if (!least) {
    host.hidden("claim_memory", "no card says how much memory it has");
  } else {
    host.number("claim_memory", *least / *claim.memory,
                shown_bytes(*least) + " of " + shown_bytes(*claim.memory) + " on the smallest card");
  }
}

void claim_host(Subject& host, const Machine& machine, const Claim& claim) {
  const auto share = [&](const char* observation, std::optional<double> promised, std::optional<double> found,
                         ReportUnit unit) {
    if (!promised) {
      host.not_here(observation, not_claimed);
    } else if (!found) {
      host.hidden(observation, "the host was not surveyed (assay run --filter ^host --device cpu)");
    } else {
      host.number(observation, *found / *promised, shown(*found, unit) + " of " + shown(*promised, unit));
    }
  };
  const auto total = machine.host_number("memory_total_bytes");
  const auto limit = machine.host_number("memory_limit_bytes");
  share("claim_vcpu", claim.cores, machine.host_number("usable_threads"), ReportUnit::count);
  // Host memory is sold in GB of either kind; the smaller is what can be held against anyone.
  std::optional<double> ram = claim.ram;
  if (ram) *ram *= 1e9 / (1024.0 * 1024 * 1024);
  share("claim_ram", ram, limit && total ? std::optional<double>(std::min(*limit, *total)) : total, ReportUnit::bytes);
  share("claim_disk", claim.storage, machine.host_number("storage_total_bytes"), ReportUnit::bytes);
  if (claim.storage_kind.empty()) {
    host.not_here("claim_disk_kind", not_claimed);
    return;
  }
  const auto read = machine.host_number("storage_read_bytes_per_second");
  const Observation& place = host.observations["disk_network"];
  // A slow solid-state disk on SATA reads 500 MB/s; the first generation of NVMe disks some 1.5 GB/s.
  const double least = claim.storage_kind == "nvme" ? 1e9 : 400e6;
  if (place.word == "network") {
    host.word("claim_disk_kind", "network", place.evidence);
  } else if (!read || place.word.empty()) {
    host.hidden("claim_disk_kind", "the disk was not measured (assay run --filter ^host/storage --device cpu)");
  } else {
    host.word("claim_disk_kind", *read < least ? "slow" : "match",
              place.evidence + ", reads " + shown(*read, ReportUnit::bytes_per_second));
  }
}

void claim_links(Subject& host, const Machine& machine, const Claim& claim) {
  if (claim.link.empty()) {
    host.not_here("claim_link", not_claimed);
  } else {
    std::optional<double> least;
    for (const DeviceInfo* card : machine.cards()) {
      const auto active = Machine::number(*card, claim.link == "NVLink" ? "nvlink_active" : "xgmi_links");
      const double links = active.value_or(0);
      if (active || machine.managed(*card)) least = least ? std::min(*least, links) : links;
    }
    if (!least) {
      host.hidden("claim_link", "the state of the links cannot be read here");
    } else {
      host.word("claim_link", *least > 0 ? "there" : "absent",
                fmt::format("{:.0f} links on the card with fewest", *least));
    }
  }
  if (!claim.pcie_generation && !claim.pcie_lanes) {
    host.not_here("claim_host_link", not_claimed);
    return;
  }
  const auto promised = host_link_rate(claim.pcie_generation.value_or(4), claim.pcie_lanes.value_or(16));
  std::optional<double> least;
  for (const DeviceInfo* card : machine.cards()) {
    const auto generation = Machine::number(*card, "pcie_generation_most");
    const auto lanes = Machine::number(*card, "pcie_width");
    if (!generation || !lanes) continue;
    const auto rate = host_link_rate(claim.pcie_generation ? static_cast<int>(*generation) : 4,
                                     claim.pcie_lanes ? static_cast<int>(*lanes) : 16);
    if (rate) least = least ? std::min(*least, *rate) : *rate;
  }
  if (!least || !promised) {
    host.hidden("claim_host_link", "the driver does not say generation and lanes of the link");
  } else {
    host.number("claim_host_link", *least / *promised,
                shown(*least, ReportUnit::bytes_per_second) + " of " + shown(*promised, ReportUnit::bytes_per_second));
  }
}

}  // namespace

void observe_claim(Subject& host, const Machine& machine, const std::vector<Machine>& fleet,
                   const std::optional<Claim>& claim) {
  if (!claim) {
    for (const char* name : {"claim_devices", "claim_gpu", "claim_sku", "claim_memory", "claim_vcpu", "claim_ram",
                             "claim_disk", "claim_disk_kind", "claim_link", "claim_host_link", "claim_speed"})
      host.not_here(name, "no claim was given (--claim)");
    return;
  }
  claim_cards(host, machine, *claim);
  claim_memory(host, machine, *claim);
  claim_host(host, machine, *claim);
  claim_links(host, machine, *claim);
  if (!claim->speed) {
    host.not_here("claim_speed", not_claimed);
    return;
  }
  std::vector<const Machine*> machines{&machine};
  for (const Machine& other : fleet) machines.push_back(&other);
  const SpeedAnswer answer = check_speed_claim(*claim->speed, machines);
  if (answer.ratio) {
    host.number("claim_speed", *answer.ratio / claim->speed->factor, answer.words);
  } else {
    host.hidden("claim_speed", answer.words);
  }
}

}  // namespace assay
