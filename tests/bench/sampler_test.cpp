// The sampler against a scripted machine: how often it runs, when it stops, what it flags.
// SPDX-License-Identifier: Apache-2.0
#include "bench/sampler.h"

#include <gmock/gmock.h>

#include <functional>

#include "bench/profile.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;

// A machine whose clock moves only by what it runs.
struct Machine {
  double now = 0;
  std::int64_t runs = 0;
  std::int64_t executions = 0;
  std::function<double(std::int64_t run, double now)> once;  // seconds of one execution

  Sampled sampled(const Limits& limits) {
    return sample(
        [this](int count) {
          const double seconds = once(runs, now) * count;
          ++runs;
          executions += count;
          now += seconds;
          return seconds;
        },
        [this] { return now; }, limits);
  }
};

Limits limits() {
  Limits result;
  result.warm_up_seconds = 0.02;
  result.batch_seconds = 1e-3;
  result.minimum_samples = 5;
  result.maximum_samples = 100;
  result.half_width = 0.01;
  result.maximum_seconds = 1;
  result.runs_per_batch = 3;
  return result;
}

TEST(Sampler, RunsUntilASampleLastsAMillisecond) {
  Machine machine;
  machine.once = [](std::int64_t, double) { return 1e-6; };
  const Sampled sampled = machine.sampled(limits());
  // A thousand executions take a millisecond; the size grows tenfold at most and aims five per cent too high.
  EXPECT_GE(sampled.batch, 1000);
  EXPECT_LE(sampled.batch, 1051);
}

TEST(Sampler, StopsAtOnceWhenEveryRunTakesTheSameTime) {
  Machine machine;
  machine.once = [](std::int64_t, double) { return 2e-3; };
  const Sampled sampled = machine.sampled(limits());
  EXPECT_EQ(sampled.batch, 1);
  EXPECT_EQ(sampled.seconds, std::vector<double>(5, 2e-3));
  EXPECT_EQ(sampled.executions, 15);  // five samples of three runs
  EXPECT_EQ(sampled.stop, "steady");
  EXPECT_THAT(sampled.conditions, IsEmpty());
  // Twenty milliseconds of warm-up are ten runs.
  EXPECT_EQ(machine.runs, 25);
}

TEST(Sampler, TakesTheMedianOfABatchSoThatOneInterruptSpoilsNone) {
  Machine machine;
  machine.once = [](std::int64_t run, double) { return run % 3 == 0 ? 8e-3 : 2e-3; };
  const Sampled sampled = machine.sampled(limits());
  for (const double seconds : sampled.seconds) EXPECT_DOUBLE_EQ(seconds, 2e-3);
}

TEST(Sampler, GoesOnUntilTheIntervalIsNarrowEnough) {
  Machine machine;
  // Batches of 2.0 and 2.1 ms in turn: after n of them the half-width is about 2.1 x 0.05 / sqrt(n) / 0.6 of 2.05.
  machine.once = [](std::int64_t run, double) { return run / 3 % 2 == 0 ? 2.0e-3 : 2.1e-3; };
  const Sampled sampled = machine.sampled(limits());
  EXPECT_EQ(sampled.stop, "steady");
  EXPECT_GT(sampled.seconds.size(), 15U);
  EXPECT_LT(sampled.seconds.size(), 100U);
}

TEST(Sampler, StopsAtTheLargestNumberOfSamples) {
  Machine machine;
  machine.once = [](std::int64_t run, double) { return run / 3 % 2 == 0 ? 1e-3 : 2e-3; };
  Limits few = limits();
  few.maximum_samples = 20;
  const Sampled sampled = machine.sampled(few);
  EXPECT_EQ(sampled.stop, "samples");
  EXPECT_EQ(sampled.seconds.size(), 20U);
}

TEST(Sampler, StopsBeforeTheTimeIsOver) {
  Machine machine;
  machine.once = [](std::int64_t run, double) { return run / 3 % 2 == 0 ? 5e-3 : 9e-3; };
  const Sampled sampled = machine.sampled(limits());
  EXPECT_EQ(sampled.stop, "time");
  EXPECT_GE(sampled.seconds.size(), 5U);
  EXPECT_LE(machine.now, 1.0);
  EXPECT_GT(machine.now, 0.9);
}

