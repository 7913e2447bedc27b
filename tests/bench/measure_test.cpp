// One case becomes rows: every column of a good one, facts, conditions, whole steps.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/bench/scripted_bench.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(Measure, FillsEveryColumnOfATimedRow) {
  Bench bench;
  bench.script.seconds_per_execution = 2e-3;
  const Measured measured = bench.measured(case_of(small_product()));
  ASSERT_EQ(measured.rows.size(), 3U);  // seconds, flops and, with so few rows, bytes
  const Row& row = measured.rows[0];
  EXPECT_EQ(row.case_name, "gemm/fp32/test");
  EXPECT_EQ(row.family, "gemm");
  EXPECT_EQ(row.backend, "fake");
  EXPECT_EQ(row.device, "fake:0");
  EXPECT_EQ(row.device_name, "Fake 9000");
  EXPECT_EQ(row.device_id, "F-1");
  EXPECT_EQ(row.scope, "alone");
  EXPECT_EQ(row.op, "gemm m=16 n=24 k=128");
  EXPECT_EQ(row.precision, "fp32");
  EXPECT_EQ(row.executed, "fp32");
  EXPECT_EQ(row.accumulated, "fp32");
  EXPECT_THAT(row.precision_proof, HasSubstr("probe: fp32 within"));
  EXPECT_EQ(row.data, "typical");
  EXPECT_EQ(row.cache, "hot");
  EXPECT_EQ(row.variant, "default");
  EXPECT_EQ(row.method, "scripted 1.0");
  EXPECT_EQ(row.metric, "seconds");
  EXPECT_EQ(row.unit, "s");
  EXPECT_EQ(row.better, "lower");
  for (const auto& value : {row.value, row.lower, row.upper, row.minimum, row.quartile1, row.quartile3, row.maximum}) {
    EXPECT_DOUBLE_EQ(value.value(), 2e-3);
  }
  EXPECT_EQ(row.samples, 5);
  EXPECT_EQ(row.executions, 15);  // five samples of three runs
  EXPECT_EQ(row.stop, "steady");
  EXPECT_DOUBLE_EQ(row.flops.value(), 98304);                // 2 x 16 x 24 x 128
  EXPECT_DOUBLE_EQ(row.bytes.value(), 8192 + 12288 + 1536);  // 4 (16 x 128 + 128 x 24 + 16 x 24)
  EXPECT_EQ(row.conditions, "");
  EXPECT_EQ(row.status, Status::ok);
  EXPECT_EQ(row.reason, "");
  EXPECT_THAT(row.started_utc, MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  EXPECT_GT(row.elapsed_seconds.value(), 0.03);
  EXPECT_EQ(measured.samples, std::vector<double>(5, 2e-3));
  // Left to the front.
  EXPECT_EQ(row.run, "");
  EXPECT_EQ(row.number, 0);
  EXPECT_EQ(row.process, "");
}

TEST(Measure, ProvesWithExactDataProbesAndTimesWithTheDataAskedFor) {
  Bench bench;
  Case item = case_of(small_product());
  item.data = Pattern::constant;
  EXPECT_EQ(bench.row(item, "seconds").data, "constant");
  EXPECT_EQ(bench.script.fills, (std::vector<Pattern>{Pattern::exact, Pattern::probe, Pattern::constant}));
}

TEST(Measure, GivesTheRateWithItsEndsTheOtherWayRound) {
  Bench bench;
  // Batches of 2 and 4 ms in turn.
  bench.script.seconds = [](std::int64_t run) { return run / 3 % 2 == 0 ? 2e-3 : 4e-3; };
  const Measured measured = bench.measured(case_of(small_product()));
  const Row& seconds = measured.rows.at(0);
  const Row& rate = measured.rows.at(1);
  EXPECT_EQ(rate.metric, "flops_per_second");
  EXPECT_EQ(rate.unit, "flop/s");
  EXPECT_EQ(rate.better, "higher");
  EXPECT_DOUBLE_EQ(rate.value.value(), 98304 / seconds.value.value());
  EXPECT_DOUBLE_EQ(rate.lower.value(), 98304 / seconds.upper.value());
  EXPECT_DOUBLE_EQ(rate.upper.value(), 98304 / seconds.lower.value());
  EXPECT_DOUBLE_EQ(rate.minimum.value(), 98304 / 4e-3);
  EXPECT_DOUBLE_EQ(rate.maximum.value(), 98304 / 2e-3);
  EXPECT_LE(rate.quartile1.value(), rate.quartile3.value());
}

