// Placing tensors in memory: by hand, and checked by brute force on random works.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "core/error.h"
#include "core/work.h"

namespace assay {
namespace {

// A chain of copies t0 -> t1 -> t2 ..., tensors of `count` floats each.
Work chain(const std::vector<std::int64_t>& links) {
  Work work;
  work.name = "chain";
  for (const std::int64_t count : links) {
    Tensor tensor;
    tensor.name = "t" + std::to_string(work.tensors.size());
    tensor.shape = {count};
    work.tensors.push_back(tensor);
  }
  work.tensors[0].persistent = true;
  work.tensors[0].category = Category::input;
  for (std::size_t i = 1; i < links.size(); ++i) {
    Stream copy;
    copy.kind = StreamKind::copy;
    copy.count = links[i];
    work.steps.push_back({copy, {static_cast<int>(i) - 1, static_cast<int>(i)}, 0, ""});
  }
  return work;
}

struct Lifetime {
  int first = 0, last = 0;
};

// Lifetimes again, by the words of work.h and not by the code.
Lifetime lifetime(const Work& work, int tensor) {
  const int end = static_cast<int>(work.steps.size());
  Lifetime life{end, -1};
  for (int step = 0; step < end; ++step) {
    const auto& operands = work.steps[static_cast<std::size_t>(step)].operands;
    if (std::find(operands.begin(), operands.end(), tensor) == operands.end()) continue;
    life.first = std::min(life.first, step);
    life.last = step;
  }
  if (work.tensors[static_cast<std::size_t>(tensor)].persistent || life.last < 0) return {0, end};
  return life;
}

Work random_work(std::mt19937& random) {
  const auto between = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  Work work;
  work.name = "random";
  const int tensors = between(1, 25);
  for (int i = 0; i < tensors; ++i) {
    Tensor tensor;
    tensor.name = "t" + std::to_string(i);
    tensor.format.element = between(0, 1) == 0 ? Element::int8 : Element::fp32;
    tensor.shape = {between(1, 2000)};
    tensor.persistent = between(0, 4) == 0;
    tensor.category = static_cast<Category>(between(0, static_cast<int>(Category::input)));
    if (between(0, 9) == 0) tensor.place = {PlaceKind::host_pinned, 0};
    work.tensors.push_back(tensor);
  }
  const int steps = between(0, 20);
  for (int i = 0; i < steps; ++i) {  // plan() looks at which tensors steps touch, not at what they do
    Step step;
    for (int j = between(1, 4); j > 0; --j) step.operands.push_back(between(0, tensors - 1));
    work.steps.push_back(step);
  }
  return work;
}

TEST(Plan, ReusesTheMemoryOfDeadTensors) {
  // t0 (400 bytes) stays; t1 to t4 (400 each) live two by two: two slots are enough
  const Plan result = plan(chain({100, 100, 100, 100, 100}), 1);
  EXPECT_EQ(result.peak, 1200);
  EXPECT_EQ(result.live_peak, 1200);
  EXPECT_EQ(result.offset[0], 0);
  EXPECT_EQ(result.offset[1], result.offset[3]);
  EXPECT_EQ(result.offset[2], result.offset[4]);
}

TEST(Plan, FindsTheStepWhereMostIsAlive) {
  // step 2 copies t2 to t3: 40 (t0) + 400 + 800 bytes
  const Plan result = plan(chain({10, 20, 100, 200, 30}), 1);
  EXPECT_EQ(result.peak_step, 2);
  EXPECT_EQ(result.live_peak, 40 + 400 + 800);
  EXPECT_EQ(result.live_at_peak[static_cast<std::size_t>(Category::input)], 40);
  EXPECT_EQ(result.live_at_peak[static_cast<std::size_t>(Category::activation)], 1200);
  EXPECT_EQ(result.live_at_peak[static_cast<std::size_t>(Category::weight)], 0);
}

TEST(Plan, RoundsSizesAndOffsetsUpToTheAlignment) {
  const Plan result = plan(chain({1, 100}), 64);  // 4 and 400 bytes
  EXPECT_EQ(result.bytes[0], 64);
  EXPECT_EQ(result.bytes[1], 448);
  EXPECT_EQ(result.offset[1], 64);
  EXPECT_EQ(result.peak, 512);
}

TEST(Plan, KeepsPersistentTensorsThroughout) {
  Work work = chain({100, 100, 100, 100});
  work.tensors[1].persistent = true;  // last used by step 1, but needed after the work
  const Plan result = plan(work, 1);
  EXPECT_EQ(result.peak, 1600);
  EXPECT_NE(result.offset[1], result.offset[3]);
}

TEST(Plan, KeepsWhatNoStepTouches) {
  Work work = chain({100, 100});
  Tensor reserved;
  reserved.name = "cache";
  reserved.shape = {50};
  reserved.category = Category::kv_cache;
  work.tensors.push_back(reserved);
  const Plan result = plan(work, 1);
  EXPECT_EQ(result.peak, 1000);
  EXPECT_EQ(result.live_at_peak[static_cast<std::size_t>(Category::kv_cache)], 200);
}

TEST(Plan, CountsOtherPlacesApart) {
  Work work = single(parse_op("transfer bytes=1000 from=host_pinned to=device"));
  const Plan result = plan(work, 1);
  EXPECT_EQ(result.offset[0], 0);
  EXPECT_EQ(result.offset[1], 0);
  EXPECT_EQ(result.peak, 1000);
  EXPECT_EQ(result.live_peak, 1000);
}

TEST(Plan, OfNothingIsNothing) {
  const Plan result = plan(Work{}, 256);
  EXPECT_EQ(result.peak, 0);
  EXPECT_EQ(result.live_peak, 0);
  EXPECT_EQ(result.live_at_peak.size(), 7U);
}

TEST(Plan, RefusesAnImpossibleAlignment) {
  EXPECT_THROW(plan(Work{}, 0), Error);
  EXPECT_THROW(plan(Work{}, -8), Error);
}

TEST(Plan, RefusesSizesBeyond63Bits) {
  Work work;
  Tensor tensor;
  tensor.shape = {std::int64_t{1} << 60};  // 2^62 bytes each
  work.tensors = {tensor, tensor};
  EXPECT_THROW(plan(work, 1), Error);
}

TEST(Plan, NeverLetsTwoLiveTensorsShareAByte) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const Work work = random_work(random);
    const std::int64_t alignment = std::int64_t{1} << (round % 9);
    const Plan result = plan(work, alignment);
    const auto count = static_cast<int>(work.tensors.size());
    std::int64_t end = 0;
    for (int a = 0; a < count; ++a) {
      const auto i = static_cast<std::size_t>(a);
      ASSERT_EQ(result.offset[i] % alignment, 0);
      ASSERT_EQ(result.bytes[i] % alignment, 0);
      ASSERT_GE(result.bytes[i], bytes(work.tensors[i]));
      if (work.tensors[i].place.kind == PlaceKind::device) end = std::max(end, result.offset[i] + result.bytes[i]);
      for (int b = 0; b < a; ++b) {
        const auto j = static_cast<std::size_t>(b);
        if (!(work.tensors[i].place == work.tensors[j].place)) continue;
        const Lifetime x = lifetime(work, a);
        const Lifetime y = lifetime(work, b);
        if (x.first > y.last || y.first > x.last) continue;
        const bool apart = result.offset[i] + result.bytes[i] <= result.offset[j] ||
                           result.offset[j] + result.bytes[j] <= result.offset[i];
        ASSERT_TRUE(apart) << "round " << round << ": tensors " << a << " and " << b;
      }
    }
    ASSERT_EQ(result.peak, end);
    ASSERT_GE(result.peak, result.live_peak);
    ASSERT_EQ(std::accumulate(result.live_at_peak.begin(), result.live_at_peak.end(), std::int64_t{0}),
              result.live_peak);
  }
}

TEST(Plan, LivePeakIsTheMostThatIsAliveInAnyStep) {
  std::mt19937 random(8);
  for (int round = 0; round < 100; ++round) {
    const Work work = random_work(random);
    const Plan result = plan(work, 16);
    std::int64_t most = 0;
    std::int64_t at_peak = 0;
    for (int step = 0; step < std::max(1, static_cast<int>(work.steps.size())); ++step) {
      std::int64_t live = 0;
      for (int i = 0; i < static_cast<int>(work.tensors.size()); ++i) {
        const auto index = static_cast<std::size_t>(i);
        const Lifetime life = lifetime(work, i);
        if (work.tensors[index].place.kind != PlaceKind::device) continue;
        if (life.first <= step && step <= life.last) live += result.bytes[index];
      }
      most = std::max(most, live);
      if (step == result.peak_step) at_peak = live;
    }
    ASSERT_EQ(result.live_peak, most) << "round " << round;
    ASSERT_EQ(at_peak, most) << "round " << round;
  }
}

TEST(Plan, IsTheSameEveryTime) {
  std::mt19937 random(9);
  const Work work = random_work(random);
  EXPECT_EQ(plan(work, 64).offset, plan(work, 64).offset);
}

}  // namespace
}  // namespace assay
