// Memory of the pretended devices: pages that nobody but kernels and copies can touch, between pages that nobody can.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "tests/host_vendor/machine.h"

namespace vendor::host {

void* take(std::int64_t bytes, int device);  // throws OutOfMemory
void* take_pinned(std::int64_t bytes);
void give_back(void* memory) noexcept;
void give_back_pinned(void* memory) noexcept;
void register_pages(void* memory, std::int64_t bytes);
void forget_pages(void* memory) noexcept;

bool is_pinned(const void* memory);
// The device whose memory this is; -1 for the host's.
int owner(const void* memory);
std::int64_t used(int device);

// While it lives, what runs may touch the memory of these devices.
class Opened {
 public:
  explicit Opened(const std::vector<int>& devices);
  ~Opened();
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  std::vector<int> devices_;
};

void press_stuck_byte();  // while device 0 is open
void count_memory(Live& live);
void forget_memory();

}  // namespace vendor::host