TEST(Measure, GivesEachKindOfWorkTheRateThatPeopleAskFor) {
  Bench bench;
  bench.script.seconds_per_execution = 1e-3;
  Stream triad;
  triad.count = 1000;
  triad.format = plain(Element::fp64);
  // Three arrays of 1000 doubles in a millisecond.
  EXPECT_DOUBLE_EQ(bench.row(case_of(triad), "bytes_per_second").value.value(), 24e6);

  Transfer copy;
  copy.bytes = 5000;
  const Row transfer = bench.row(case_of(copy), "bytes_per_second");
  EXPECT_DOUBLE_EQ(transfer.value.value(), 5e6) << "what travelled, not what both ends touched";
  EXPECT_EQ(transfer.precision_proof, "exact");

  Issue issue;
  issue.operands = plain(Element::fp32);
  bench.script.choice.flops = 4e6;
  const Row rate = bench.row(case_of(issue), "flops_per_second");
  EXPECT_DOUBLE_EQ(rate.value.value(), 4e9) << "the back end knows how many it did";
  EXPECT_EQ(rate.precision_proof, "none");
  bench.script.choice.flops.reset();

  bench.script.execute = [](const Work&, Values&) {};
  Chase chase;
  chase.bytes = 1024;
  chase.loads = 1000;
  const Row latency = bench.row(case_of(chase), "seconds_per_load");
  EXPECT_DOUBLE_EQ(latency.value.value(), 1e-6);
  EXPECT_EQ(latency.better, "lower");

  Launch launch;
  launch.count = 100;
  EXPECT_DOUBLE_EQ(bench.row(case_of(launch), "seconds_per_launch").value.value(), 1e-5);
  EXPECT_FALSE(bench.row(case_of(launch), "seconds").flops);
}

TEST(Measure, TakesTheSlowestLane) {
  Bench bench;
  bench.script.seconds_per_execution = 3e-3;
  bench.script.other_lanes = {1e-3, 4e-3, 2e-3};
  EXPECT_DOUBLE_EQ(bench.row(case_of(small_product()), "seconds").value.value(), 4e-3);
}

TEST(Measure, FlagsTheLoadOfOthers) {
  Bench bench;
  bench.load = 0.06;
  EXPECT_EQ(bench.row(case_of(small_product()), "seconds").conditions, "other_load");
  bench.load = 0.04;
  EXPECT_EQ(bench.row(case_of(small_product()), "seconds").conditions, "");
  bench.load = -1;  // unknown
  EXPECT_EQ(bench.row(case_of(small_product()), "seconds").conditions, "");
}

TEST(Measure, FlagsFewSamplesAndDriftAndWhatTheCatalogueSays) {
  Bench slow;
  slow.script.seconds_per_execution = 0.7;
  Case item = case_of(small_product());
  item.conditions = {"near_cache"};
  const Row one = slow.row(item, "seconds");
  EXPECT_EQ(one.conditions, "near_cache,few_samples");
  EXPECT_EQ(one.samples, 1);
  EXPECT_EQ(one.stop, "time");
  EXPECT_FALSE(one.lower) << "one sample has no interval";
  Bench drifting;
  drifting.script.seconds = [](std::int64_t run) { return 2e-3 * (1 + 0.02 * static_cast<double>(run)); };
  EXPECT_EQ(drifting.row(case_of(small_product()), "seconds").conditions, "not_steady");
}

TEST(Measure, RepeatsAnAccumulatingOpFromAFreshFillBeforeCheckingIt) {
  Bench bench;
  AdamW op;
  op.count = 64;
  op.weight = op.gradient = plain(Element::bf16);
  const Row row = bench.row(case_of(op), "seconds");
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_EQ(bench.script.fills.back(), Pattern::typical);
}

