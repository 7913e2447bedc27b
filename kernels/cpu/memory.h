// Memory of the CPU: blocks with large pages, placed by the threads that use them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace assay::cpu {

// One block for all tensors of a place: anonymous pages, large ones asked for, freed on destruction.
class Block {
 public:
  Block() = default;
  explicit Block(std::int64_t bytes);  // throws OutOfMemory naming the size
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }        // asked for
  std::int64_t reserved() const { return reserved_; }  // rounded up to whole pages

  // Bytes of the block that lie on large pages now; absent where /proc/self/smaps does not say.
  std::optional<std::int64_t> huge_bytes() const;

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::int64_t reserved_ = 0;
};

// The part of `count` things that one of `parts` workers does: contiguous, and the same cut as OpenMP's static
// schedule, so that memory touched by a thread is later used by it.
struct Portion {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
Portion portion(std::int64_t count, int part, int parts);

// Writes to every page of the range, each thread to its share, so that the pages lie near the thread.
void touch(std::byte* first, std::int64_t bytes, int threads);

// Bytes of physical memory this process holds (/proc/self/statm).
std::optional<std::int64_t> resident_bytes();

// "[always] madvise never" as the kernel writes it, or empty.
std::string transparent_huge_pages();

}  // namespace assay::cpu
