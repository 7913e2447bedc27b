// Memory of the three kinds of places: the device, its peers, and the host, pinned or not, on a chosen NUMA node.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/backend.h"
#include "core/ops/memory.h"

namespace assay::gpu {

// A Place with the device named: `index` is a device's number, or a NUMA node of the host, -1 for any.
struct Home {
  PlaceKind kind = PlaceKind::device;
  int index = -1;
};
inline bool operator==(Home a, Home b) { return a.kind == b.kind && a.index == b.index; }
inline Home home_of(Place place, int device) {
  if (place.kind == PlaceKind::device && place.index < 0) return {place.kind, device};
  return {place.kind, place.index};
}

// Whether this host has such a node.
Support node_support(int node);

// One block of memory, freed on destruction.
class Block {
 public:
  Block() = default;
  // `device` is the one in use, and in use again afterwards. Throws OutOfMemory naming the size and the place,
  // Unsupported where memory of that NUMA node cannot be had, DeviceLost, Error.
  Block(Home home, std::int64_t bytes, int device);
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  Home home() const { return home_; }

  // For memory of a chosen NUMA node: where the kernel says that it lies; absent where it does not say.
  std::optional<int> node() const;

 private:
  enum class Means : std::uint8_t { none, device, pinned, pages, pinned_pages };
  void map_pages(int node);

  Home home_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::int64_t mapped_ = 0;  // bytes, for pages
  Means means_ = Means::none;
};

}  // namespace assay::gpu
