// A matrix unit that takes as long as it is told, and sums what its proof expects, or does not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/ops/gemm.h"
#include "gpu/runtime.h"

namespace vendor {

// entry is a host::IssueEntry: what one block leaves in `out`, which may be null.
struct IssueKernel {
  const void* entry = nullptr;
  std::string instruction;
  unsigned threads = 0;
  unsigned blocks_a_multiprocessor = 1;  // 0: as many as fit
  std::size_t shared_bytes = 0;
  double multiply_adds_a_turn = 0;
  std::size_t words_out = 0;
};

std::vector<IssueKernel> matrix_issue_kernels(const assay::Issue& issue, int architecture);
assay::Support matrix_issue_possible(const assay::Issue& issue, int architecture);
std::optional<std::string> wrong_sum(const IssueKernel& kernel, std::uint32_t seed, int turns,
                                     const std::vector<std::uint32_t>& out, std::size_t stride);

// Queues what an entry says, by the device's clock.
void launch_by_address(const void* entry, unsigned blocks, unsigned threads, std::size_t shared_bytes, Stream stream,
                       void** parameters);
int resident_by_address(const void* entry, unsigned threads, std::size_t shared_bytes);
void allow_shared_by_address(const void* entry, std::size_t shared_bytes);

namespace host {

struct IssueEntry {
  double seconds_a_turn = 0;  // of the whole grid
  bool built = true;          // false: it does nothing at all
  bool right = true;          // whether its sums are
  double multiply_adds_a_turn = 0;
};

// What the matrix unit offers for bf16, the vendor's favourite first; tests replace it.
std::vector<IssueEntry>& issue_entries();

}  // namespace host

}  // namespace vendor
