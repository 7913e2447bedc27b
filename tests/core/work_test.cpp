// Works: made of one op, checked, summed up, filled.
// SPDX-License-Identifier: Apache-2.0
#include "core/work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "core/error.h"
#include "core/interpreter.h"
#include "core/number.h"
#include "tests/core/random_op.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
constexpr Format fp32{Element::fp32, Scaling::none};
constexpr Format bf16{Element::bf16, Scaling::none};

std::string failure(const Work& work) {
  try {
    check(work);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing wrong";
}

// copy x to y, then y to z
Work two_copies() {
  Work work;
  work.name = "two copies";
  for (const char* name : {"x", "y", "z"}) {
    Tensor tensor;
    tensor.name = name;
    tensor.format = fp32;
    tensor.shape = {4};
    work.tensors.push_back(tensor);
  }
  work.tensors[0].persistent = true;
  const Op copy = parse_op("stream kind=copy count=4");
  work.steps = {{copy, {0, 1}, 0, "forward"}, {copy, {1, 2}, 0, "forward"}};
  return work;
}

TEST(Work, OfEveryPossibleOpPassesTheCheck) {
  test::RandomOps random(6, 8, {fp32, bf16, {Element::fp4_e2m1, Scaling::block16_e4m3}});
  for (std::size_t kind = 0; kind < std::variant_size_v<Op>; ++kind) {
    for (int i = 0; i < 50; ++i) {
      const Op op = random.next(kind);
      const Work work = single(op);
      ASSERT_EQ(failure(work), "nothing wrong") << text(op);
      ASSERT_TRUE(cost(work) == cost(op)) << text(op);
      for (const Tensor& tensor : work.tensors) {
        ASSERT_TRUE(tensor.persistent);
        ASSERT_EQ(tensor.category, Category::input);
      }
    }
  }
}

TEST(Work, OfATransferLivesWhereTheTransferSays) {
  const Work work = single(parse_op("transfer bytes=8 from=host_pinned:0 to=device:1 both_ways=true"));
  EXPECT_EQ(work.tensors[0].place.kind, PlaceKind::host_pinned);
  EXPECT_EQ(work.tensors[1].place, (Place{PlaceKind::device, 1}));
  EXPECT_EQ(work.tensors[2].place, (Place{PlaceKind::device, 1}));
  EXPECT_EQ(work.tensors[3].place.kind, PlaceKind::host_pinned);
}

TEST(Work, OfAnImpossibleOpIsRefused) { EXPECT_THROW(single(Gemm{}), BadInput); }

TEST(Work, CheckNamesTheStepAndTheOperand) {
  EXPECT_EQ(failure(two_copies()), "nothing wrong");

  Work missing = two_copies();
  missing.steps[1].operands = {1};
  EXPECT_THAT(failure(missing), HasSubstr("work 'two copies', step 1 (stream kind=copy count=4): it has 1 operands"));

  Work nowhere = two_copies();
  nowhere.steps[0].operands[1] = 7;
  EXPECT_THAT(failure(nowhere), HasSubstr("operand y is tensor 7, which does not exist"));
  nowhere.steps[0].operands[1] = -1;
  EXPECT_THAT(failure(nowhere), HasSubstr("which does not exist"));

  Work format = two_copies();
  format.tensors[1].format = bf16;
  EXPECT_THAT(failure(format), HasSubstr("operand y is tensor 'y', which is bf16, the op takes fp32"));

  Work shape = two_copies();
  shape.tensors[2].shape = {5};
  EXPECT_THAT(failure(shape), HasSubstr("step 1"));
  EXPECT_THAT(failure(shape), HasSubstr("which is [5], the op takes [4]"));

  Work early = two_copies();
  early.tensors[0].persistent = false;
  EXPECT_THAT(failure(early), HasSubstr("step 0"));
  EXPECT_THAT(failure(early), HasSubstr("read before anything wrote it"));

  Work swapped = two_copies();
  std::swap(swapped.steps[0], swapped.steps[1]);
  EXPECT_THAT(failure(swapped), HasSubstr("read before anything wrote it"));

  Work itself = two_copies();
  itself.steps[1].operands = {1, 1};
  EXPECT_THAT(failure(itself), HasSubstr("also another operand"));

  Work lane = two_copies();
  lane.steps[1].lane = 1;
  EXPECT_THAT(failure(lane), HasSubstr("lane 1 does not exist"));
  lane.lanes = 2;
  EXPECT_EQ(failure(lane), "nothing wrong");

  Work impossible = two_copies();
  impossible.steps[0].op = Stream{};
  EXPECT_THAT(failure(impossible), HasSubstr("not possible"));

  Work boundless = two_copies();
  boundless.tensors[0].initial = Initial::index;
  EXPECT_THAT(failure(boundless), HasSubstr("indices without a bound"));
}

TEST(Work, ReadsOfWhatAStepUpdatesNeedAFirstWriterToo) {
  Work work = single(parse_op("gemm m=1 n=1 k=1 beta=1"));
  EXPECT_EQ(failure(work), "nothing wrong");
  work.tensors[2].persistent = false;
  EXPECT_THAT(failure(work), HasSubstr("read before anything wrote it"));
}

TEST(Work, TheSameMemoryMayBeSeenInOtherShapes) {
  Work work = two_copies();
  work.tensors[1].shape = {2, 2};
  EXPECT_EQ(failure(work), "nothing wrong");
  work.tensors[1].format = {Element::tf32, Scaling::none};  // stored as fp32
  EXPECT_EQ(failure(work), "nothing wrong");
  // Rows of packed 4-bit numbers with their scales are another layout.
  Work packed = two_copies();
  const Format fp4{Element::fp4_e2m1, Scaling::block32_ue8m0};
  for (Tensor& tensor : packed.tensors) tensor.format = fp4;
  for (Step& step : packed.steps) step.op = parse_op("stream kind=copy count=4 format=fp4_e2m1.block32_ue8m0");
  EXPECT_EQ(failure(packed), "nothing wrong");
  packed.tensors[1].shape = {2, 2};
  EXPECT_THAT(failure(packed), HasSubstr("which is [2, 2], the op takes [4]"));
}

TEST(Work, CountsElementsAndBytesWithScales) {
  Tensor tensor;
  tensor.shape = {3, 5};
  EXPECT_EQ(elements(tensor), 15);
  EXPECT_EQ(bytes(tensor), 60);
  tensor.format = {Element::fp4_e2m1, Scaling::block16_e4m3};
  EXPECT_EQ(bytes(tensor), 3 * 3 + 3 + 4);  // rows of 3 bytes, a scale a row, one fp32 for all
  tensor.shape = {};
  tensor.format = fp32;
  EXPECT_EQ(bytes(tensor), 4);
  tensor.shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  EXPECT_THROW(elements(tensor), Error);
  tensor.shape = {-1, 2};
  EXPECT_THROW(elements(tensor), Error);
}

TEST(Work, CostsAreSummedOverTheSteps) {
  const Cost total = cost(two_copies());
  EXPECT_EQ(total.bytes_read, 32);
  EXPECT_EQ(total.bytes_written, 32);
}

TEST(Work, CategoriesHaveNames) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Category::input); ++i) names.insert(text(static_cast<Category>(i)));
  EXPECT_EQ(names,
            (std::set<std::string>{"weight", "gradient", "optimizer", "activation", "kv_cache", "workspace", "input"}));
}

