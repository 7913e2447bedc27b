// Links: from the host to the card, and between cards.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "reports/accept/bands.h"
#include "reports/accept/observe.h"
#include "reports/phrase.h"

namespace assay {
namespace {

// "5.0 x16" of the catalogue.
struct Slot {
  int generation = 0, lanes = 0;
};
Slot slot_of(const Gpu& gpu) {
  const std::size_t x = gpu.host_link.find(" x");
  if (x == std::string::npos) return {};
  return {std::atoi(gpu.host_link.c_str()), std::atoi(gpu.host_link.c_str() + x + 2)};
}

void observe_slot(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const Gpu* gpu = machine.gpu(device);
  const Slot slot = gpu != nullptr ? slot_of(*gpu) : Slot{};
  const auto share = [&](const char* observation, const char* fact, int published) {
    const auto here = Machine::number(device, fact);
    if (published <= 0) {
      subject.hidden(observation, "no figure is known for this name");
    } else if (!here) {
      subject.hidden(observation, "the driver does not say");
    } else {
      subject.number(observation, *here / published, fmt::format("{} {:.0f} of {}", fact, *here, published));
    }
  };
  share("link_width_of_sku", "pcie_width", slot.lanes);
  share("link_generation_of_sku", "pcie_generation_most", slot.generation);

  const auto link = Machine::host_link(device);
  const auto up = machine.copy(device.id, "transfer/host_to_device/pinned");
  if (!link) {
    subject.hidden("host_of_link", "the driver does not say generation and lanes of the link");
  } else if (!up) {
    subject.hidden("host_of_link", "no copy from pinned host memory was measured");
  } else {
    subject.number(
        "host_of_link", up->rate / *link,
        fmt::format("{}: {} of {}, by generation and lanes", up->case_name,
                    shown(up->rate, ReportUnit::bytes_per_second), shown(*link, ReportUnit::bytes_per_second)),
        up->case_name);
  }
}

void observe_directions(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const auto both = machine.copy(device.id, "transfer/both_ways/pinned");
  const auto up = machine.copy(device.id, "transfer/host_to_device/pinned");
  const auto down = machine.copy(device.id, "transfer/device_to_host/pinned");
  if (!both || !up || !down) {
    subject.hidden("both_ways", "both directions together and each alone were not all measured");
  } else {
    subject.number(
        "both_ways", both->rate / std::min(up->rate, down->rate),
        fmt::format("{}: {} each way, alone {}", both->case_name, shown(both->rate, ReportUnit::bytes_per_second),
                    shown(std::min(up->rate, down->rate), ReportUnit::bytes_per_second)),
        both->case_name);
  }
  double least = 0, most = 0;
  std::string nearest;
  int nodes = 0;
  for (int node = 0; node < 64; ++node) {
    // The slash keeps node 1 from meaning node 10 too.
    const auto rate = machine.copy(device.id, fmt::format("transfer/host_to_device/node_{}/", node));
    if (!rate) continue;
    if (nodes == 0 || rate->rate < least) least = rate->rate;
    if (rate->rate > most) most = rate->rate, nearest = std::to_string(node);
    ++nodes;
  }
  if (nodes >= 2) {
    subject.number("node_ratio", most / least, "node " + nearest + " is nearest");
  } else {
    subject.not_here("node_ratio", "the host's memory is one part, or its parts cannot be told apart");
  }
  const auto pinned = [](const Row& row) { return row.case_name.find("/pinned/") != std::string::npos; };
  const auto tried = machine.rows(device.id, "transfer/", pinned);
  const auto refused = machine.rows(device.id, "transfer/", [&](const Row& row) {
    return pinned(row) && row.status != Status::ok && row.status != Status::mistrusted;
  });
  if (tried.empty()) {
    subject.hidden("pinned_refused", "no copy with pinned memory was tried");
  } else {
    subject.number("pinned_refused", static_cast<double>(refused.size()),
                   refused.empty() ? "every copy with pinned memory was done"
                                   : refused.front()->case_name + ": " + refused.front()->reason,
                   refused.empty() ? "" : refused.front()->case_name);
  }
}

bool between_cards(const Row& row) {
  return row.case_name.find("to_device_") != std::string::npos ||
         row.case_name.find("from_device_") != std::string::npos ||
         row.case_name.find("both_ways_device_") != std::string::npos;
}

void observe_peer_rows(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const auto rows = machine.rows(device.id, "transfer/", between_cards);
  if (rows.empty()) {
    for (const char* name : {"peer_hang", "peer_content", "peer_access", "peer_hidden"})
      subject.hidden(name, "no copy between cards was measured");
    return;
  }
  const Row* hung = nullptr;
  const Row* wrong = nullptr;
  bool direct = false, refused = false;
  for (const Row* row : rows) {
    if (row->status == Status::failed && row->reason.find("hang") != std::string::npos) hung = row;
    if (row->status == Status::mistrusted ||
        (row->status == Status::failed && row->reason.find("expected") != std::string::npos))
      wrong = row;
    // A kernel's loads and stores reach another card only with peer access; the driver's copy goes another way.
    if (row->case_name.find("/kernel") == std::string::npos) continue;
    (row->status == Status::ok ? direct : refused) = true;
  }
  subject.word("peer_hang", hung != nullptr ? "hang" : "ends",
               hung != nullptr ? hung->case_name + ": " + hung->reason : "every copy between cards ended",
               hung != nullptr ? hung->case_name : "");
  subject.word("peer_content", wrong != nullptr ? "wrong" : "right",
               wrong != nullptr ? wrong->case_name + ": " + wrong->reason : "every copy between cards arrived whole",
               wrong != nullptr ? wrong->case_name : "");
  if (!direct && !refused) {
    subject.hidden("peer_access", "no kernel tried to reach another card");
    subject.hidden("peer_hidden", "no kernel tried to reach another card");
    return;
  }
  subject.word("peer_access", direct ? "direct" : "none",
               direct ? "kernels reach the other cards" : "no kernel could reach another card");
  const double links = Machine::number(device, "nvlink_active").value_or(0);
  subject.word(
      "peer_hidden", links > 0 && !direct ? "hidden" : "seen",
      fmt::format("{:.0f} links are up, kernels {} the other cards", links, direct ? "reach" : "do not reach"));
}

void observe_peer_speed(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  std::optional<Reached> slowest;
  for (const DeviceInfo* other : machine.cards()) {
    const std::size_t colon = other->id.find(':');
    const auto rate = machine.copy(device.id, "transfer/to_device_" + other->id.substr(colon + 1) + "/engine");
    if (rate && (!slowest || rate->rate < slowest->rate)) slowest = rate;
  }
  const Gpu* gpu = machine.gpu(device);
  const Band* band = gpu != nullptr ? find_band(gpu->name, "peer", false) : nullptr;
  if (band == nullptr) {
    subject.not_here("peer_of_pass_line", "nobody publishes one for this card");
  } else if (!slowest) {
    subject.hidden("peer_of_pass_line", "no copy between cards was measured");
  } else {
    subject.number(
        "peer_of_pass_line", slowest->rate / band->value,
        fmt::format("{}: {} of {} ({}, {})", slowest->case_name, shown(slowest->rate, ReportUnit::bytes_per_second),
                    shown(band->value, ReportUnit::bytes_per_second), band->who, band->source),
        slowest->case_name);
  }
  const auto links = Machine::number(device, "nvlink_active");
  const auto each = Machine::number(device, "nvlink_link_bytes_per_second");
  const auto host = Machine::host_link(device);
  std::optional<double> joined_by;
  std::string words;
  if (links.value_or(0) > 0 && each) {
    joined_by = *links * *each;
    words = fmt::format("{:.0f} links", *links);
  } else if (host) {
    joined_by = host;
    words = "the host link";
  }
  if (!slowest || !joined_by) {
    subject.hidden("peer_of_link", !slowest ? "no copy between cards was measured" : "what joins them is not known");
  } else {
    subject.number(
        "peer_of_link", slowest->rate / *joined_by,
        fmt::format("{}: {} of {} over {}", slowest->case_name, shown(slowest->rate, ReportUnit::bytes_per_second),
                    shown(*joined_by, ReportUnit::bytes_per_second), words),
        slowest->case_name);
  }
}

void observe_link_state(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const Gpu* gpu = machine.gpu(device);
  const Fact* active = Machine::fact(device, "nvlink_active");
  const std::string virtualised = Machine::word(device, "virtualisation");
  const std::string fabric = Machine::word(device, "fabric");
  // Modules have their links in the board; a card's bridge may simply not have been bought.
  const bool module = gpu != nullptr && !gpu->link.empty() && gpu->form.find("SXM") != std::string::npos;
  if (active != nullptr) {
    subject.word(
        "links_down", active->reason.empty() ? "up" : "down",
        active->reason.empty() ? fmt::format("{:.0f} links are up", active->value.value_or(0)) : active->reason);
  } else if (module && !machine.managed(device)) {
    subject.hidden("links_down", "the state of the links cannot be read here");
  } else {
    subject.not_here("links_down", "the driver shows no links");
  }
  if (!module || machine.cards().size() < 2) {
    subject.not_here("links_stripped", "no links belong to this card, or it is alone");
  } else if (!machine.managed(device)) {
    subject.hidden("links_stripped", "the state of the links cannot be read here");
  } else {
    const bool stripped =
        (active == nullptr || active->value.value_or(0) == 0) && !virtualised.empty() && virtualised != "none";
    subject.word("links_stripped", stripped ? "stripped" : "kept",
                 fmt::format("{:.0f} links, virtualisation {}", active != nullptr ? active->value.value_or(0) : 0,
                             virtualised.empty() ? "not said" : virtualised));
  }
  if (fabric.empty()) {
    subject.not_here("fabric", "the driver names no fabric");
  } else {
    subject.word("fabric", fabric == "registered" ? "ready" : "missing", "fabric " + fabric);
  }
}

}  // namespace

void observe_host_link(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  observe_slot(subject, machine, device);
  observe_directions(subject, machine, device);
}

void observe_peers(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  observe_link_state(subject, machine, device);
  if (machine.cards().size() < 2) {
    for (const char* name :
         {"peer_hang", "peer_content", "peer_access", "peer_hidden", "peer_of_link", "peer_of_pass_line"})
      subject.not_here(name, "one card only");
    return;
  }
  observe_peer_rows(subject, machine, device);
  observe_peer_speed(subject, machine, device);
}

}  // namespace assay
