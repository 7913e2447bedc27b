// How wgmma and tcgen05 are told where an operand lies in shared memory, and how an element is found there.
// Layouts from the PTX ISA 9.0, "Asynchronous warpgroup level matrix shared memory layout" and "Shared memory
// descriptor". SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/portable.h"

namespace vendor {

// Rows of 128 bytes along K, eight to a group of 1024 bytes in which the 16-byte pieces of row r are exchanged by
// exclusive or with r mod 8, so that eight rows at one K lie in different banks.
constexpr unsigned swizzled_row_bytes = 128;
constexpr unsigned swizzled_group_bytes = 1024;

// Where byte `byte` (0 to 127 along K) of row `row` lies, from a place aligned to 1024 bytes.
PORTABLE constexpr std::uint32_t swizzled_offset(std::uint32_t row, std::uint32_t byte) {
  return row * swizzled_row_bytes + (byte ^ ((row % 8) << 4U));
}

// Addresses and offsets are written without their lowest four bits, and 18 bits of them count.
PORTABLE constexpr std::uint64_t descriptor_encode(std::uint32_t bytes) { return (bytes & 0x3FFFFU) >> 4U; }

// One operand along K in 128-byte swizzle, of up to 128 bytes of K; `start` is the shared address of its first byte,
// where steps along K within the 128 bytes are added as they are. The leading offset is not used in this layout.
struct SharedOperand {
  std::uint32_t start = 0;
  std::uint32_t leading_offset = 16;                   // bytes
  std::uint32_t stride_offset = swizzled_group_bytes;  // bytes from one group of eight rows to the next
};

// wgmma: start 0-13, leading offset 16-29, stride offset 32-45, base offset 49-51 (0: groups start at multiples of
// 1024), swizzle 62-63 (0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes).
PORTABLE constexpr std::uint64_t wgmma_descriptor(SharedOperand operand) {
  constexpr std::uint64_t swizzle_128 = 1;
  return descriptor_encode(operand.start) | (descriptor_encode(operand.leading_offset) << 16U) |
         (descriptor_encode(operand.stride_offset) << 32U) | (swizzle_128 << 62U);
}

}  // namespace vendor