TEST(Fill, MagnitudeKeepsALongProductExact) {
  // fp32 holds integers to 2^24: 1024 products of magnitude 128^2 = 2^14 are 2^24
  EXPECT_EQ(fill_magnitude(single(parse_op("gemm m=1 n=1 k=1024")), 0, Pattern::exact), 128);
  // bf16 holds integers to 256: 2^24 / 16 = 2^20 allows 1024, the element only 256
  EXPECT_EQ(fill_magnitude(single(parse_op("gemm m=1 n=1 k=16 a=bf16 b=bf16")), 0, Pattern::exact), 256);
  // e2m1 holds 0 1 2 3 4 (6), not 5
  EXPECT_EQ(fill_magnitude(single(parse_op("gemm m=1 n=1 k=16 a=fp4_e2m1 b=fp4_e2m1")), 0, Pattern::exact), 4);
  // half sums: 2048 / 32 = 64, magnitude 8
  EXPECT_EQ(fill_magnitude(single(parse_op("gemm m=1 n=1 k=32 a=fp16 b=fp16 accumulate=fp16")), 0, Pattern::exact), 8);
  // fp16 results go to 65504: 65504 / 1024 is 63.97, magnitude 7
  EXPECT_EQ(fill_magnitude(single(parse_op("gemm m=1 n=1 k=1024 a=fp16 b=fp16 d=fp16")), 0, Pattern::exact), 7);
  // never below 1
  EXPECT_EQ(fill_magnitude(single(parse_op("gemm m=1 n=1 k=4096 a=fp16 b=fp16 accumulate=fp16")), 0, Pattern::exact),
            1);
}

