// Pages with guards, protected while nothing runs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/host_vendor/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <string>

#include "core/error.h"

namespace vendor::host {
namespace {

constexpr int fresh = 0xCD;   // what new memory holds
constexpr int canary = 0xA5;  // between the end of a block and the end of its page

struct Area {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
  std::int64_t pages = 0;  // bytes of whole pages
  int device = -1;         // -1: pinned host memory
};

struct Pages {
  std::map<const void*, Area> areas;
  std::map<const void*, std::int64_t> registered;
};
Pages& all() {
  static Pages pages;
  return pages;
}

std::int64_t page_size() { return sysconf(_SC_PAGESIZE); }
std::size_t size(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

void protect(const Area& area, bool closed) {
  mprotect(area.data, size(area.pages), closed ? PROT_NONE : PROT_READ | PROT_WRITE);
}

Area map(std::int64_t bytes, int device) {
  const std::int64_t page = page_size();
  Area area;
  area.bytes = bytes;
  area.pages = (bytes + page - 1) / page * page;
  area.device = device;
  void* base =
      mmap(nullptr, size(area.pages + 2 * page), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw assay::OutOfMemory("taking " + std::to_string(bytes) + " bytes: the host has no more");
  area.data = static_cast<std::byte*>(base) + page;
  protect(area, false);
  // Touching all of a large block would only cost time.
  std::memset(area.data, fresh, size(std::min<std::int64_t>(bytes, 1 << 20)));
  std::memset(area.data + bytes, canary, size(area.pages - bytes));
  return area;
}

void unmap(const Area& area) {
  protect(area, false);
  for (std::int64_t i = area.bytes; i < area.pages; ++i) {
    if (area.data[i] == static_cast<std::byte>(canary)) continue;
    machine().complain("byte " + std::to_string(i) + " behind a block of " + std::to_string(area.bytes) +
                       " was written");
    break;
  }
  munmap(area.data - page_size(), size(area.pages + 2 * page_size()));
}

const Area* find(const void* memory) {
  const auto& areas = all().areas;
  auto next = areas.upper_bound(memory);
  if (next == areas.begin()) return nullptr;
  const Area& area = (--next)->second;
  return static_cast<const std::byte*>(memory) < area.data + area.pages ? &area : nullptr;
}

void drop(void* memory, bool pinned) noexcept {
  const auto found = all().areas.find(memory);
  if (found == all().areas.end() || (found->second.device < 0) != pinned) {
    machine().complain("memory was released that is not there");
    return;
  }
  unmap(found->second);
  all().areas.erase(found);
}

}  // namespace

std::int64_t used(int device) {
  const std::int64_t grain = machine().settings().granularity;
  std::int64_t total = 0;
  for (const auto& [address, area] : all().areas) {
    if (area.device == device) total += (area.bytes + grain - 1) / grain * grain;
  }
  return total;
}

void* take(std::int64_t bytes, int device) {
  if (bytes < 1) throw assay::Error("allocating " + std::to_string(bytes) + " bytes");
  if (used(device) + bytes > machine().settings().memory) {
    throw assay::OutOfMemory("allocating " + std::to_string(bytes) + " bytes on device " + std::to_string(device) +
                             ": out of memory");
  }
  const Area area = map(bytes, device);
  protect(area, true);
  all().areas.emplace(area.data, area);
  return area.data;
}

void* take_pinned(std::int64_t bytes) {
  if (bytes < 1) throw assay::Error("allocating " + std::to_string(bytes) + " bytes of pinned memory");
  const Area area = map(bytes, -1);
  all().areas.emplace(area.data, area);
  return area.data;
}

void give_back(void* memory) noexcept { drop(memory, false); }
void give_back_pinned(void* memory) noexcept { drop(memory, true); }

void register_pages(void* memory, std::int64_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(memory) % static_cast<std::uintptr_t>(page_size()) != 0) {
    throw assay::Error("pinning memory that does not begin on a page");
  }
  all().registered[memory] = bytes;
}

void forget_pages(void* memory) noexcept {
  if (all().registered.erase(memory) == 0) machine().complain("memory was unpinned that is not pinned");
}

bool is_pinned(const void* memory) {
  if (const Area* area = find(memory); area != nullptr) return area->device < 0;
  for (const auto& [begin, bytes] : all().registered) {
    if (memory >= begin && memory < static_cast<const std::byte*>(begin) + bytes) return true;
  }
  return false;
}

int owner(const void* memory) {
  const Area* area = find(memory);
  return area == nullptr ? -1 : area->device;
}

Opened::Opened(const std::vector<int>& devices) : devices_(devices) {
  for (const auto& [address, area] : all().areas) {
    if (std::count(devices_.begin(), devices_.end(), area.device) != 0) protect(area, false);
  }
}

Opened::~Opened() {
  for (const auto& [address, area] : all().areas) {
    if (area.device >= 0 && std::count(devices_.begin(), devices_.end(), area.device) != 0) protect(area, true);
  }
}

void press_stuck_byte() {
  const auto& stuck = machine().settings().stuck_byte;
  if (!stuck) return;
  for (const auto& [address, area] : all().areas) {
    if (area.device != 0 || area.bytes < (1 << 20)) continue;
    area.data[*stuck] |= std::byte{1};
    return;
  }
}

void count_memory(Live& live) {
  for (const auto& [address, area] : all().areas) ++(area.device < 0 ? live.pinned : live.allocations);
  live.pinned += static_cast<int>(all().registered.size());
}

void forget_memory() {
  for (const auto& [address, area] : all().areas) unmap(area);
  all() = Pages();
}

}  // namespace vendor::host
