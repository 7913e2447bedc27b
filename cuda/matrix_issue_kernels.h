// The kernels that measure issue rate: which there are for a format and an architecture, and what one turn does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ops/gemm.h"

namespace vendor {

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