TEST(Sampler, KeepsTheOneSampleThatAllTheTimeIsGoodFor) {
  Machine machine;
  machine.once = [](std::int64_t, double) { return 0.6; };
  const Sampled sampled = machine.sampled(limits());
  EXPECT_EQ(machine.runs, 1);
  EXPECT_EQ(sampled.seconds, std::vector<double>{0.6});
  EXPECT_EQ(sampled.executions, 1);
  EXPECT_EQ(sampled.stop, "time");
  EXPECT_THAT(sampled.conditions, Contains("few_samples"));
}

TEST(Sampler, FlagsAsFewWhatTheTimeDidNotAllow) {
  Machine machine;
  // One to look and three samples take 1.2 s: over the time, but not twice over, so that the third is taken.
  machine.once = [](std::int64_t, double) { return 0.3; };
  const Sampled sampled = machine.sampled(limits());
  EXPECT_EQ(sampled.stop, "time");
  EXPECT_EQ(sampled.seconds.size(), 3U);
  EXPECT_THAT(sampled.conditions, Contains("few_samples"));
}

TEST(Sampler, FlagsADriftAsNotSteady) {
  Machine machine;
  machine.once = [](std::int64_t run, double) { return 2e-3 * (1 + 0.01 * static_cast<double>(run)); };
  const Sampled sampled = machine.sampled(limits());
  EXPECT_THAT(sampled.conditions, Contains("not_steady"));
  EXPECT_THAT(sampled.conditions, Not(Contains("few_samples")));
}

TEST(Sampler, WaitsForASteadyClockWhereTheProfileAsksForIt) {
  Machine machine;
  // The clock rises for two seconds: an execution takes 4 ms at first and 2 ms then.
  machine.once = [](std::int64_t, double now) { return now < 2 ? 4e-3 - now * 1e-3 : 2e-3; };
  Limits careful = limits();
  careful.steady_clock = true;
  careful.warm_up_seconds = 0.1;
  careful.maximum_seconds = 10;
  const Sampled sampled = machine.sampled(careful);
  EXPECT_EQ(sampled.seconds, std::vector<double>(5, 2e-3));
  EXPECT_THAT(sampled.conditions, IsEmpty());
}

TEST(Sampler, SaysSoWhereTheClockNeverSettles) {
  Machine machine;
  machine.once = [](std::int64_t, double now) { return 2e-3 * (1 + now); };
  Limits careful = limits();
  careful.steady_clock = true;
  EXPECT_THAT(machine.sampled(careful).conditions, Contains("not_steady"));
}

TEST(Sampler, EndsWhereNoClockMoves) {
  Machine machine;
  machine.once = [](std::int64_t, double) { return 0.0; };
  const Sampled sampled = machine.sampled(limits());
  EXPECT_EQ(sampled.stop, "samples");
  EXPECT_EQ(sampled.seconds, std::vector<double>(100, 0.0));
}

TEST(Sampler, LetsThroughWhatTheRunThrows) {
  EXPECT_THROW(sample([](int) -> double { throw std::runtime_error("lost"); }, [] { return 0.0; }, limits()),
               std::runtime_error);
}

TEST(Profile, NamesReadBackAndGetDeeper) {
  ASSERT_EQ(profiles().size(), 3U);
  for (const Profile& each : profiles()) EXPECT_EQ(parse_profile(each.name), each.kind);
  EXPECT_EQ(parse_profile("thorough"), std::nullopt);
  EXPECT_GE(profile(ProfileKind::quick).limits.minimum_samples, 5);
  EXPECT_GE(profile(ProfileKind::full).limits.minimum_samples, 20);
  EXPECT_DOUBLE_EQ(profile(ProfileKind::full).limits.half_width, 0.0025);
  EXPECT_LT(profile(ProfileKind::quick).limits.maximum_seconds, 1);
  EXPECT_LE(profile(ProfileKind::full).limits.maximum_seconds, 10);
}

}  // namespace
}  // namespace assay
