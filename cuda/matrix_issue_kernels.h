// The kernels that measure issue rate: which there are for a format and an architecture, and what one turn does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ops/gemm.h"

namespace vendor {

// How operands are spread over threads and memory: what a proof of the results must know.
enum class IssueFamily {
  mma,              // registers of one warp, several accumulators
  wgmma_shared,     // A and B in shared memory, accumulators in the registers of four warps
  wgmma_registers,  // A in registers
  tcgen05,          // A and B in shared memory, accumulators in tensor memory
};

struct IssueShape {
  IssueFamily family = IssueFamily::mma;
  assay::Element element = assay::Element::fp16;
  assay::Element sum = assay::Element::fp32;
  int m = 0;
  int n = 0;
  int k = 0;        // elements of one product
  int k_bytes = 0;  // the same in bytes
  int slices = 1;   // products along K in shared memory; 1 for mma
  int chains = 1;   // accumulators; for mma alone
  int a_words = 0;  // of one lane, for mma alone; a word is 32 bits, or one fp64
  int b_words = 0;
  int d_words = 0;  // of one thread and accumulator, in 32 bits or fp64
};

// entry is a `__global__ void(int turns, std::uint32_t seed, std::uint32_t* out)`. Without `out` it stores nothing;
// with it every block stores its accumulators in words_out words of its own, to be compared with what they must be.
struct IssueKernel {
  const void* entry = nullptr;
  std::string instruction;  // "mma.sync m16n8k16 f32.bf16.bf16.f32"
  unsigned threads = 0;
  unsigned blocks_a_multiprocessor = 1;
  std::size_t shared_bytes = 0;
  double multiply_adds_a_turn = 0;  // of one block
  std::size_t words_out = 0;        // of one block
  IssueShape shape;
};

// Each is empty where that family has nothing for the format on that architecture (90 for 9.0).
std::vector<IssueKernel> mma_issue_kernels(const assay::Issue& issue, int architecture);
std::vector<IssueKernel> wgmma_issue_kernels(const assay::Issue& issue, int architecture);      // 90 alone
std::vector<IssueKernel> tcgen05_issue_kernels(const assay::Issue& issue, int architecture);    // 100 and 103
std::vector<IssueKernel> block_mma_issue_kernels(const assay::Issue& issue, int architecture);  // 120 alone

// The issue asks for exactly this. FP8 with one scale a tensor is FP8: the unit never sees that scale.
inline bool asks_for(const assay::Issue& issue, assay::Element element, assay::Scaling scaling,
                     assay::Element accumulate) {
  const bool tensor_scale = issue.operands.scaling == assay::Scaling::tensor && scaling == assay::Scaling::none;
  return issue.operands.element == element && (issue.operands.scaling == scaling || tensor_scale) &&
         issue.accumulate == accumulate;
}

}  // namespace vendor