TEST(Fill, MagnitudeOfATensorIsTheLeastOfItsSteps) {
  Work work = two_copies();
  EXPECT_EQ(fill_magnitude(work, 0, Pattern::exact), 16777216);
  Tensor sum;
  sum.name = "sum";
  sum.format = {Element::fp64, Scaling::none};
  sum.shape = {1};
  work.tensors.push_back(sum);
  work.steps.push_back({parse_op("stream kind=read count=4"), {0, 3}, 0, ""});
  EXPECT_EQ(fill_magnitude(work, 0, Pattern::exact), 4194304);  // 2^24 / 4
}

TEST(Fill, TypicalDataTakesTheTensorsOwnMagnitude) {
  Work work = two_copies();
  EXPECT_EQ(fill_magnitude(work, 0, Pattern::typical), 1);
  work.tensors[0].magnitude = 0.02;
  EXPECT_EQ(fill_magnitude(work, 0, Pattern::typical), 0.02);
  EXPECT_EQ(fill_magnitude(work, 0, Pattern::exact), 16777216);
  EXPECT_EQ(fill_magnitude(single(parse_op("gemm m=1 n=1 k=1 a=int8 b=int8 accumulate=int32")), 0, Pattern::typical),
            32);
}

TEST(Fill, ExactProductsHaveNoRoundingInTheAccumulatorWhateverTheOrder) {
  // The largest possible sum, all products at their bound, must be an integer the accumulator holds.
  for (const char* canonical :
       {"gemm m=1 n=1 k=1000", "gemm m=1 n=1 k=1000 a=bf16 b=bf16 d=bf16", "gemm m=1 n=1 k=77 a=fp16 b=fp16 bias=true",
        "gemm m=1 n=1 k=300 a=fp8_e4m3 b=fp8_e5m2 beta=1", "gemm m=1 n=1 k=1000 a=fp64 b=fp64 d=fp64 accumulate=fp64",
        "gemm m=1 n=1 k=1000 a=int8 b=int8 d=int32 accumulate=int32"}) {
    const Op op = parse_op(canonical);
    const Work work = single(op);
    const auto& gemm = std::get<Gemm>(op);
    const double a = fill_magnitude(work, 0, Pattern::exact);
    double largest_sum = static_cast<double>(gemm.k) * a * fill_magnitude(work, 1, Pattern::exact);
    if (gemm.bias || gemm.beta == 1) largest_sum += fill_magnitude(work, 2, Pattern::exact);
    EXPECT_LE(largest_sum, exact_integers_to(gemm.accumulate)) << canonical;
    EXPECT_TRUE(exact(op)) << canonical;
    EXPECT_GE(a, 1) << canonical;
  }
}

TEST(Exact, IsDeniedWhereRoundingIsPartOfTheOp) {
  for (const char* canonical :
       {"gemm m=1 n=1 k=1 activation=gelu", "gemm m=1 n=1 k=1 alpha=0.3", "gemm m=1 n=1 k=3000 accumulate=fp16",
        "softmax rows=1 columns=1", "norm rows=1 columns=1", "adamw count=1", "pointwise columns=1",
        "rope batch=1 length=1 heads=1 kv_heads=1 head_size=2", "column_sum rows=16777217 columns=1",
        "stream kind=read count=16777217"}) {
    EXPECT_FALSE(exact(parse_op(canonical))) << canonical;
  }
  for (const char* canonical :
       {"gemm m=1 n=1 k=1 alpha=0.125", "stream count=1", "stream kind=read count=16777216",
        "pointwise kind=add columns=1", "cast count=1 to=bf16", "heads batch=1 length=1 heads=1 head_size=1",
        "column_sum rows=4 columns=1", "rope batch=1 length=1 heads=1 kv_heads=1 head_size=2 rotate=false",
        "transfer bytes=1"}) {
    EXPECT_TRUE(exact(parse_op(canonical))) << canonical;
  }
}

