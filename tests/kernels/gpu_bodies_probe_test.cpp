// The GPU's own kernels that have no data to check: pointer chase and instruction rates.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/gpu/kernels_groups.h"
#include "kernels/gpu/kernels_ring.h"
#include "kernels/gpu/team.h"
#include "tests/kernels/gpu_bodies_runner.h"
#include "vendor.h"

namespace assay {
namespace {

TEST(RingOrder, VisitsEverySlotOnce) {
  for (std::uint64_t slots = 2; slots < 1500; ++slots) {
    const gpu::RingOrder order = gpu::ring_order(slots);
    std::vector<bool> visited(slots, false);
    for (std::uint64_t place = 0; place < slots; ++place) {
      const std::uint64_t slot = gpu::ring_slot(order, place);
      ASSERT_LT(slot, slots);
      ASSERT_FALSE(visited[slot]) << "slot " << slot << " of " << slots << " twice";
      visited[slot] = true;
    }
  }
}

// Neighbours in the tour that are neighbours in memory would be found by a prefetcher. Of 65536 random steps, two on
// the average go to the next slot or the one before.
TEST(RingOrder, SeldomGoesToANeighbour) {
  const gpu::RingOrder order = gpu::ring_order(65536);
  int near = 0;
  std::set<std::int64_t> distances;
  for (std::uint64_t place = 0; place + 1 < 65536; ++place) {
    const auto distance = static_cast<std::int64_t>(gpu::ring_slot(order, place + 1)) -
                          static_cast<std::int64_t>(gpu::ring_slot(order, place));
    near += std::abs(distance) == 1 ? 1 : 0;
    distances.insert(distance);
  }
  EXPECT_LT(near, 20);
  EXPECT_GT(distances.size(), 20000U);
}

// Follows the ring as it lies in memory.
TEST(GpuChase, BuildsOneCycleThroughAllSlots) {
  for (const auto& [bytes, stride] : {std::pair{64, 32}, {4096, 64}, {96000, 96}, {128 * 1001, 128}}) {
    SCOPED_TRACE(std::to_string(bytes) + " bytes, every " + std::to_string(stride));
    const Op op = Chase{bytes, stride, 100};
    const TestStream stream;
    const DeviceOperand ring({"ring", {Element::int64, Scaling::none}, {bytes / 8}, Access::write},
                             std::vector<double>(static_cast<std::size_t>(bytes / 8), 5.0), stream.get());
    gpu::BodySetup setup;
    setup.kernel.stream = stream.get();
    const auto kernel = gpu::make_body_kernel(op, {ring.data()}, setup);
    kernel->refresh();
    kernel->enqueue(setup.kernel.stream);
    vendor::synchronise(setup.kernel.stream);
    const std::vector<double> words = ring.values();
    std::int64_t at = 0;
    std::int64_t steps = 0;
    do {
      at = static_cast<std::int64_t>(words.at(static_cast<std::size_t>(at / 8)));
      ASSERT_EQ(at % stride, 0);
      ++steps;
    } while (at != 0 && steps <= bytes);
    EXPECT_EQ(steps, bytes / stride);
  }
}

TEST(GpuChase, NeedsTwoSlotsThatShareNoSector) {
  EXPECT_FALSE(gpu::body_support(Chase{64, 64, 10}, 0).yes);
  EXPECT_FALSE(gpu::body_support(Chase{64, 16, 10}, 0).yes);
  EXPECT_TRUE(gpu::body_support(Chase{64, 32, 10}, 0).yes);
}

// Making the kernel proves its arithmetic. 2 count flops a lane are asked for; a little more may be done.
TEST(GpuIssue, CountsWhatItReallyDoes) {
  for (const std::string format : {"fp32", "fp64", "fp16", "bf16"}) {
    SCOPED_TRACE(format);
    const Op op = parse_op("issue operands=" + format + " accumulate=" + format + " count=1000");
    const Support support = gpu::body_support(op, 0);
    ASSERT_TRUE(support.yes) << support.reason;
    const TestStream stream;
    gpu::BodySetup setup;
    setup.kernel.stream = stream.get();
    setup.threads = 32;
    {
      const auto kernel = gpu::make_body_kernel(op, {}, setup);
      kernel->enqueue(setup.kernel.stream);
      vendor::synchronise(setup.kernel.stream);
      const Choice choice = kernel->choice();
      EXPECT_EQ(choice.executed, format);
      ASSERT_TRUE(choice.flops.has_value());
      // 8 chains of 32 turns are 256 instructions: four rounds of them make 1000 single multiply-adds, two 1000 pairs.
      const bool packed = format == "fp16" || format == "bf16";
      const double lanes = *choice.flops / (2.0 * 1024);
      EXPECT_EQ(std::fmod(lanes, 32.0), 0.0) << "whole blocks of 32 threads, each of " << (packed ? 512 : 1024);
      EXPECT_GE(lanes, 32);
    }
  }
}

TEST(GpuIssue, RefusesWhatVectorUnitsDoNotMultiply) {
  for (const std::string text : {"issue operands=fp8_e4m3 accumulate=fp32 count=8", "issue operands=fp16 count=8",
                                 "issue operands=fp32 unit=matrix count=8"}) {
    EXPECT_FALSE(gpu::body_support(parse_op(text), 0).yes) << text;
  }
}

TEST(TokenGroups, KeepTheOrderOfRows) {
  const gpu::TokenGroups groups = gpu::group_tokens({3, 1, 3, 0, 1, 3}, 5);
  EXPECT_EQ(groups.tokens, (std::vector<std::int32_t>{3, 1, 0}));
  EXPECT_EQ(groups.begins, (std::vector<std::int32_t>{0, 3, 5, 6}));
  EXPECT_EQ(groups.rows, (std::vector<std::int32_t>{0, 2, 5, 1, 4, 3}));
}

// The team's reductions alone, for blocks of every kind: sums of integers are the same in every order.
struct TeamResults {
  double sum;
  float largest;
  float first;
  float second;
};
__global__ static void team_kernel(std::int64_t n, TeamResults* results) {
  const gpu::BlockTeam team(vendor::shared_memory());
  const float sum = team.sum(n, [](std::int64_t i) { return static_cast<float>(i + 1); });
  const float largest = team.max(n, [](std::int64_t i) { return static_cast<float>(i); });
  const bodies::Two two = team.sums(
      n, [](std::int64_t i) { return static_cast<float>(i); }, [](std::int64_t) { return 1.0f; });
  results[vendor::thread_index()] = {static_cast<double>(sum), largest, two.first, two.second};
}

TEST(BlockTeam, AddsUpForEveryBlockSizeAndGivesAllThreadsTheResult) {
  for (const unsigned threads : {1U, 5U, 8U, 9U, 32U, 33U, 64U, 100U, 1024U}) {
    for (const std::int64_t n : {0, 1, 31, 1000}) {
      const TestStream stream;
      SCOPED_TRACE(std::to_string(threads) + " threads, " + std::to_string(n) + " numbers");
      const auto bytes = static_cast<std::int64_t>(threads * sizeof(TeamResults));
      void* const memory = vendor::allocate(bytes);
      vendor::launch(team_kernel, 1, threads, gpu::BlockTeam::shared_bytes, stream.get(), n,
                     static_cast<TeamResults*>(memory));
      std::vector<TeamResults> results(threads);
      vendor::copy(results.data(), memory, bytes, stream.get());
      vendor::synchronise(stream.get());
      for (const TeamResults& result : results) {
        ASSERT_EQ(result.sum, static_cast<double>(n * (n + 1) / 2));
        ASSERT_EQ(result.largest, n == 0 ? -std::numeric_limits<float>::infinity() : static_cast<float>(n - 1));
        ASSERT_EQ(result.first, static_cast<float>(n * (n - 1) / 2));
        ASSERT_EQ(result.second, static_cast<float>(n));
      }
      vendor::release(memory);
    }
  }
}

}  // namespace
}  // namespace assay
