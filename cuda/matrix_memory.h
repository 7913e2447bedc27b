// Device memory that one prepared op owns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "gpu/runtime.h"

namespace vendor {

// Freed when it goes. Holds nothing where 0 bytes are asked for.
class MatrixMemory {
 public:
  explicit MatrixMemory(std::int64_t bytes) : bytes_(bytes), memory_(bytes > 0 ? allocate(bytes) : nullptr) {}
  ~MatrixMemory() {
    if (memory_ != nullptr) release(memory_);
  }
  MatrixMemory(const MatrixMemory&) = delete;
  MatrixMemory& operator=(const MatrixMemory&) = delete;

  void* get() const { return memory_; }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_;
  void* memory_;
};

}  // namespace vendor
