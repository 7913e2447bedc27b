// Matrix products and issue rates on the pretended vendor: which algorithm or kernel is taken, and what is shared.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/op.h"
#include "kernels/gpu/matrix_rate.h"
#include "matrix_issue.h"
#include "tests/host_vendor/machine.h"
#include "tests/kernels/gpu_host.h"

namespace assay {
namespace {

using testing::HasSubstr;
using vendor::host::Call;
using vendor::host::IssueEntry;

class GpuMatrix : public GpuOnHost {
 protected:
  ~GpuMatrix() override { vendor::host::issue_entries() = {IssueEntry{1e-7, true, true, 1024}}; }

  Choice issue_choice(const std::vector<IssueEntry>& entries) {
    vendor::host::issue_entries() = entries;
    return prepare(single(parse_op("issue operands=bf16 unit=matrix count=1000")))->choice();
  }
};

Preparation best_of(int copies) {
  Preparation preparation;
  preparation.algorithm = Algorithm::best;
  preparation.operand_copies = copies;
  return preparation;
}

Work small_product() { return single(parse_op("gemm m=2 n=2 k=2 a=fp32 b=fp32 d=fp32")); }

TEST_F(GpuMatrix, TheBestAlgorithmIsChosenOnceForAllCopiesAndHoldsOneWorkspace) {
  const auto program = prepare(small_product(), best_of(3));
  EXPECT_EQ(machine().count(Call::plan_matrix), 1);
  EXPECT_EQ(program->footprint().workspace, 8192);  // of the way that takes half as long as the library's favourite
  const Choice choice = program->choice();
  EXPECT_EQ(choice.method, "pretended library 1.0 way 1");
  EXPECT_THAT(choice.note, HasSubstr("the fastest of 2 algorithms, number 2"));  // the third refuses to run
  program->fill(Pattern::exact, 1);
  program->run(6);
}

TEST_F(GpuMatrix, TryingAlgorithmsCostsAsMuchForManyCopiesAsForOne) {
  prepare(small_product(), best_of(1));
  const int launches = machine().count(Call::launch_kernel);
  start({});
  prepare(small_product(), best_of(4));
  EXPECT_LT(machine().count(Call::launch_kernel), launches + 3 * 12);  // the copies are filled, and nothing more
}

TEST_F(GpuMatrix, TheFastestKernelStandsForTheUnitAndTheOthersAreNamed) {
  const Choice choice = issue_choice({{2e-6, true, true, 1024}, {1e-6, true, true, 1024}});
  EXPECT_EQ(choice.method, "pretended instruction 1");
  EXPECT_THAT(choice.note, HasSubstr("pretended instruction 0 reached 50 % of this"));
}

TEST_F(GpuMatrix, KernelsThatWereNotBuiltForThisCardArePassedOver) {
  EXPECT_EQ(issue_choice({{1e-6, false, true, 1024}, {1e-6, true, true, 1024}}).method, "pretended instruction 1");
  EXPECT_THROW(issue_choice({{1e-6, false, true, 1024}}), Unsupported);
}

TEST_F(GpuMatrix, AKernelWhoseSumsAreWrongIsAnErrorAndNoRate) {
  EXPECT_THROW(issue_choice({{1e-6, true, false, 1024}}), Error);
}

TEST(MatrixRate, TurnsStandForTheCountOfEveryThread) {
  vendor::IssueKernel kernel;
  kernel.threads = 256;
  kernel.multiply_adds_a_turn = 262144;
  Issue issue;
  issue.count = 1 << 20;  // times 256 threads, over 262144 a turn
  EXPECT_EQ(gpu::turns_for(issue, kernel), 1024);
  issue.count = 1;
  EXPECT_EQ(gpu::turns_for(issue, kernel), 1);
  issue.count = (1 << 20) + 1;
  EXPECT_EQ(gpu::turns_for(issue, kernel), 1025);
  issue.count = INT64_MAX;
  EXPECT_THROW(gpu::turns_for(issue, kernel), Unsupported);
}

TEST(MatrixRate, ShortRunsAreLengthenedByAPowerOfTwo) {
  EXPECT_EQ(gpu::lengthening(5e-3, 100), 1);
  EXPECT_EQ(gpu::lengthening(75e-6, 100), 128);  // 64 of them are 4.8 ms
  EXPECT_EQ(gpu::lengthening(1, 100), 1);
  EXPECT_EQ(gpu::lengthening(1e-6, 400'000'000), 2);  // a loop counts to 1e9 at most
  EXPECT_EQ(gpu::lengthening(0, 1), 4096);            // a clock that stands still does not hang
}

}  // namespace
}  // namespace assay
