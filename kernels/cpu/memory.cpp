// Blocks of memory by mmap.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/error.h"

namespace assay::cpu {
namespace {

constexpr std::int64_t page = 4096;
constexpr std::int64_t large_page = std::int64_t{2} << 20;

std::int64_t round_up(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }

// Maps so that the block starts on a large page where it is at least one, or the kernel would leave its first and last
// parts on small ones.
std::byte* map_aligned(std::int64_t bytes) {
  const bool large = bytes >= large_page;
  const std::int64_t extra = large ? large_page : 0;
  const auto length = static_cast<std::size_t>(bytes + extra);
  void* mapped = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  auto* start = static_cast<std::byte*>(mapped);
  if (!large) {
    return start;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  const auto skip = static_cast<std::int64_t>(round_up(static_cast<std::int64_t>(address), large_page)) -
                    static_cast<std::int64_t>(address);
  if (skip > 0) {
    munmap(start, static_cast<std::size_t>(skip));
  }
  if (extra - skip > 0) {
    munmap(start + skip + bytes, static_cast<std::size_t>(extra - skip));
  }
  madvise(start + skip, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
  return start + skip;
}

}  // namespace

Block::Block(std::int64_t bytes) : bytes_(bytes), reserved_(round_up(std::max<std::int64_t>(bytes, 1), page)) {
  data_ = map_aligned(reserved_);
  if (data_ == nullptr) {
    throw OutOfMemory("could not map " + std::to_string(reserved_) + " bytes of memory: " + std::strerror(errno));
  }
}

Block::Block(Block&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      reserved_(std::exchange(other.reserved_, 0)) {}

Block& Block::operator=(Block&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(reserved_, other.reserved_);
  return *this;
}

Block::~Block() {
  if (data_ != nullptr) {
    munmap(data_, static_cast<std::size_t>(reserved_));
  }
}

std::optional<std::int64_t> Block::huge_bytes() const {
  std::ifstream smaps("/proc/self/smaps");
  if (!smaps || data_ == nullptr) {
    return std::nullopt;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(data_);
  const auto end = begin + static_cast<std::uintptr_t>(reserved_);
  std::int64_t sum = 0;
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long from = 0;
    unsigned long to = 0;
    long kilobytes = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2) {
      inside = from < end && to > begin;
    } else if (inside && std::sscanf(line.c_str(), "AnonHugePages: %ld kB", &kilobytes) == 1) {
      sum += std::int64_t{kilobytes} << 10;
    }
  }
  return std::min(sum, reserved_);
}

Portion portion(std::int64_t count, int part, int parts) {
  const std::int64_t each = count / parts;
  const std::int64_t rest = count % parts;
  const std::int64_t first = part * each + std::min<std::int64_t>(part, rest);
  return {first, first + each + (part < rest ? 1 : 0)};
}

void touch(std::byte* first, std::int64_t bytes, int threads) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int part = 0; part < threads; ++part) {
    const Portion mine = portion(bytes, part, threads);
    for (std::int64_t at = mine.first; at < mine.last; at += page) {
      first[at] = std::byte{0};
    }
  }
}

std::optional<std::int64_t> resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  if (statm >> size >> resident) {
    return resident * sysconf(_SC_PAGESIZE);
  }
  return std::nullopt;
}

std::string transparent_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace assay::cpu
