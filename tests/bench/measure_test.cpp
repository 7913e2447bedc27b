// One case becomes rows: every column of a good one, and every way in which it can go wrong.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <map>
#include <new>

#include "core/error.h"
#include "core/number.h"
#include "tests/bench/scripted_backend.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

Format plain(Element element) { return Format{element, Scaling::none}; }

Gemm small_product() {
  Gemm gemm;
  gemm.m = 16;
  gemm.n = 24;
  gemm.k = 128;
  gemm.a = gemm.b = gemm.d = plain(Element::fp32);
  return gemm;
}

Case case_of(const Op& op) {
  Case item;
  item.name = "gemm/fp32/test";
  item.family = "gemm";
  item.work = single(op);
  item.precision = "fp32";
  item.cache = "hot";
  item.variant = "default";
  return item;
}

// A scripted machine and what measuring needs from it.
struct Bench {
  Script script;
  ScriptedBackend backend{script};
  double load = 0;

  Measured measured(const Case& item) {
    DeviceInfo device;
    device.id = "fake:0";
    device.backend = "fake";
    device.name = "Fake 9000";
    device.unique_id = "F-1";
    MeasureContext context{.backend = backend,
                           .device = device,
                           .limits = {},
                           .clock = [this] { return script.now; },
                           .other_load = [this] { return load; },
                           .storage_folder = ""};
    return measure(item, context);
  }
  Row row(const Case& item, const std::string& metric) {
    for (const Row& row : measured(item).rows) {
      if (row.metric == metric) return row;
    }
    ADD_FAILURE() << "no row " << metric;
    return {};
  }
  Row only(const Case& item) {
    const Measured all = measured(item);
    EXPECT_EQ(all.rows.size(), 1U);
    EXPECT_TRUE(all.samples.empty());
    return all.rows.at(0);
  }
};

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

TEST(Measure, SkipsWhatTheBackEndDoesNotSupportWithItsReason) {
  Bench bench;
  bench.script.unsupported = "this processor has no such thing";
  const Row row = bench.only(case_of(small_product()));
  EXPECT_EQ(row.status, Status::skipped);
  EXPECT_EQ(row.reason, "this processor has no such thing");
  EXPECT_EQ(row.metric, "seconds");
  EXPECT_EQ(row.op, "gemm m=16 n=24 k=128");
  EXPECT_FALSE(row.value);
  EXPECT_FALSE(row.samples);
  EXPECT_TRUE(row.elapsed_seconds);
  EXPECT_NE(row.started_utc, "");

  bench.script.unsupported.clear();
  bench.script.on_prepare = [] { throw Unsupported("needs 3 GiB of workspace, 1 is allowed"); };
  EXPECT_EQ(bench.only(case_of(small_product())).status, Status::skipped);
}

TEST(Measure, FailsOnErrorsWithTheirWordsAndNeverThrows) {
  const std::map<std::string, std::function<void()>> faults = {
      {"out of memory: 80 GB asked for", [] { throw OutOfMemory("80 GB asked for"); }},
      {"launching failed", [] { throw Error("launching failed"); }},
      {"out of memory on the host", [] { throw std::bad_alloc(); }},
      {"some library's words", [] { throw std::runtime_error("some library's words"); }},
      {"no exception of ours", [] { throw 7; }}};
  for (const auto& [words, fault] : faults) {
    Bench preparing;
    preparing.script.on_prepare = fault;
    EXPECT_EQ(preparing.only(case_of(small_product())).status, Status::failed);
    EXPECT_THAT(preparing.only(case_of(small_product())).reason, HasSubstr(words));
    Bench running;
    running.script.on_run = fault;
    EXPECT_EQ(running.only(case_of(small_product())).status, Status::failed);
    EXPECT_THAT(running.only(case_of(small_product())).reason, HasSubstr(words));
  }
}

