// Streams through memory: by operation at sizes beyond the caches, and by working set from the first cache on.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

namespace {

const char* kind_name(StreamKind kind) {
  switch (kind) {
    case StreamKind::copy:
      return "copy";
    case StreamKind::scale:
      return "scale";
    case StreamKind::add:
      return "add";
    case StreamKind::triad:
      return "triad";
    case StreamKind::read:
      return "read";
    case StreamKind::write:
      break;
  }
  return "write";
}

int arrays(StreamKind kind) {
  switch (kind) {
    case StreamKind::copy:
    case StreamKind::scale:
      return 2;
    case StreamKind::add:
    case StreamKind::triad:
      return 3;
    case StreamKind::read:
    case StreamKind::write:
      break;
  }
  return 1;
}

// All arrays together take `bytes`; numbers are fp64, as in STREAM.
Case stream_case(StreamKind kind, Store store, std::int64_t bytes, const std::string& size) {
  Stream stream;
  stream.kind = kind;
  stream.format = Format{Element::fp64, Scaling::none};
  stream.store = store;
  stream.count = std::max<std::int64_t>(bytes / arrays(kind) / 8, 1);
  const std::string how = store == Store::plain ? "plain" : "nontemporal";
  Case item = single_case(std::string("memory/") + kind_name(kind) + "/" + how + "/" + size, stream, "fp64");
  item.variant = how;
  return item;
}

}  // namespace

std::vector<Case> stream_cases(const DeviceInfo& device, ProfileKind profile) {
  const DramSet set = dram_set(device, profile);
  std::vector<Case> cases;
  const auto add = [&](StreamKind kind, Store store) {
    Case item = stream_case(kind, store, set.bytes, "dram");
    item.cache = "cold";
    if (!set.far) item.conditions.push_back("near_cache");
    if (kind == StreamKind::triad || kind == StreamKind::read) item.rank = 0;
    cases.push_back(item);
  };
  for (const StreamKind kind :
       {StreamKind::triad, StreamKind::read, StreamKind::copy, StreamKind::write, StreamKind::add, StreamKind::scale}) {
    const bool said_by_others = kind == StreamKind::add || kind == StreamKind::scale;  // by triad and copy
    if (said_by_others && is_processor(device) && profile == ProfileKind::quick) continue;
    add(kind, Store::plain);
    if (kind != StreamKind::read && is_processor(device)) add(kind, Store::nontemporal);
  }
  return cases;
}

std::vector<Case> working_set_cases(const DeviceInfo& device, ProfileKind profile) {
  const std::int64_t first = is_processor(device) ? 16 * 1024 : 1024 * 1024;
  const int factor = profile == ProfileKind::quick ? 4 : 2;
  std::vector<Case> cases;
  for (const StreamKind kind : {StreamKind::triad, StreamKind::read}) {
    for (const std::int64_t bytes : steps(first, dram_set(device, profile).bytes, factor)) {
      cases.push_back(stream_case(kind, Store::plain, bytes, size_name(bytes)));
    }
  }
  return cases;
}

}  // namespace assay
