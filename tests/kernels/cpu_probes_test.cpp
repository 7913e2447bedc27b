// Issue rates, pointer chases, launches: kernels that no operand can prove, so they prove themselves.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "core/error.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/chase.h"
#include "kernels/cpu/issue.h"
#include "kernels/cpu/launch.h"

namespace assay {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(CpuIssue, LeavesTheWorkedOutValueInEveryLaneOfEveryChain) {
  const cpu::Features features = cpu::detect_features();
  int paths = 0;
  for (const cpu::IssuePath& path : cpu::issue_paths()) {
    if (!path.available(features)) {
      continue;
    }
    ++paths;
    for (const std::int64_t turns : {1, 2, 3, 50, 1000}) {
      const auto results = cpu::issue_results(path, turns);
      EXPECT_THAT(results, SizeIs(static_cast<std::size_t>(path.chains * path.lanes)));
      EXPECT_THAT(results, Each(path.expected(turns))) << path.name << " after " << turns;
    }
  }
  EXPECT_GE(paths, 2);  // every processor multiplies and adds fp32 and fp64
}

const cpu::IssuePath* named(const std::string& name, Element element) {
  for (const cpu::IssuePath& path : cpu::issue_paths()) {
    if (path.name == name && path.element == element) {
      return &path;
    }
  }
  return nullptr;
}

TEST(CpuIssue, ExpectsWhatCanBeWorkedOutByHand) {
  const auto* plain = named("128-bit multiply and add", Element::fp32);
  ASSERT_NE(plain, nullptr);
  EXPECT_EQ(plain->expected(1), 1);     // 0 / 2 + 1
  EXPECT_EQ(plain->expected(2), 1.5);   // 1 / 2 + 1
  EXPECT_EQ(plain->expected(3), 1.75);  // 1.5 / 2 + 1
  if (const auto* bytes = named("avx512-vnni vpdpbusd", Element::int8)) {
    EXPECT_EQ(bytes->expected(1), -41132);      // 4 * 113 * -91
    EXPECT_EQ(bytes->expected(100), -4113200);  // a hundred times that
    // 60,000 times: -2,467,920,000 is below -2^31, so it wraps by 2^32 = 4,294,967,296.
    EXPECT_EQ(bytes->expected(60000), 1827047296);
  }
  if (const auto* bf16 = named("avx512-bf16 vdpbf16ps", Element::bf16)) {
    EXPECT_EQ(bf16->expected(1), 0.0078125);  // 2 * 2^-4 * 2^-4 = 2^-7
    EXPECT_EQ(bf16->expected(128), 1);
  }
}

TEST(CpuIssue, HasChainsEnoughToHideTheLatencyOfAMultiplyAdd) {
  for (const cpu::IssuePath& path : cpu::issue_paths()) {
    EXPECT_GE(path.chains, 10) << path.name;  // two units times a latency of four or five cycles
  }
}

TEST(CpuIssue, ReportsTheTrueNumberOfOperations) {
  const auto backend = cpu::make_backend();
  Preparation one;
  one.threads = 1;
  for (const char* text : {"issue operands=fp32 count=1000", "issue operands=fp64 accumulate=fp64 count=1000"}) {
    const Op op = parse_op(text);
    const auto* path = cpu::issue_path(std::get<Issue>(op), cpu::detect_features());
    ASSERT_NE(path, nullptr);
    const auto program = backend->prepare(single(op), 0, one);
    program->run(1);
    const auto flops = program->choice().flops;
    ASSERT_TRUE(flops.has_value());
    // A lane does at least 1000 multiply-adds in whole turns of `chains` instructions, two flops each.
    const double turns = std::ceil(1000.0 / (path->chains * path->products));
    EXPECT_EQ(*flops, 2 * turns * path->chains * path->products * path->lanes);
  }
}

TEST(CpuIssue, PicksTheWidestInstructionAndRefusesWhatIsNotThere) {
  cpu::Features none;
  cpu::Features old;
  old.avx2_fma = true;
  Issue issue;
  issue.operands = {Element::fp32, Scaling::none};
  EXPECT_STREQ(cpu::issue_path(issue, none)->name, "128-bit multiply and add");
#if defined(__x86_64__)
  EXPECT_STREQ(cpu::issue_path(issue, old)->name, "avx2 vfmadd");
#endif
  issue.operands = {Element::bf16, Scaling::none};
  EXPECT_EQ(cpu::issue_path(issue, old), nullptr);
  issue.operands = {Element::fp8_e4m3, Scaling::none};
  EXPECT_THAT(cpu::issue_support(issue).reason, HasSubstr("no instruction that multiplies fp8_e4m3"));
  issue.unit = Unit::matrix;
  EXPECT_FALSE(cpu::issue_support(issue).yes);
}

TEST(CpuChase, BuildsOneCycleThroughEverySlot) {
  for (const std::int64_t slots : {2, 3, 64, 65, 1000}) {
    std::vector<std::byte> ring(static_cast<std::size_t>(slots) * 64);
    cpu::build_ring(ring.data(), slots, 64);
    cpu::check_ring(ring.data(), slots, 64);
    std::set<std::int64_t> visited;
    std::int64_t offset = 0;
    for (std::int64_t step = 0; step < slots; ++step) {
      EXPECT_EQ(offset % 64, 0);
      visited.insert(offset);
      std::memcpy(&offset, ring.data() + offset, sizeof offset);
    }
    EXPECT_EQ(offset, 0);  // back at the start, and not before
    EXPECT_EQ(visited.size(), static_cast<std::size_t>(slots));
  }
}

// A ring whose slot s points to slot next[s].
std::vector<std::byte> ring_of(const std::vector<std::int64_t>& next) {
  std::vector<std::byte> ring(next.size() * 64);
  for (std::size_t slot = 0; slot < next.size(); ++slot) {
    const std::int64_t offset = next[slot] * 64;
    std::memcpy(ring.data() + slot * 64, &offset, sizeof offset);
  }
  return ring;
}

TEST(CpuChase, FindsRingsThatAreNotOneCycle) {
  EXPECT_NO_THROW(cpu::check_ring(ring_of({1, 2, 3, 0}).data(), 4, 64));
  EXPECT_THROW(cpu::check_ring(ring_of({1, 0, 3, 2}).data(), 4, 64), Error);  // two cycles
  EXPECT_THROW(cpu::check_ring(ring_of({1, 2, 1, 0}).data(), 4, 64), Error);  // slot 1 twice
  EXPECT_THROW(cpu::check_ring(ring_of({1, 2, 9, 0}).data(), 4, 64), Error);  // outside
  EXPECT_THROW(cpu::check_ring(ring_of({0, 1, 2, 3}).data(), 4, 64), Error);  // each to itself
  std::vector<std::int64_t> large(1000);
  for (std::size_t slot = 0; slot < large.size(); ++slot) {
    large[slot] = static_cast<std::int64_t>((slot + 1) % large.size());
  }
  EXPECT_NO_THROW(cpu::check_ring(ring_of(large).data(), 1000, 64));
  std::swap(large[100], large[700]);  // cuts the cycle into two
  EXPECT_THROW(cpu::check_ring(ring_of(large).data(), 1000, 64), Error);
}

TEST(CpuChase, RunsThroughTheBackEndAndTakesTime) {
  const auto backend = cpu::make_backend();
  const auto program = backend->prepare(single(parse_op("chase bytes=65536 loads=10000")), 0, {});
  program->fill(Pattern::zero, 1);
  EXPECT_THAT(program->run(2), Each(::testing::Gt(1e-6)));  // 20,000 loads of at least a cycle take over a microsecond
}

TEST(CpuChase, RefusesSlotsThatShareALine) {
  const auto backend = cpu::make_backend();
  EXPECT_FALSE(backend->supports(parse_op("chase bytes=65536 stride=32"), 0).yes);
  EXPECT_FALSE(backend->supports(parse_op("chase bytes=64"), 0).yes);
}

TEST(CpuLaunch, RunsEveryKindButGraphs) {
  const auto backend = cpu::make_backend();
  for (const char* text : {"launch kind=kernel count=10", "launch kind=synchronise count=10",
                           "launch kind=allocate count=10 bytes=1048576"}) {
    const auto program = backend->prepare(single(parse_op(text)), 0, {});
    program->fill(Pattern::zero, 1);
    EXPECT_THAT(program->run(3), Each(::testing::Gt(0))) << text;
    EXPECT_FALSE(program->choice().method.empty());
  }
  EXPECT_THAT(backend->supports(parse_op("launch kind=graph count=10"), 0).reason, HasSubstr("no graphs"));
}

TEST(CpuTransfer, RefusesPinnedMemoryAndBothWays) {
  const auto backend = cpu::make_backend();
  EXPECT_THAT(backend->supports(parse_op("transfer bytes=64 from=host_pinned to=host_pageable"), 0).reason,
              HasSubstr("pinned"));
  EXPECT_THAT(
      backend->supports(parse_op("transfer bytes=64 from=host_pageable to=host_pageable both_ways=true"), 0).reason,
      HasSubstr("both ways"));
}

}  // namespace
}  // namespace assay