// Results of exact ops on exact data are integers (or halves, quarters ... of them by alpha): computing them in the
// arithmetic of the device cannot round. Here: the interpreter's FP64 equals its value in the accumulator's element.
TEST(Exact, ResultsFitTheAccumulator) {
  for (const char* canonical :
       {"gemm m=8 n=8 k=1024 a=bf16 b=bf16", "stream count=100 format=bf16",
        "column_sum rows=200 columns=3 format=bf16", "pointwise kind=add columns=50 format=fp16"}) {
    const Work work = single(parse_op(canonical));
    Values values = initial_values(work, Pattern::exact, 3);
    interpret(work, values, false);
    for (const double value : values.back()) EXPECT_EQ(value, rounded(Element::fp32, value)) << canonical;
  }
}

TEST(Fill, InitialValuesAreRoundedToTheElement) {
  const Work work = single(parse_op("stream kind=copy count=1000 format=bf16"));
  for (std::int64_t i = 0; i < 1000; ++i) {
    const double value = initial_value(work, 0, i, Pattern::typical, 1);
    ASSERT_EQ(value, rounded(Element::bf16, value));
  }
}

TEST(Fill, TensorsOfAWorkHoldDifferentNumbers) {
  const Work work = single(parse_op("stream kind=add count=100"));
  int same = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    same += initial_value(work, 0, i, Pattern::typical, 1) == initial_value(work, 1, i, Pattern::typical, 1) ? 1 : 0;
  }
  EXPECT_EQ(same, 0);
}

TEST(Fill, FillingIsTheSameAsSingleValues) {
  const Work work = single(parse_op("adamw count=50 weight=bf16 gradient=bf16"));
  for (int tensor = 0; tensor < 6; ++tensor) {
    const Filling fill = filling(work, tensor, Pattern::typical, 9);
    for (std::int64_t i = 0; i < 8; ++i) ASSERT_EQ(fill(i), initial_value(work, tensor, i, Pattern::typical, 9));
  }
}

TEST(Fill, IndicesStayBelowTheirBoundAndReachAllOfIt) {
  const Work work = single(parse_op("embedding rows=1000 vocabulary=7 columns=1"));
  std::set<double> seen;
  for (std::int64_t i = 0; i < 1000; ++i) seen.insert(initial_value(work, 0, i, Pattern::zero, 1));
  EXPECT_EQ(seen, (std::set<double>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(Fill, RotationsAreCosinesThenSinesOfPositionTimesFrequency) {
  const Work work = single(parse_op("rope batch=1 length=3 heads=1 kv_heads=1 head_size=4"));
  const auto at = [&](std::int64_t i) { return initial_value(work, 1, i, Pattern::typical, 1); };
  EXPECT_EQ(at(0), 1);  // position 0: cosines 1, sines 0
  EXPECT_EQ(at(1), 1);
  EXPECT_EQ(at(2), 0);
  EXPECT_EQ(at(3), 0);
  // position 2, frequencies 1 and 10000^(-2/4) = 0.01
  EXPECT_NEAR(at(8), std::cos(2.0), 1e-7);
  EXPECT_NEAR(at(9), std::cos(0.02), 1e-7);
  EXPECT_NEAR(at(10), std::sin(2.0), 1e-7);
  EXPECT_NEAR(at(11), std::sin(0.02), 1e-7);
}

TEST(Fill, AdamScalarsAreThoseOfAFirstStep) {
  const Work work = single(parse_op("adamw count=1"));
  const auto at = [&](std::int64_t i) { return initial_value(work, 0, i, Pattern::exact, 1); };
  EXPECT_NEAR(at(0), 1e-3, 1e-10);
  EXPECT_NEAR(at(1), 0.1, 1e-8);
  EXPECT_NEAR(at(2), 0.05, 1e-8);
  EXPECT_EQ(at(3), 1);
  EXPECT_EQ(at(4), 0);
  EXPECT_EQ(at(5), 1);
  EXPECT_EQ(at(6), 0);
  EXPECT_EQ(at(7), 1);
}

}  // namespace
}  // namespace assay
