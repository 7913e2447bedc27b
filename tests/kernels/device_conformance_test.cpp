// Every op that a GPU plug-in supports, on the card itself, against the op's own formula; and what only a card can show
// of order, graphs, transfers, launches and surveys. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "core/loader.h"
#include "tests/kernels/check_op.h"
#include "tests/kernels/conformance_ops.h"

namespace assay {
namespace {

// The first GPU plug-in with a device, opened once; null where there is none, and why.
struct Opened {
  std::unique_ptr<Backend> backend;
  std::string why_not = "no GPU plug-in was built";
};

// ASSAY_CONFORMANCE_PLUGIN names one of the tests' own plug-ins instead: the pretended GPU proves this test.
Opened open_gpu() {
  const std::filesystem::path build = ASSAY_BINARY_DIR;
  const char* const pretended = std::getenv("ASSAY_CONFORMANCE_PLUGIN");
  const auto folder = pretended == nullptr ? build / "plugins" : build / "test-plugins";
  Opened opened;
  for (const std::string& name : plugin_names(folder)) {
    if (pretended == nullptr ? name == "cpu" : name != pretended) continue;
    const LoadedPlugin loaded = load_plugin(folder, name);
    if (loaded.plugin == nullptr) {
      opened.why_not = loaded.reason;
      continue;
    }
    auto backend = loaded.plugin->create_backend();
    if (!backend->devices().empty()) return {std::move(backend), ""};
    opened.why_not = name + " finds no device that can be used";
    for (const Fact& fact : backend->diagnosis()) {
      if (!fact.reason.empty() && fact.text.empty()) opened.why_not += "; " + fact.name + ": " + fact.reason;
    }
  }
  return opened;
}

class OnDevice : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { opened_ = new Opened(open_gpu()); }
  static void TearDownTestSuite() { delete opened_; }
  void SetUp() override {
    if (opened_->backend == nullptr) GTEST_SKIP() << opened_->why_not;
  }
  Backend& backend() { return *opened_->backend; }

  // What the card cannot do must have a reason; `least` says how many it must be able to do.
  void expect_all(const std::vector<std::string>& ops, std::size_t least, const Preparation& preparation = {}) {
    std::size_t done = 0;
    for (const std::string& op : ops) {
      const Support support = backend().supports(parse_op(op), 0);
      if (!support.yes) {
        EXPECT_FALSE(support.reason.empty()) << op;
        continue;
      }
      expect_right_on_all_data(backend(), op, preparation);
      ++done;
    }
    EXPECT_GE(done, least);
  }

