// Every way in which a case can go wrong, and the row that it leaves.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>

#include "core/error.h"
#include "core/number.h"
#include "tests/bench/scripted_bench.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

TEST(MeasureFaults, SkipsWhatTheBackEndDoesNotSupportWithItsReason) {
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

TEST(MeasureFaults, FailsOnErrorsWithTheirWordsAndNeverThrows) {
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

TEST(MeasureFaults, FailsOnAWrongResultWithTheNumbers) {
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

TEST(MeasureFaults, FailsWhenTheResultGoesWrongOnlyWhileItIsTimed) {
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

TEST(MeasureFaults, MistrustsLowerPrecisionThanAskedForButKeepsTheNumber) {
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

TEST(MeasureFaults, MistrustsTimesThatCannotBe) {
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

TEST(MeasureFaults, FailsAWholeStepWhoseTwinIsWrong) {
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
