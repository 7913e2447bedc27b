// What telemetry makes of a case's rows: errors that grew, links that stayed slow, clocks that were held back.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/telemetry_process.h"

namespace assay {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

TelemetrySample with_errors(std::int64_t ecc, std::int64_t links) {
  TelemetrySample sample;
  sample.errors = {{"ecc_errors", ecc}, {"link_errors", links}};
  return sample;
}

TelemetrySample on_link(double busy, int generation, int width) {
  TelemetrySample sample;
  sample.busy = busy;
  sample.pcie_generation = generation;
  sample.pcie_width = width;
  sample.pcie_generation_most = 5;
  sample.pcie_width_most = 16;
  return sample;
}

TEST(TelemetryConditions, ErrorsThatGrowDuringACaseAreSeen) {
  EXPECT_THAT(summarise({with_errors(7, 0), with_errors(7, 0)}).conditions, IsEmpty());  // old ones are not its own
  EXPECT_THAT(summarise({with_errors(7, 0), with_errors(8, 0)}).conditions, Contains("ecc_errors"));
  EXPECT_THAT(summarise({with_errors(0, 1), with_errors(0, 1), with_errors(0, 2)}).conditions, Contains("link_errors"));
}

TEST(TelemetryConditions, ErrorsAreCountedFromTheSampleBeforeTheCase) {
  const TelemetrySample before = with_errors(7, 0);
  EXPECT_THAT(summarise({with_errors(8, 0)}, &before).conditions, Contains("ecc_errors"));
  EXPECT_THAT(summarise({with_errors(7, 0)}, &before).conditions, IsEmpty());
}

TEST(TelemetryConditions, ACounterThatWasSetBackIsNoError) {
  EXPECT_THAT(summarise({with_errors(9, 0), with_errors(0, 0)}).conditions, IsEmpty());
  EXPECT_THAT(summarise({with_errors(9, 0), with_errors(0, 0), with_errors(1, 0)}).conditions, Contains("ecc_errors"));
}

TEST(TelemetryConditions, ALinkCountsUnderLoadAlone) {
  EXPECT_THAT(summarise({on_link(0, 1, 16), on_link(0, 1, 16), on_link(0, 1, 16)}).conditions, IsEmpty());
  EXPECT_THAT(summarise({on_link(0.9, 1, 16), on_link(0.9, 5, 16)}).conditions, IsEmpty());  // it woke up
  EXPECT_THAT(summarise({on_link(0.9, 1, 16)}).conditions, IsEmpty());                       // too early to tell
  EXPECT_THAT(summarise({on_link(0.9, 4, 16), on_link(0.9, 4, 16)}).conditions, Contains("pcie_downgraded"));
  EXPECT_THAT(summarise({on_link(0.9, 5, 8), on_link(0.9, 5, 8)}).conditions, Contains("pcie_downgraded"));
}

TEST(TelemetryConditions, TheClockIsThatOfWork) {
  const auto at = [](double clock, std::optional<double> busy) {
    TelemetrySample sample;
    sample.clock_hertz = clock;
    sample.busy = busy;
    return sample;
  };
  EXPECT_EQ(summarise({at(0.3e9, 0.0), at(1.8e9, 0.9), at(1.6e9, 1.0)}).clock_hertz, 1.7e9);
  EXPECT_EQ(summarise({at(0.4e9, 0.0), at(0.2e9, 0.0)}).clock_hertz, 0.3e9);  // seen idle only: too short to be told
  EXPECT_EQ(summarise({at(2e9, std::nullopt), at(3e9, std::nullopt)}).clock_hertz, 2.5e9);
}

TEST(TelemetryConditions, WhatHoldsTheClockBackIsACondition) {
  const auto conditions = [](const std::string& throttle) {
    TelemetrySample sample;
    sample.throttle = throttle;
    return summarise({sample}).conditions;
  };
  EXPECT_THAT(conditions("none"), IsEmpty());
  EXPECT_THAT(conditions("sync boost"), IsEmpty());
  EXPECT_THAT(conditions("power cap"), Contains("power_capped"));
  EXPECT_THAT(conditions("thermal (hardware)"), Contains("thermal_throttle"));
  EXPECT_THAT(conditions("thermal (software),power cap"), Contains("power_capped"));
  EXPECT_THAT(conditions("hardware slowdown"), Contains("hardware_slowdown"));
}

TEST(TelemetryConditions, RowsGetEachConditionOnceAndFailedRowsGetNothingElse) {
  TelemetrySample sample;
  sample.clock_hertz = 1e9;
  sample.conditions = {"other_process", "xid_79"};
  const Weather weather = summarise({sample, sample});
  Row good, bad, none;
  good.conditions = "few_samples,other_process";
  bad.status = Status::failed;
  none.status = Status::skipped;
  for (Row* row : {&good, &bad, &none}) apply(weather, *row);
  EXPECT_EQ(good.conditions, "few_samples,other_process,xid_79");
  EXPECT_TRUE(good.clock_hertz);
  EXPECT_EQ(bad.conditions, "other_process,xid_79");
  EXPECT_FALSE(bad.clock_hertz);
  EXPECT_EQ(none.conditions, "");
}

}  // namespace
}  // namespace assay