 private:
  static Opened* opened_;
};
Opened* OnDevice::opened_ = nullptr;

TEST_F(OnDevice, Streams) { expect_all(conformance::streams(), conformance::streams().size()); }
TEST_F(OnDevice, LongStreams) {
  expect_all({"stream kind=triad count=4194309 format=fp32", "stream kind=read count=4194309 format=fp32",
              "stream kind=copy count=4194309 format=bf16", "stream kind=write count=4194309 format=fp64"},
             4);
}
TEST_F(OnDevice, Pointwise) { expect_all(conformance::pointwise(), conformance::pointwise().size()); }
TEST_F(OnDevice, Casts) { expect_all(conformance::casts(), 30); }
TEST_F(OnDevice, Optimizers) { expect_all(conformance::optimizers(), conformance::optimizers().size()); }
TEST_F(OnDevice, Softmaxes) { expect_all(conformance::softmaxes(), conformance::softmaxes().size()); }
TEST_F(OnDevice, Norms) { expect_all(conformance::norms(), conformance::norms().size()); }
TEST_F(OnDevice, ColumnsAndLosses) {
  expect_all(conformance::columns_and_losses(), conformance::columns_and_losses().size());
}
TEST_F(OnDevice, LongRows) {  // longer than what a block keeps to itself
  expect_all({"softmax rows=3 columns=50257 format=bf16", "softmax direction=backward rows=3 columns=50257 format=fp32",
              "cross_entropy rows=3 columns=50257 format=bf16", "norm kind=layer rows=3 columns=40001 format=fp32",
              "norm kind=rms direction=backward rows=3 columns=40001 format=bf16"},
             5);
}
TEST_F(OnDevice, Tokens) { expect_all(conformance::tokens(), conformance::tokens().size()); }

TEST_F(OnDevice, Attentions) { expect_all(conformance::attentions(), 40); }
TEST_F(OnDevice, Training) { expect_all(conformance::training(), conformance::training().size()); }

TEST_F(OnDevice, MatrixProducts) {
  std::vector<std::string> ops;
  for (const char* shape : {"m=64 n=96 k=128", "m=1 n=256 k=512", "m=144 n=80 k=272"}) {
    for (const char* formats :
         {"a=fp64 b=fp64 d=fp64 accumulate=fp64", "a=fp32 b=fp32 d=fp32", "a=tf32 b=tf32 d=fp32",
          "a=bf16 b=bf16 d=bf16", "a=fp16 b=fp16 d=fp16", "a=fp16 b=fp16 d=fp16 accumulate=fp16"}) {
      ops.push_back(std::string("gemm ") + shape + " " + formats);
    }
    for (const char* formats : {"a=int8 b=int8 d=int32 accumulate=int32 transpose_b=true",
                                "a=fp8_e4m3.tensor b=fp8_e4m3.tensor d=bf16 transpose_b=true",
                                "a=fp8_e5m2.tensor b=fp8_e4m3.tensor d=bf16 transpose_b=true",
                                "a=fp8_e4m3.block32_ue8m0 b=fp8_e4m3.block32_ue8m0 d=bf16 transpose_b=true",
                                "a=fp4_e2m1.block16_e4m3 b=fp4_e2m1.block16_e4m3 d=bf16 transpose_b=true"}) {
      ops.push_back(std::string("gemm ") + shape + " " + formats);
    }
  }
  ops.push_back("gemm batch=3 m=64 n=48 k=80 a=bf16 b=bf16 d=bf16 transpose_a=true");
  ops.push_back("gemm m=64 n=48 k=80 a=bf16 b=bf16 d=bf16 beta=1 bias=true activation=relu");
  expect_all(ops, 16);
  Preparation best;
  best.algorithm = Algorithm::best;
  expect_all({"gemm m=144 n=80 k=272 a=bf16 b=bf16 d=bf16"}, 1, best);
}

TEST_F(OnDevice, TransfersByEngineAndKernel) {
  std::vector<std::string> ops;
  for (const char* bytes : {"1", "63", "10007", "4194309"}) {
    for (const char* way : {"from=host_pinned to=device", "from=device to=host_pinned", "from=host_pageable to=device",
                            "from=device to=host_pageable", "from=device to=device"}) {
      for (const char* path : {"", " path=kernel"}) {
        ops.push_back(std::string("transfer bytes=") + bytes + " " + way + path);
      }
    }
    ops.push_back(std::string("transfer bytes=") + bytes + " from=host_pinned to=device both_ways=true");
  }
  expect_all(ops, 24);
}

TEST_F(OnDevice, GraphsAndRotatingCopies) {
  Preparation graph;
  graph.launch = LaunchMode::graph;
  expect_all({"stream kind=triad count=5001 format=fp32", "softmax rows=5 columns=67 format=bf16"}, 2, graph);
  Preparation rotating;
  rotating.operand_copies = 3;
  expect_all({"stream kind=add count=5001 format=fp32"}, 1, rotating);
}

TEST_F(OnDevice, FillsAsTheCoreSays) {
  for (const char* op :
       {"stream kind=copy count=5001 format=fp32", "stream kind=copy count=5001 format=fp64",
        "stream kind=copy count=5001 format=bf16", "stream kind=copy count=5001 format=fp16",
        "cast count=5001 from=fp32 to=int8", "embedding rows=999 vocabulary=17 columns=8 format=fp32"}) {
    const Work work = single(parse_op(op));
    const auto program = backend().prepare(work, 0, {});
    for (const Pattern pattern :
         {Pattern::exact, Pattern::typical, Pattern::integer, Pattern::constant, Pattern::probe, Pattern::zero}) {
      program->fill(pattern, 11);
      for (std::size_t i = 0; i < work.tensors.size(); ++i) {
        const std::int64_t count = elements(work.tensors[i]);
        const auto got = program->read(static_cast<int>(i), 0, count);
        const Filling want = filling(work, static_cast<int>(i), pattern, 11);
        for (std::int64_t at = 0; at < count; ++at) {
          ASSERT_EQ(got[static_cast<std::size_t>(at)], want(at)) << op << ", " << text(pattern) << " at " << at;
        }
      }
    }
  }
}

TEST_F(OnDevice, RunsLanesAtTheSameTime) {
  const Work one = single(parse_op("gemm m=64 n=64 k=64 a=bf16 b=bf16 d=bf16"));
  Work all;
  all.name = "four products";
  all.lanes = 4;
  for (int lane = 0; lane < all.lanes; ++lane) {
    Step step = one.steps.front();
    for (int& operand : step.operands) operand += static_cast<int>(all.tensors.size());
    step.lane = lane;
    all.tensors.insert(all.tensors.end(), one.tensors.begin(), one.tensors.end());
    all.steps.push_back(step);
  }
  const auto program = backend().prepare(all, 0, {});
  program->fill(Pattern::exact, 3);
  const auto seconds = program->run(8);
  ASSERT_EQ(seconds.size(), 4U);
  for (const double lane : seconds) EXPECT_GT(lane, 0);
}

// Nothing runs faster than light: a rate above any card's, or no time at all, is a mistake of the clock.
TEST_F(OnDevice, TakesTimeForRegistersLoadsAndLaunches) {
  for (const char* op :
       {"issue operands=fp32", "issue operands=fp64 accumulate=fp64", "issue operands=fp16",
        "issue operands=bf16 unit=matrix", "issue operands=fp16 unit=matrix", "issue operands=tf32 unit=matrix",
        "issue operands=fp8_e4m3 unit=matrix", "issue operands=int8 accumulate=int32 unit=matrix",
        "chase bytes=1048576", "chase bytes=268435456", "launch kind=kernel count=100", "launch kind=graph count=100",
        "launch kind=allocate count=10 bytes=65536", "launch kind=synchronise count=100"}) {
    SCOPED_TRACE(op);
    const Op parsed = parse_op(op);
    const Support support = backend().supports(parsed, 0);
    if (!support.yes) {
      EXPECT_FALSE(support.reason.empty());
      continue;
    }
    const auto program = backend().prepare(single(parsed), 0, {});
    program->fill(Pattern::typical, 1);
    program->run(1);
    const double seconds = program->run(1).at(0);
    EXPECT_GT(seconds, 0);
    const double flops = program->choice().flops.value_or(0);
    if (std::holds_alternative<Issue>(parsed)) {
      EXPECT_GT(flops, 0);
      EXPECT_LT(flops / seconds, 1e17);
    }
    if (const auto* chase = std::get_if<Chase>(&parsed)) {
      EXPECT_GT(seconds / static_cast<double>(chase->loads), 1e-9);
    }
  }
}

TEST_F(OnDevice, AnswersEveryQuestion) {
  for (const Question question :
       {Question::capacity, Question::context_cost, Question::rounding, Question::limits, Question::integrity}) {
    EXPECT_THAT(backend().survey(question, 0), ::testing::Not(::testing::IsEmpty()));
  }
}

}  // namespace
}  // namespace assay
