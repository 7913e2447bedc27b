// What ops cost, with the sums in the comments.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "core/op.h"
#include "tests/core/random_op.h"

namespace assay {
namespace {

constexpr Format fp64{Element::fp64, Scaling::none};

void expect_cost(const char* canonical, double flops, double read, double written, double wire = 0) {
  const Cost costs = cost(parse_op(canonical));
  EXPECT_EQ(costs.flops, flops) << canonical;
  EXPECT_EQ(costs.bytes_read, read) << canonical;
  EXPECT_EQ(costs.bytes_written, written) << canonical;
  EXPECT_EQ(costs.bytes_wire, wire) << canonical;
}

TEST(Cost, OfAProductIsTwoFlopsForEachMultiplyAndAdd) {
  // 2 x 2 x 3 x 4 x 5 = 240; bf16: A 2 x 3 x 5 x 2 = 60, B 2 x 5 x 4 x 2 = 80, D 2 x 3 x 4 x 4 (fp32) = 96
  expect_cost("gemm batch=2 m=3 n=4 k=5 a=bf16 b=bf16", 240, 140, 96);
  // the bias adds 4 x 4 = 16 read, beta reads D as well
  expect_cost("gemm batch=2 m=3 n=4 k=5 a=bf16 b=bf16 bias=true", 240, 156, 96);
  expect_cost("gemm batch=2 m=3 n=4 k=5 a=bf16 b=bf16 beta=1", 240, 236, 96);
  // FP4, 5 columns: rows of 3 bytes; A 3 x 3 = 9 with scales 3 x 1 + 4 = 7; B [5, 4]: 5 x 2 = 10, scales 5 + 4 = 9
  expect_cost("gemm m=3 n=4 k=5 a=fp4_e2m1.block16_e4m3 b=fp4_e2m1.block16_e4m3", 120, 9 + 7 + 10 + 9, 48);
}

TEST(Cost, OfTheStreamsIsThatOfTheStreamBenchmark) {
  expect_cost("stream kind=copy count=100 format=fp64", 0, 800, 800);
  expect_cost("stream kind=scale count=100 format=fp64", 100, 800, 800);
  expect_cost("stream kind=add count=100 format=fp64", 100, 1600, 800);
  expect_cost("stream count=100 format=fp64", 200, 1600, 800);
  expect_cost("stream kind=read count=100 format=fp64", 100, 800, 8);
  expect_cost("stream kind=read count=100 format=fp64 turns=7", 700, 5600, 8);
  expect_cost("stream kind=write count=100 format=fp64", 0, 0, 800);
}

TEST(Cost, OfWhatHasNoOperandsOrFollowsPointers) {
  expect_cost("issue count=1000 operands=bf16", 2000, 0, 0);
  expect_cost("chase bytes=4096 loads=10", 0, 80, 0);
  expect_cost("launch count=5", 0, 0, 0);
  expect_cost("transfer bytes=100", 0, 100, 100, 100);
  expect_cost("transfer bytes=100 both_ways=true", 0, 200, 200, 200);
}

TEST(Cost, OfPointwiseOpsCountsEachArithmeticOperation) {
  expect_cost("pointwise columns=10", 90, 40, 40);
  expect_cost("pointwise kind=gelu_backward columns=10", 190, 80, 40);
  expect_cost("pointwise kind=swiglu rows=2 columns=10", 80, 160, 80);
  expect_cost("pointwise kind=swiglu_backward rows=2 columns=10", 220, 80 + 160, 160);
  expect_cost("pointwise kind=add columns=10 format=bf16", 10, 40, 20);
  expect_cost("cast count=10 to=bf16", 0, 40, 20);
  // a scale of 4 bytes is read as an operand, and y carries one of its own
  expect_cost("cast count=10 to=fp8_e4m3.tensor", 10, 44, 14);
  // gradient, master, first, second 40 each, scalars 32; written: master, first, second
  expect_cost("adamw count=10", 170, 192, 120);
  expect_cost("adamw count=10 weight=bf16 gradient=bf16", 170, 172, 140);
}

TEST(Cost, OfACausalSoftmaxIsWhatTheRowsSee) {
  expect_cost("softmax rows=4 columns=4", 80, 64, 64);
  // rows see 1, 2, 3, 4 columns: 10 of 16
  expect_cost("softmax rows=4 columns=4 period=4", 50, 40, 64);
  // twice
  expect_cost("softmax rows=8 columns=4 period=4", 100, 80, 128);
  // rows see 1, 2, 3, 4, then 1, 2: 13
  expect_cost("softmax rows=6 columns=4 period=4", 65, 52, 96);
  // two queries over a cache of four: rows see 3 and 4
  expect_cost("softmax rows=2 columns=4 period=2", 35, 28, 32);
  expect_cost("softmax direction=backward rows=4 columns=4 period=4", 40, 80, 64);
}

TEST(Cost, OfNormsAndColumns) {
  // x 24, weight 12 read; y 24, statistics 2 x 2 x 4 = 16 written
  expect_cost("norm rows=2 columns=3", 24, 36, 40);
  expect_cost("norm kind=layer rows=2 columns=3", 42, 48, 40);
  // dy 24, x 24, weight 12, statistics 16
  expect_cost("norm direction=backward rows=2 columns=3", 42, 76, 24);
  expect_cost("norm kind=layer direction=backward rows=2 columns=3 accumulate=true", 66, 100, 24);
  expect_cost("norm_weights rows=2 columns=3", 18, 64, 12);
  expect_cost("norm_weights kind=layer rows=2 columns=3", 30, 64, 24);
  expect_cost("column_sum rows=2 columns=3", 6, 24, 12);
  // logits 24, targets 8; losses 8, dlogits 24
  expect_cost("cross_entropy rows=2 columns=3", 36, 32, 32);
}

TEST(Cost, OfAttentionIsWhatTheQueriesSee) {
  // 4 queries and keys of size 2, values of 3: 16 pairs of 4 + 6 + 5 flops; q 32, k 32, v 48 read; y 48, 4 sums 16
  expect_cost("attention query_length=4 key_length=4 heads=1 kv_heads=1 head_size=2 value_size=3", 240, 112, 64);
  // causal: 1 + 2 + 3 + 4 = 10 pairs
  expect_cost("attention query_length=4 key_length=4 heads=1 kv_heads=1 head_size=2 value_size=3 causal=true", 150, 112,
              64);
  // a window of 2: 1 + 2 + 2 + 2 = 7 pairs
  expect_cost("attention query_length=4 key_length=4 heads=1 kv_heads=1 head_size=2 value_size=3 causal=true window=2",
              105, 112, 64);
  // two heads that share keys, one query behind a cache of 4: 8 pairs; q 16, k 32, v 48; y 24, sums 8
  expect_cost("attention query_length=1 key_length=4 heads=2 kv_heads=1 head_size=2 value_size=3 causal=true", 120, 96,
              32);
  // of the cache the window's two keys: 4 pairs; q 16, k 16, v 24
  expect_cost("attention query_length=1 key_length=4 heads=2 kv_heads=1 head_size=2 value_size=3 causal=true window=2",
              60, 56, 32);
  // 10 pairs of 12 + 12 + 5, 4 queries of 6; dy 48, q 32, k 32, v 48, y 48, sums 16; dq 32, dk 32, dv 48
  expect_cost(
      "attention direction=backward query_length=4 key_length=4 heads=1 kv_heads=1 head_size=2 value_size=3 "
      "causal=true",
      314, 224, 112);
  // two rows of two heads of three numbers move; the cache is not read
  expect_cost("cache_append heads=2 length=2 capacity=9 head_size=3 from=bf16 to=fp8_e4m3", 0, 24, 12);
}

TEST(Cost, OfWhatATrainingStepDoesBesideItsProducts) {
  expect_cost("sum_squares count=10 format=bf16", 20, 20, 4);
  expect_cost("sum_squares count=10 accumulate=true", 20, 44, 4);
  expect_cost("adam_control", 12, 4 + 32, 32);
  expect_cost("tensor_scale count=10 from=bf16 to=fp8_e4m3", 10, 20, 4);
  // three groups; scalars 32, gradient 1200, master 1200, moments 300 each, scales 12 each
  expect_cost("adamw8 count=300", 7500, 32 + 2400 + 600 + 24, 1200 + 600 + 24);
  expect_cost("pointwise kind=zero columns=10", 0, 0, 40);
  // y is read too: one addition a column
  expect_cost("column_sum rows=2 columns=3 accumulate=true", 9, 24 + 12, 12);
}

TEST(Cost, OfTokensTouchesOnlyTheRowsThatAreLookedUp) {
  // tokens 8, two rows of 12; not the whole table of 1200
  expect_cost("embedding rows=2 vocabulary=100 columns=3", 0, 32, 24);
  // no more rows than there are: 4 tokens, a table of 2
  expect_cost("embedding rows=4 vocabulary=2 columns=3", 0, 16 + 24, 48);
  // tokens 8, dy 24, two rows of the table read and written
  expect_cost("embedding direction=backward rows=2 vocabulary=100 columns=3", 6, 56, 24);
  // 3 tokens, (2 + 2 x 1) heads of 4: 48 elements; q and k turn: 3 x 3 x 4 = 36 elements; table 3 x 4
  expect_cost("rope batch=1 length=3 heads=2 kv_heads=1 head_size=4", 108, 192 + 48, 192);
  expect_cost("rope batch=1 length=3 heads=2 kv_heads=1 head_size=4 rotate=false", 0, 192, 192);
  expect_cost("heads batch=1 length=3 heads=2 head_size=4", 0, 96, 96);
}

TEST(Cost, IsNeverNegativeOrNotANumber) {
  test::RandomOps random(3, 1000, {fp64, {Element::bf16, Scaling::none}, {Element::fp4_e2m1, Scaling::block32_ue8m0}});
  for (std::size_t kind = 0; kind < std::variant_size_v<Op>; ++kind) {
    for (int i = 0; i < 50; ++i) {
      const Op op = random.next(kind);
      const Cost costs = cost(op);
      for (const double part : {costs.flops, costs.bytes_read, costs.bytes_written, costs.bytes_wire}) {
        ASSERT_TRUE(std::isfinite(part) && part >= 0) << text(op);
      }
    }
  }
}

TEST(Cost, OfImpossibleOpsIsStillANumber) {
  EXPECT_EQ(cost(Softmax{}).bytes_read, 0);
  EXPECT_EQ(cost(Gemm{}).flops, 0);
}

TEST(Family, IsWherePeopleLookForTheOp) {
  EXPECT_EQ(family(Gemm{}), "gemm");
  EXPECT_EQ(family(Issue{}), "issue");
  EXPECT_EQ(family(Stream{}), "memory");
  EXPECT_EQ(family(Chase{}), "latency");
  EXPECT_EQ(family(Transfer{}), "transfer");
  EXPECT_EQ(family(Launch{}), "launch");
  EXPECT_EQ(family(Softmax{}), "memory");
}

}  // namespace
}  // namespace assay
