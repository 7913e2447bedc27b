// How tcgen05.mma is told what its operands are and where they lie. Bit fields from the PTX ISA 9.0: "Shared memory
// descriptor" (table 40) and "Instruction descriptor" (tables 42 to 44).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/portable.h"
#include "wgmma_descriptor.h"

namespace vendor {

// Start 0-13, leading offset 16-29, stride offset 32-45, the constant 1 in 46-48, base offset 49-51 (0), leading offset
// relative 52 (0), swizzle 61-63: 2 is 128 bytes.
PORTABLE constexpr std::uint64_t tcgen05_shared_descriptor(SharedOperand operand) {
  constexpr std::uint64_t version = 1;
  constexpr std::uint64_t swizzle_128 = 2;
  return descriptor_encode(operand.start) | (descriptor_encode(operand.leading_offset) << 16U) |
         (descriptor_encode(operand.stride_offset) << 32U) | (version << 46U) | (swizzle_128 << 61U);
}

// Numbers of elements by kind: what stands in bits 7-9 and 10-12.
enum class Tcgen05Element : std::uint32_t {
  fp16 = 0,  // kind::f16
  bf16 = 1,
  tf32 = 2,  // kind::tf32
  e4m3 = 0,  // kind::f8f6f4 and kind::mxf8f6f4
  e5m2 = 1,
  e2m1 = 5,
  int8 = 1,        // kind::i8, signed
  packed_e2m1 = 1  // kind::mxf4 and kind::mxf4nvf4
};

enum class Tcgen05Sum : std::uint32_t { fp16 = 0, fp32 = 1, int32 = 2 };

// For kind::f16, tf32, f8f6f4 and i8: sum 4-5, A 7-9, B 10-12, negate A 13, N/8 17-22, M/16 24-28. Both operands lie
// along K, so neither is transposed (15, 16); nothing is sparse (0-2), saturated (3) or shifted (30-31).
struct Tcgen05Instruction {
  Tcgen05Sum sum = Tcgen05Sum::fp32;
  Tcgen05Element element = Tcgen05Element::fp16;  // of A and B
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  bool negate_a = false;
};

PORTABLE constexpr std::uint32_t tcgen05_instruction(Tcgen05Instruction instruction) {
  const auto element = static_cast<std::uint32_t>(instruction.element);
  return (static_cast<std::uint32_t>(instruction.sum) << 4U) | (element << 7U) | (element << 10U) |
         ((instruction.negate_a ? 1U : 0U) << 13U) | ((instruction.n >> 3U) << 17U) | ((instruction.m >> 4U) << 24U);
}

enum class Tcgen05Scale : std::uint32_t { e4m3 = 0, ue8m0 = 1 };

// For the block-scaled kinds: which byte of B's scales 4-5 (0), A 7-9, B 10-12 (10-11 for FP4), negate A 13, N/8 17-22,
// scale format 23, M/128 27-28, which byte of A's scales 29-30 (0), and K of 96 in place of 64 for FP4 on sm_103a 31.
struct Tcgen05ScaledInstruction {
  Tcgen05Element element = Tcgen05Element::e4m3;
  Tcgen05Scale scale = Tcgen05Scale::ue8m0;
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  bool negate_a = false;
  bool k_is_96 = false;
};

PORTABLE constexpr std::uint32_t tcgen05_scaled_instruction(Tcgen05ScaledInstruction instruction) {
  const auto element = static_cast<std::uint32_t>(instruction.element);
  return (element << 7U) | (element << 10U) | ((instruction.negate_a ? 1U : 0U) << 13U) |
         ((instruction.n >> 3U) << 17U) | (static_cast<std::uint32_t>(instruction.scale) << 23U) |
         ((instruction.m >> 7U) << 27U) | ((instruction.k_is_96 ? 1U : 0U) << 31U);
}

}  // namespace vendor
