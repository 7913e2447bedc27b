// Copies between the host and an accelerator, within it, and to and from its peers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>

#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

namespace {

constexpr std::int64_t kibibyte = 1 << 10;
constexpr std::int64_t mebibyte = 1 << 20;
constexpr std::int64_t gibibyte = 1 << 30;
constexpr std::int64_t telling_bytes = 256 * mebibyte;  // long enough that starting a copy does not count

constexpr Place device_place{PlaceKind::device, -1};
constexpr Place pinned{PlaceKind::host_pinned, -1};
constexpr Place pageable{PlaceKind::host_pageable, -1};

struct Way {
  std::string name;
  Place from;
  Place to;
  CopyPath path = CopyPath::engine;
  bool both_ways = false;
};

enum class Depth : std::uint8_t { every_size, some_sizes, large_only };

std::vector<std::int64_t> sizes_of(Depth depth, ProfileKind profile) {
  const bool quick = profile == ProfileKind::quick;
  switch (depth) {
    case Depth::every_size:
      if (quick) return {4, 4 * kibibyte, 64 * kibibyte, mebibyte, 16 * mebibyte, telling_bytes};
      return steps(4, gibibyte, 4);
    case Depth::some_sizes:
      if (quick) return {64 * kibibyte, 16 * mebibyte, telling_bytes};
      return steps(4 * kibibyte, gibibyte, 16);  // 4 KiB, 64 KiB, 1 MiB, 16 MiB, 256 MiB
    case Depth::large_only:
      break;
  }
  return {telling_bytes};
}

void add(std::vector<Case>& cases, const Way& way, Depth depth, const DeviceInfo& device, ProfileKind profile) {
  const int arrays = way.both_ways ? 4 : 2;
  const std::int64_t most = largest_set(device, profile) / arrays;
  std::vector<std::int64_t> sizes = sizes_of(depth, profile);
  for (std::int64_t& bytes : sizes) bytes = std::min(bytes, most);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (const std::int64_t bytes : sizes) {
    Transfer transfer;
    transfer.bytes = bytes;
    transfer.from = way.from;
    transfer.to = way.to;
    transfer.path = way.path;
    transfer.both_ways = way.both_ways;
    Case item = single_case("transfer/" + way.name + "/" + size_name(bytes), transfer, "");
    item.variant = way.path == CopyPath::engine ? "engine" : "kernel";
    const bool compared = bytes == telling_bytes && way.path == CopyPath::engine && !way.both_ways;
    if (!compared) measure_briefly(item, profile);
    cases.push_back(std::move(item));
  }
}

void add_host(std::vector<Case>& cases, const DeviceInfo& device, ProfileKind profile) {
  const bool quick = profile == ProfileKind::quick;
  add(cases, {"host_to_device/pinned", pinned, device_place}, Depth::every_size, device, profile);
  add(cases, {"device_to_host/pinned", device_place, pinned}, Depth::every_size, device, profile);
  for (Case& item : cases) {
    if (item.name == "transfer/host_to_device/pinned/256MiB") item.rank = 0;
    if (item.name == "transfer/device_to_host/pinned/256MiB") item.rank = 0;
  }
  const Depth fewer = quick ? Depth::large_only : Depth::some_sizes;
  add(cases, {"both_ways/pinned", pinned, device_place, CopyPath::engine, true}, fewer, device, profile);
  add(cases, {"host_to_device/pageable", pageable, device_place}, Depth::some_sizes, device, profile);
  add(cases, {"device_to_host/pageable", device_place, pageable}, Depth::some_sizes, device, profile);
  add(cases, {"host_to_device/kernel", pinned, device_place, CopyPath::kernel}, fewer, device, profile);
  add(cases, {"device_to_host/kernel", device_place, pinned, CopyPath::kernel}, fewer, device, profile);
  add(cases, {"within_device/engine", device_place, device_place}, fewer, device, profile);
  add(cases, {"within_device/kernel", device_place, device_place, CopyPath::kernel}, fewer, device, profile);
}

// Pinned memory of each node of the host in turn: a card hangs on one of them.
void add_nodes(std::vector<Case>& cases, const DeviceInfo& device, ProfileKind profile) {
  const std::vector<std::string> nodes = fact_list(device, "host_numa_nodes");
  if (nodes.size() < 2) return;
  for (const std::string& node : nodes) {
    const Place there{PlaceKind::host_pinned, std::atoi(node.c_str())};
    add(cases, {"host_to_device/node_" + node, there, device_place}, Depth::large_only, device, profile);
    add(cases, {"device_to_host/node_" + node, device_place, there}, Depth::large_only, device, profile);
  }
}

// The number in "cuda:3", by which peers know this device; -1 where there is none.
int own_number(const DeviceInfo& device) {
  const auto colon = device.id.find(':');
  return colon == std::string::npos ? -1 : std::atoi(device.id.c_str() + colon + 1);
}

// This device's share of the matrix of all pairs: what it sends, which others send to it by its own loads, and both
// ways at once with every later device. First by the driver's copy, then by kernels: a link may fail in one way only.
void add_peers(std::vector<Case>& cases, const DeviceInfo& device, ProfileKind profile) {
  const Depth depth = profile == ProfileKind::full ? Depth::some_sizes : Depth::large_only;
  for (const std::string& peer : fact_list(device, "peer_devices")) {
    const Place there{PlaceKind::device, std::atoi(peer.c_str())};
    add(cases, {"to_device_" + peer + "/engine", device_place, there}, depth, device, profile);
    add(cases, {"to_device_" + peer + "/kernel", device_place, there, CopyPath::kernel}, Depth::large_only, device,
        profile);
    if (profile != ProfileKind::quick) {
      add(cases, {"from_device_" + peer + "/kernel", there, device_place, CopyPath::kernel}, Depth::large_only, device,
          profile);
    }
    if (there.index > own_number(device)) {
      add(cases, {"both_ways_device_" + peer + "/engine", device_place, there, CopyPath::engine, true},
          Depth::large_only, device, profile);
    }
  }
}

}  // namespace

std::vector<Case> accelerator_transfer_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  add_host(cases, device, profile);
  add_nodes(cases, device, profile);
  add_peers(cases, device, profile);
  return cases;
}

}  // namespace assay
