// Copies within the host's memory.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

namespace {

struct Way {
  const char* name;
  CopyPath path;
};

}  // namespace

std::vector<Case> transfer_cases(const DeviceInfo& device, ProfileKind profile) {
  if (!is_processor(device)) return accelerator_transfer_cases(device, profile);
  const bool brief = profile == ProfileKind::quick;
  const int factor = brief ? 16 : 4;
  const std::int64_t last = std::min<std::int64_t>(256 << 20, largest_set(device, profile) / 2);
  std::vector<Case> cases;
  for (const Way& way : {Way{"memcpy", CopyPath::engine}, Way{"all_threads", CopyPath::kernel}}) {
    // One large copy is enough for a quick look: filling it takes longer than copying.
    const std::int64_t largest = brief && way.path == CopyPath::kernel ? last / factor : last;
    for (const std::int64_t bytes : steps(4096, largest, factor)) {
      Transfer transfer;
      transfer.bytes = bytes;
      transfer.from = transfer.to = Place{PlaceKind::host_pageable, -1};
      transfer.path = way.path;
      cases.push_back(single_case(std::string("transfer/") + way.name + "/" + size_name(bytes), transfer, ""));
    }
  }
  return cases;
}

}  // namespace assay
