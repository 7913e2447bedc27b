// Temporary memory that all kernels of a program share, since only one of them runs at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/memory.h"

namespace assay::cpu {

class Scratch {
 public:
  // Each kernel says what it needs while it is made, and asks for the address when it runs.
  void need(std::int64_t bytes) { bytes_ = std::max(bytes_, bytes); }
  void allocate(int threads) {
    if (block_.bytes() < bytes_) {
      block_ = Block(bytes_);
      touch(block_.data(), block_.bytes(), threads);
    }
  }
  std::byte* data() const { return block_.data(); }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_ = 0;
  Block block_;
};

}  // namespace assay::cpu
