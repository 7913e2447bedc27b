// Blocks of memory by the vendor's allocators and by the kernel's pages.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/gpu/memory.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "core/error.h"
#include "gpu/runtime.h"

namespace assay::gpu {
namespace {

constexpr int most_nodes = 1024;
constexpr int bind_policy = 2;             // MPOL_BIND of the kernel's interface
constexpr unsigned long node_of_page = 3;  // MPOL_F_NODE | MPOL_F_ADDR

std::string node_folder(int node) { return "/sys/devices/system/node/node" + std::to_string(node); }

// "0-7,16-23"
cpu_set_t processors_of(int node) {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::ifstream file(node_folder(node) + "/cpulist");
  std::string list;
  std::getline(file, list);
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = -1;
    int last = -1;
    const int found = std::sscanf(range.c_str(), "%d-%d", &first, &last);
    if (found < 1) continue;
    if (found == 1) last = first;
    for (int processor = std::max(0, first); processor <= last && processor < CPU_SETSIZE; ++processor) {
      CPU_SET(processor, &set);
    }
  }
  return set;
}

bool bind_pages(std::byte* data, std::int64_t bytes, int node) {
  unsigned long mask[most_nodes / (8 * sizeof(unsigned long))] = {};
  constexpr int word = 8 * sizeof(unsigned long);
  mask[node / word] = 1UL << static_cast<unsigned>(node % word);
  return syscall(SYS_mbind, data, static_cast<unsigned long>(bytes), bind_policy, mask, most_nodes, 0UL) == 0;
}

void touch(std::byte* data, std::int64_t bytes) {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  for (std::int64_t at = 0; at < bytes; at += page) *const_cast<volatile std::byte*>(data + at) = std::byte{0};
}

// Containers often forbid mbind; there, pages go where the thread runs that touches them first.
void touch_on(int node, std::byte* data, std::int64_t bytes) {
  bool moved = false;
  std::thread worker([&] {
    const cpu_set_t set = processors_of(node);
    moved = CPU_COUNT(&set) > 0 && sched_setaffinity(0, sizeof set, &set) == 0;
    if (moved) touch(data, bytes);
  });
  worker.join();
  if (!moved) {
    throw Unsupported("memory of NUMA node " + std::to_string(node) +
                      " cannot be had: this process may neither bind pages (mbind) nor run on that node's cores");
  }
}

}  // namespace

Support node_support(int node) {
  if (node < 0 || (node < most_nodes && access(node_folder(node).c_str(), F_OK) == 0)) return {true, ""};
  return {false, "this host has no NUMA node " + std::to_string(node)};
}

Block::Block(Home home, std::int64_t bytes, int device) : home_(home), bytes_(bytes) {
  const std::int64_t asked = std::max<std::int64_t>(1, bytes);  // an empty block still has an address
  switch (home.kind) {
    case PlaceKind::device:
      if (home.index != device) vendor::use(home.index);
      try {
        data_ = static_cast<std::byte*>(vendor::allocate(asked));
      } catch (...) {
        if (home.index != device) vendor::use(device);
        throw;
      }
      means_ = Means::device;
      if (home.index != device) vendor::use(device);
      return;
    case PlaceKind::host_pinned:
      if (home.index < 0) {
        data_ = static_cast<std::byte*>(vendor::allocate_pinned(asked));
        means_ = Means::pinned;
        return;
      }
      map_pages(home.index);
      try {
        vendor::pin(data_, mapped_);
      } catch (...) {
        munmap(data_, static_cast<std::size_t>(mapped_));
        throw;
      }
      means_ = Means::pinned_pages;
      return;
    case PlaceKind::host_pageable:
      map_pages(home.index);
      means_ = Means::pages;
      return;
  }
}

// Takes and touches pages. Leaves nothing behind where it throws.
void Block::map_pages(int node) {
  if (const Support there = node_support(node); !there.yes) throw Unsupported(there.reason);
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  mapped_ = (std::max<std::int64_t>(1, bytes_) + page - 1) / page * page;
  void* memory =
      mmap(nullptr, static_cast<std::size_t>(mapped_), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw OutOfMemory("taking " + std::to_string(mapped_) + " bytes of host memory: " + std::strerror(errno));
  }
  data_ = static_cast<std::byte*>(memory);
  try {
    if (node < 0 || bind_pages(data_, mapped_, node)) {
      touch(data_, mapped_);
    } else {
      touch_on(node, data_, mapped_);
    }
  } catch (...) {
    munmap(memory, static_cast<std::size_t>(mapped_));
    throw;
  }
}

Block::Block(Block&& other) noexcept { *this = std::move(other); }

Block& Block::operator=(Block&& other) noexcept {
  std::swap(home_, other.home_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(means_, other.means_);
  return *this;
}

Block::~Block() {
  switch (means_) {
    case Means::none:
      return;
    case Means::device:
      vendor::release(data_);
      return;
    case Means::pinned:
      vendor::release_pinned(data_);
      return;
    case Means::pinned_pages:
      vendor::unpin(data_);
      munmap(data_, static_cast<std::size_t>(mapped_));
      return;
    case Means::pages:
      munmap(data_, static_cast<std::size_t>(mapped_));
      return;
  }
}

std::optional<int> Block::node() const {
  if (means_ != Means::pages && means_ != Means::pinned_pages) return std::nullopt;
  int node = -1;
  if (syscall(SYS_get_mempolicy, &node, nullptr, 0UL, data_, node_of_page) != 0 || node < 0) return std::nullopt;
  return node;
}

}  // namespace assay::gpu
