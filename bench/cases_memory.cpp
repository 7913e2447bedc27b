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

// All arrays together take `bytes`. Where the name says nothing, numbers are fp64, as in STREAM.
Case stream_case(StreamKind kind, Store store, std::int64_t bytes, const std::string& size,
                 Element element = Element::fp64) {
  Stream stream;
  stream.kind = kind;
  stream.format = Format{element, Scaling::none};
  stream.store = store;
  stream.count = std::max<std::int64_t>(bytes / arrays(kind) / (bits(element) / 8), 1);
  const std::string how = store == Store::plain ? "plain" : "nontemporal";
  const std::string number = element == Element::fp64 ? "" : text(element) + "/";
  Case item =
      single_case(std::string("memory/") + kind_name(kind) + "/" + number + how + "/" + size, stream, text(element));
  item.variant = how;
  return item;
}

}  // namespace

std::vector<Case> stream_cases(const DeviceInfo& device, ProfileKind profile) {
  const DramSet set = dram_set(device, profile);
  std::vector<Case> cases;
  const auto add = [&](StreamKind kind, Store store, Element element = Element::fp64) {
    Case item = stream_case(kind, store, set.bytes, "dram", element);
    item.cache = "cold";
    if (!set.far) item.conditions.push_back("near_cache");
    if ((kind == StreamKind::triad || kind == StreamKind::read) && element == Element::fp64) item.rank = 0;
    const bool compared = store == Store::plain && kind != StreamKind::add && kind != StreamKind::scale;
    if (!compared && !is_processor(device)) measure_briefly(item, profile);
    cases.push_back(item);
  };
  for (const StreamKind kind :
       {StreamKind::triad, StreamKind::read, StreamKind::copy, StreamKind::write, StreamKind::add, StreamKind::scale}) {
    const bool said_by_others = kind == StreamKind::add || kind == StreamKind::scale;  // by triad and copy
    if (said_by_others && is_processor(device) && profile == ProfileKind::quick) continue;
    add(kind, Store::plain);
    if (kind != StreamKind::read && is_processor(device)) add(kind, Store::nontemporal);
  }
  if (is_processor(device)) return cases;
  for (const StreamKind kind :
       {StreamKind::triad, StreamKind::read, StreamKind::copy, StreamKind::write, StreamKind::add, StreamKind::scale}) {
    add(kind, Store::plain, Element::fp32);
    const bool said_by_others = kind == StreamKind::add || kind == StreamKind::scale;
    if (kind == StreamKind::read || (said_by_others && profile == ProfileKind::quick)) continue;
    add(kind, Store::nontemporal, Element::fp32);
  }
  return cases;
}

// What the first caches deliver: each unit's share of one array read over and over in one launch, by the size of that
// share. 256 KiB are more than any first cache of today, and together still within the second on large devices.
std::vector<Case> reread_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  if (is_processor(device) || !device.compute_units) return cases;
  constexpr std::int64_t at_once = std::int64_t{4} << 30;  // bytes an execution: far longer than it takes to start
  for (const std::int64_t share : steps(16 * 1024, 256 * 1024, profile == ProfileKind::quick ? 16 : 2)) {
    Stream stream;
    stream.kind = StreamKind::read;
    stream.format = Format{Element::fp32, Scaling::none};
    stream.count = *device.compute_units * share / 4;
    stream.turns = std::max<std::int64_t>(at_once / (stream.count * 4), 1);
    Case item = single_case("memory/reread/fp32/" + size_name(share) + "_each", stream, "fp32");
    item.cache = "hot";
    measure_briefly(item, profile);
    cases.push_back(item);
  }
  return cases;
}

std::vector<Case> working_set_cases(const DeviceInfo& device, ProfileKind profile) {
  const bool quick = profile == ProfileKind::quick;
  const std::int64_t first = is_processor(device) ? 16 * 1024 : (quick ? 1024 : 256) * 1024;
  const int factor = profile == ProfileKind::quick ? 4 : 2;
  std::vector<Case> cases;
  for (const StreamKind kind : {StreamKind::triad, StreamKind::read}) {
    for (const std::int64_t bytes : steps(first, dram_set(device, profile).bytes, factor)) {
      cases.push_back(stream_case(kind, Store::plain, bytes, size_name(bytes)));
      if (!is_processor(device)) measure_briefly(cases.back(), profile);
    }
  }
  return cases;
}

// Rows of an embedding table far larger than the last cache, in random order: what recommenders do, and every model
// with its first layer. Names say how wide a row is.
std::vector<Case> gather_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  if (is_processor(device)) return cases;
  const std::int64_t table = largest_set(device, profile) / 2;
  for (const std::int64_t width : steps(128, 8192, profile == ProfileKind::quick ? 8 : 2)) {
    Embedding gather;
    gather.format = Format{Element::bf16, Scaling::none};
    gather.columns = width / 2;
    gather.vocabulary = std::max<std::int64_t>(table / width, 1);
    gather.rows = std::max<std::int64_t>(std::min<std::int64_t>(table / 4, 256 << 20) / width, 1);
    Case item = single_case("memory/gather/bf16/" + size_name(width), gather, "bf16");
    item.cache = "cold";
    item.variant = "random";
    if (table < 4 * last_cache_bytes(device)) item.conditions.push_back("near_cache");
    if (width != 1024) measure_briefly(item, profile);
    cases.push_back(item);
  }
  return cases;
}

}  // namespace assay