TEST(Measure, FailsOnAWrongResultWithTheNumbers) {
  Bench bench;
  bench.script.execute = [](const Work& work, Values& values) {
    interpret(work, values, true);
    values[2][0] += 1;
  };
  const Row row = bench.only(case_of(small_product()));
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_THAT(row.reason, HasSubstr("wrong result: with exact data"));
  EXPECT_THAT(row.reason, HasSubstr("must be"));
  EXPECT_FALSE(row.value);
  EXPECT_EQ(row.method, "scripted 1.0") << "who was wrong is worth knowing";
}

TEST(Measure, FailsWhenTheResultGoesWrongOnlyWhileItIsTimed) {
  Bench bench;
  std::int64_t executed = 0;
  bench.script.execute = [&executed](const Work& work, Values& values) {
    interpret(work, values, true);
    if (++executed > 6) values[2].assign(values[2].size(), 0.0);
  };
  const Row row = bench.only(case_of(small_product()));
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_THAT(row.reason, HasSubstr("with typical data: operand d is all zeros"));
}

TEST(Measure, MistrustsLowerPrecisionThanAskedForButKeepsTheNumber) {
  Bench bench;
  bench.script.execute = [](const Work& work, Values& values) {
    for (std::size_t operand = 0; operand < 2; ++operand) {
      for (double& value : values[operand]) value = rounded(Element::tf32, value);
    }
    interpret(work, values, true);
  };
  // Typical data is checked as well, and fails at this precision; constant data rounds to itself.
  Case item = case_of(small_product());
  item.data = Pattern::constant;
  const Row row = bench.row(item, "seconds");
  EXPECT_EQ(row.status, Status::mistrusted);
  EXPECT_EQ(row.executed, "tf32");
  EXPECT_THAT(row.reason, HasSubstr("asked for fp32"));
  EXPECT_TRUE(row.value);
}

TEST(Measure, MistrustsTimesThatCannotBe) {
  for (const double seconds : {0.0, -1e-3, std::numeric_limits<double>::quiet_NaN()}) {
    Bench bench;
    bench.script.seconds_per_execution = seconds;
    double now = 0;
    const Case item = case_of(small_product());
    MeasureContext context{.backend = bench.backend,
                           .device = {},
                           .limits = {},
                           .clock = [&now] { return now += 1e-3; },
                           .other_load = nullptr,
                           .storage_folder = ""};
    const Measured measured = measure(item, context);
    EXPECT_EQ(measured.rows.at(0).status, Status::mistrusted) << seconds;
    EXPECT_THAT(measured.rows.at(0).reason, HasSubstr("reported"));
  }
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

Case whole_step() {
  Norm norm;
  norm.rows = 8;
  norm.columns = 16;
  norm.format = plain(Element::fp32);
  Case item = case_of(Op(norm));
  Gemm second = small_product();
  second.m = 8;
  second.n = 12;
  second.k = 16;
  const Work other = single(Op(second));
  item.work.tensors.push_back(other.tensors[1]);
  item.work.tensors.push_back(other.tensors[2]);
  item.work.steps[0].phase = "forward";
  item.work.steps.push_back({Op(second), {2, 4, 5}, 0, "backward"});
  item.work.name = "two steps";
  item.twin = item.work;
  item.family = "train";
  item.whole_step = true;
  return item;
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
  EXPECT_DOUBLE_EQ(rows["live_peak_bytes"].value.value(), static_cast<double>(plan(item.work, 256).live_peak));
  EXPECT_EQ(rows["planned_bytes"].unit, "B");
}

TEST(Measure, FailsAWholeStepWhoseTwinIsWrong) {
  Bench bench;
  bench.script.execute = [](const Work& work, Values& values) {
    interpret(work, values, true);
    values[5][3] += 0.5;
  };
  const Row row = bench.only(whole_step());
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_THAT(row.reason, HasSubstr("small twin"));
}

}  // namespace
}  // namespace assay
