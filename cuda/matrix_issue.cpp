// The rate at which the matrix units take instructions: which kernels there are.
// SPDX-License-Identifier: Apache-2.0
#include "matrix_issue.h"

namespace vendor {

using assay::Issue;
using assay::Support;
using assay::text;

std::vector<IssueKernel> matrix_issue_kernels(const Issue& issue, int architecture) {
  std::vector<IssueKernel> kernels;
  for (const auto family : {tcgen05_issue_kernels, wgmma_issue_kernels, block_mma_issue_kernels, mma_issue_kernels}) {
    const std::vector<IssueKernel> more = family(issue, architecture);
    kernels.insert(kernels.end(), more.begin(), more.end());
  }
  return kernels;
}

Support matrix_issue_possible(const Issue& issue, int architecture) {
  if (!matrix_issue_kernels(issue, architecture).empty()) return {true, ""};
  return {false, "the matrix units of sm_" + std::to_string(architecture) + " do not multiply " + text(issue.operands) +
                     " into " + text(issue.accumulate) + ", or this program has no kernel for that"};
}

}  // namespace vendor
