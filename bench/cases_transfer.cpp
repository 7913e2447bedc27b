// Copies: within the host's memory, and between the host and a device.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

namespace {

struct Way {
  const char* name;
  PlaceKind from;
  PlaceKind to;
  CopyPath path;
  bool both_ways;
};

std::vector<Way> ways(const DeviceInfo& device) {
  if (is_processor(device)) {
    return {{"memcpy", PlaceKind::host_pageable, PlaceKind::host_pageable, CopyPath::engine, false},
            {"all_threads", PlaceKind::host_pageable, PlaceKind::host_pageable, CopyPath::kernel, false}};
  }
  return {{"host_to_device/pinned", PlaceKind::host_pinned, PlaceKind::device, CopyPath::engine, false},
          {"device_to_host/pinned", PlaceKind::device, PlaceKind::host_pinned, CopyPath::engine, false},
          {"both_ways/pinned", PlaceKind::host_pinned, PlaceKind::device, CopyPath::engine, true},
          {"host_to_device/pageable", PlaceKind::host_pageable, PlaceKind::device, CopyPath::engine, false},
          {"device_to_host/pageable", PlaceKind::device, PlaceKind::host_pageable, CopyPath::engine, false},
          {"within_device/engine", PlaceKind::device, PlaceKind::device, CopyPath::engine, false},
          {"within_device/kernel", PlaceKind::device, PlaceKind::device, CopyPath::kernel, false}};
}

}  // namespace

std::vector<Case> transfer_cases(const DeviceInfo& device, ProfileKind profile) {
  const int factor = profile == ProfileKind::quick ? 16 : 4;
  const std::int64_t last = std::min<std::int64_t>(256 << 20, largest_set(device, profile) / 2);
  std::vector<Case> cases;
  const bool brief = is_processor(device) && profile == ProfileKind::quick;
  for (const Way& way : ways(device)) {
    // One large copy is enough for a quick look: filling it takes longer than copying.
    const std::int64_t largest = brief && way.path == CopyPath::kernel ? last / factor : last;
    for (const std::int64_t bytes : steps(4096, largest, factor)) {
      Transfer transfer;
      transfer.bytes = bytes;
      transfer.from = Place{way.from, -1};
      transfer.to = Place{way.to, -1};
      transfer.path = way.path;
      transfer.both_ways = way.both_ways;
      cases.push_back(single_case(std::string("transfer/") + way.name + "/" + size_name(bytes), transfer, ""));
    }
  }
  return cases;
}

}  // namespace assay
