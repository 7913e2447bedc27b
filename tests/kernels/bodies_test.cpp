// What the bodies take, which level is picked, and that the levels stay apart.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

#include "core/error.h"
#include "kernels/cpu/features.h"
#include "tests/kernels/body_runner.h"

namespace assay::cpu {
namespace {

using testing::HasSubstr;

TEST(Bodies, TakeTheFormatsTheyAreWrittenFor) {
  for (const char* op : {"stream kind=triad count=8 format=fp64", "pointwise kind=gelu columns=8 format=bf16",
                         "cast count=8 from=fp32 to=fp8_e4m3.tensor", "adamw count=8 weight=bf16 gradient=fp32",
                         "softmax rows=2 columns=8 format=fp16"}) {
    EXPECT_TRUE(bodies_support(parse_op(op))) << op;
  }
  for (const char* op : {"gemm m=8 n=8 k=8 a=fp32 b=fp32 d=fp32", "pointwise kind=gelu columns=8 format=fp64",
                         "stream kind=copy count=8 format=int8", "cast count=32 from=fp32 to=fp4_e2m1.block32_ue8m0"}) {
    EXPECT_FALSE(bodies_support(parse_op(op))) << op;
  }
}

TEST(Bodies, SayWhatTheyDoNotTake) {
  try {
    make_body_kernel(parse_op("pointwise kind=gelu columns=8 format=fp64"), {nullptr, nullptr}, 1);
    FAIL() << "it was accepted";
  } catch (const Unsupported& unsupported) {
    EXPECT_THAT(unsupported.what(), HasSubstr("pointwise columns=8 format=fp64"));
    EXPECT_THAT(unsupported.what(), HasSubstr("bf16"));
  }
  EXPECT_THROW(make_body_kernel(parse_op("pointwise kind=gelu columns=8 format=fp32"), {nullptr}, 1), Error);
  EXPECT_THROW(make_body_kernel(parse_op("pointwise kind=gelu columns=8 format=fp32"), {nullptr, nullptr}, 1, "sse9"),
               Unsupported);
}

TEST(Bodies, RunAtTheHighestLevelOfTheMachine) {
  const std::vector<std::string> levels = body_levels();
  ASSERT_FALSE(levels.empty());
  EXPECT_EQ(body_level(), levels.back());
#if defined(__x86_64__)
  EXPECT_EQ(body_level(), detect_features().level);
  EXPECT_EQ(levels.front(), "x86-64-v2");
#endif
  alignas(64) std::array<float, 16> x{};
  alignas(64) std::array<float, 16> y{};
  const auto kernel =
      make_body_kernel(parse_op("stream kind=copy count=16 format=fp32"),
                       {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(y.data())}, 1);
  EXPECT_EQ(kernel->method(), "own " + body_level());
}

// The order in which rows are added does not depend on the threads: blocks of rows are fixed.
TEST(Bodies, ColumnReductionsAreTheSameToTheBitOnAnyNumberOfThreads) {
  const std::vector<double> x = typical(Element::fp32, 1000 * 130, 50);
  const ColumnSum op{1000, 130, {Element::fp32, Scaling::none}};
  const auto alone = run_body({body_level(), 1}, op, {x});
  for (int threads = 2; threads <= 4; ++threads) {
    EXPECT_EQ(run_body({body_level(), threads}, op, {x}), alone) << threads;
  }
}

// A weak symbol in an object compiled for wide vectors could be the copy that the linker keeps for everybody, and would
// then end the program on an older processor.
TEST(Bodies, NoObjectOfALevelDefinesAWeakFunction) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen("nm --defined-only " ASSAY_LEVEL_OBJECTS, "r"), pclose);
  ASSERT_NE(pipe, nullptr);
  std::array<char, 4096> line{};
  int entries = 0;
  while (std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    const std::string text = line.data();
    EXPECT_EQ(text.find(" W "), std::string::npos) << text;
    EXPECT_EQ(text.find(" u "), std::string::npos) << text;
    if (text.find(" T ") != std::string::npos) ++entries;
  }
  EXPECT_GE(entries, 1);
}

}  // namespace
}  // namespace assay::cpu
