// Moving bytes: streams through the memory of one device, dependent loads, and copies from one place to another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/format.h"

namespace assay {

enum class StreamKind : std::uint8_t {
  copy,   // y = x
  scale,  // y = s x
  add,    // z = x + y
  triad,  // z = x + s y
  read,   // the sum of all of x, so that the loads cannot be optimised away
  write,  // y = s
};
enum class Store : std::uint8_t { plain, nontemporal };

// s is 3. Operands: copy, scale: x, y; add, triad: x, y, z; read: x, sum [1] fp64 (write; workers add up in fp32 or
// better and their sums are added in fp64); write: y. Each is [count], the last one is written. A read may go over x
// `turns` times, adding all of it each time, each worker over a part of its own: so bandwidth shows that starting a
// kernel would hide, down to the first cache.
struct Stream {
  StreamKind kind = StreamKind::triad;
  std::int64_t count = 0;
  Format format;
  Store store = Store::plain;
  std::int64_t turns = 1;
};

// Pointer chase: `loads` dependent loads through a random cycle over `bytes` of memory, one slot every `stride` bytes.
// Operand: ring [bytes/8] int64, made by the back end (a slot holds the byte offset of the next one). cost().bytes_read
// is 8 a load.
struct Chase {
  std::int64_t bytes = 0;
  std::int64_t stride = 64;
  std::int64_t loads = 1 << 20;
};

enum class PlaceKind : std::uint8_t { device, host_pinned, host_pageable };

// Where a tensor lives. `index` is the device, or the NUMA node of the host (-1: wherever the worker runs).
struct Place {
  PlaceKind kind = PlaceKind::device;
  int index = -1;
};
inline bool operator==(Place a, Place b) { return a.kind == b.kind && a.index == b.index; }

enum class CopyPath : std::uint8_t { engine, kernel };  // the driver's copy engine (memcpy on a CPU), or a kernel

// `bytes` from one place to another. Operands: from, to, each [bytes] int8, `from` living at Transfer::from and `to` at
// Transfer::to; where both_ways also back_from (at Transfer::to) and back_to (at Transfer::from), likewise [bytes]
// int8.
struct Transfer {
  std::int64_t bytes = 0;
  Place from;
  Place to;
  CopyPath path = CopyPath::engine;
  bool both_ways = false;  // the same number of bytes back at the same time
};

}  // namespace assay