TEST(Measure, MakesEveryFactARow) {
  Bench bench;
  Fact known;
  known.name = "allocatable_bytes";
  known.value = 12e9;
  known.unit = "bytes";
  known.source = "mmap";
  Fact words;
  words.name = "partition";
  words.text = "1g.10gb";
  Fact unknown;
  unknown.name = "limit_bytes";
  unknown.unit = "bytes";
  unknown.reason = "no group sets a limit";
  bench.script.facts = {known, words, unknown};
  Case item;
  item.name = "capacity/allocatable";
  item.family = "capacity";
  item.question = Question::capacity;
  const Measured measured = bench.measured(item);
  ASSERT_EQ(measured.rows.size(), 3U);
  EXPECT_EQ(measured.rows[0].metric, "allocatable_bytes");
  EXPECT_DOUBLE_EQ(measured.rows[0].value.value(), 12e9);
  EXPECT_EQ(measured.rows[0].unit, "bytes");
  EXPECT_EQ(measured.rows[0].method, "mmap");
  EXPECT_EQ(measured.rows[0].status, Status::ok);
  EXPECT_EQ(measured.rows[0].op, "");
  EXPECT_EQ(measured.rows[0].data, "");
  EXPECT_EQ(measured.rows[1].status, Status::ok);
  EXPECT_EQ(measured.rows[1].reason, "1g.10gb");
  EXPECT_EQ(measured.rows[2].status, Status::skipped);
  EXPECT_EQ(measured.rows[2].reason, "no group sets a limit");

  bench.script.facts.clear();
  EXPECT_EQ(bench.only(item).status, Status::skipped);
}

TEST(Measure, AsksTheHostWhereTheCaseIsAboutIt) {
  Bench bench;
  Case item;
  item.name = "host/storage";
  item.family = "host";
  item.host_survey = "storage";
  for (const Row& row : bench.measured(item).rows) {
    EXPECT_EQ(row.status, Status::skipped);
    EXPECT_THAT(row.reason, HasSubstr("no folder"));
  }
  item.host_survey = "weather";
  EXPECT_EQ(bench.only(item).status, Status::failed);
  item.host_survey.clear();
  EXPECT_EQ(bench.only(item).status, Status::failed) << "nothing to do";
}

TEST(Measure, GivesAWholeStepItsPhasesAndItsMemory) {
  Bench bench;
  bench.script.seconds_per_execution = 1e-3;
  const Case item = whole_step();
  std::map<std::string, Row> rows;
  for (const Row& row : bench.measured(item).rows) rows[row.metric] = row;
  ASSERT_EQ(rows.count("seconds"), 1U);
  EXPECT_EQ(rows["seconds"].status, Status::ok) << rows["seconds"].reason;
  EXPECT_EQ(rows["seconds"].op, "") << "many ops have no one key";
  EXPECT_THAT(rows["seconds"].precision_proof, HasSubstr("small twin"));
  EXPECT_DOUBLE_EQ(rows["flops_per_second"].value.value(), cost(item.work).flops / 1e-3);
  EXPECT_DOUBLE_EQ(rows["forward_seconds"].value.value(), 1e-3);
  EXPECT_DOUBLE_EQ(rows["backward_seconds"].value.value(), 1e-3);
  EXPECT_DOUBLE_EQ(rows["planned_bytes"].value.value(), 1000);
  EXPECT_DOUBLE_EQ(rows["allocated_bytes"].value.value(), 1024);
  EXPECT_DOUBLE_EQ(rows["reserved_bytes"].value.value(), 2048);
  EXPECT_DOUBLE_EQ(rows["workspace_bytes"].value.value(), 64);
  EXPECT_EQ(rows.count("device_bytes"), 0U) << "not known";
  // x, weight, y, statistics of a norm of 8 x 16, and b and d of a product of 12 columns, in FP32, nothing padded.
  EXPECT_DOUBLE_EQ(rows["live_peak_bytes"].value.value(), 4.0 * (128 + 16 + 128 + 16 + 192 + 96));
  EXPECT_EQ(rows["planned_bytes"].unit, "B");
}

}  // namespace
}  // namespace assay
