// Issue-rate kernels on a card: every kernel of its architecture sums what it must.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "core/error.h"
#include "cuda/matrix_issue.h"
#include "cuda/matrix_issue_proof.h"
#include "cuda/matrix_memory.h"
#include "gpu/runtime.h"

namespace vendor {
namespace {

using assay::Element;
using assay::Issue;
using assay::Scaling;

constexpr int device = 0;

Issue issue_of(Element element, Element accumulate, Scaling scaling = Scaling::none) {
  Issue issue;
  issue.operands = {element, scaling};
  issue.accumulate = accumulate;
  issue.unit = assay::Unit::matrix;
  return issue;
}

std::vector<Issue> every_issue() {
  return {issue_of(Element::bf16, Element::fp32),
          issue_of(Element::fp16, Element::fp32),
          issue_of(Element::fp16, Element::fp16),
          issue_of(Element::tf32, Element::fp32),
          issue_of(Element::int8, Element::int32),
          issue_of(Element::fp64, Element::fp64),
          issue_of(Element::fp8_e4m3, Element::fp32),
          issue_of(Element::fp8_e4m3, Element::fp16),
          issue_of(Element::fp8_e5m2, Element::fp32),
          issue_of(Element::fp8_e4m3, Element::fp32, Scaling::block32_ue8m0),
          issue_of(Element::fp4_e2m1, Element::fp32, Scaling::block32_ue8m0),
          issue_of(Element::fp4_e2m1, Element::fp32, Scaling::block16_e4m3)};
}

class DeviceMatrixIssue : public testing::Test {
 protected:
  void SetUp() override {
    const Availability available = availability();
    if (available.devices == 0) GTEST_SKIP() << "no NVIDIA device: " << available.reason;
    use(device);
  }

  static std::vector<std::uint32_t> output(const IssueKernel& kernel, int turns, std::uint32_t seed) {
    const auto bytes = static_cast<std::int64_t>(kernel.words_out * sizeof(std::uint32_t));
    const MatrixMemory memory(bytes);
    auto* out = static_cast<std::uint32_t*>(memory.get());
    void* parameters[] = {&turns, &seed, &out};
    allow_shared_by_address(kernel.entry, kernel.shared_bytes);
    launch_by_address(kernel.entry, 1, kernel.threads, kernel.shared_bytes, nullptr, parameters);
    std::vector<std::uint32_t> words(kernel.words_out);
    copy(words.data(), memory.get(), bytes, nullptr);
    synchronise(Stream{});
    return words;
  }
};

TEST_F(DeviceMatrixIssue, EveryKernelSumsWhatItMust) {
  constexpr std::uint32_t seed = 11;
  for (const Issue& issue : every_issue()) {
    for (const IssueKernel& kernel : matrix_issue_kernels(issue, architecture(device))) {
      for (const int turns : {0, 1, 5}) {
        const auto wrong = wrong_sum(kernel, seed, turns, output(kernel, turns, seed), 7);
        EXPECT_FALSE(wrong.has_value()) << kernel.instruction << ", " << turns << " turns: " << wrong.value_or("");
      }
    }
  }
}

}  // namespace
}  // namespace vendor
