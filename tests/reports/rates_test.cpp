// Prices of ops from made-up rows, worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include "reports/rates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/reports/made_up_run.h"

namespace assay {
namespace {

Price price(const Run& run, const Op& op) { return Rates({run}, "cpu:0").price(op); }

TEST(Rates, GiveTheMedianOfRepetitionsForTheSameOp) {
  assay::Run run = made_up_run();
  const Gemm gemm = made_up_gemm(64, 64, 64);
  for (const double seconds : {3.0, 1.0, 2.0}) run.rows.push_back(made_up_row("gemm/a", gemm, seconds));
  const Price found = price(run, gemm);
  EXPECT_EQ(found.origin, Origin::measured);
  EXPECT_EQ(found.seconds, 2.0);
  EXPECT_EQ(found.lower, 1.0);
  EXPECT_EQ(found.upper, 3.0);
  EXPECT_EQ(found.because, "gemm/a");
}

TEST(Rates, NeverUseRowsThatAreNotOkOrOfAnotherDeviceOrPlanted) {
  assay::Run run = made_up_run();
  const Gemm gemm = made_up_gemm(64, 64, 64);
  for (const Status status : {Status::failed, Status::skipped, Status::mistrusted}) {
    run.rows.push_back(made_up_row("gemm/a", gemm, 1));
    run.rows.back().status = status;
  }
  run.rows.push_back(made_up_row("gemm/a", gemm, 1));
  run.rows.back().device = "cuda:0";
  run.rows.push_back(made_up_row("gemm/a", gemm, 1));
  run.rows.back().conditions = "few_samples,planted";
  run.rows.push_back(made_up_row("gemm/a", gemm, 1));
  run.rows.back().metric = "seconds_per_load";
  run.rows.push_back(made_up_row("gemm/a", gemm, 1));
  run.rows.back().value.reset();
  const Rates rates({run}, "cpu:0");
  EXPECT_TRUE(rates.known().empty());
  EXPECT_EQ(rates.planted(), 1U);
  EXPECT_EQ(rates.price(gemm).origin, Origin::not_judged);
  EXPECT_FALSE(rates.price(gemm).seconds);
  EXPECT_FALSE(rates.price(gemm).because.empty());
}

TEST(Rates, TakeTypicalDataTheDefaultAlgorithmAndColdOperands) {
  assay::Run run = made_up_run();
  const Gemm gemm = made_up_gemm(64, 64, 64);
  const auto add = [&](const std::string& data, const std::string& variant, const std::string& cache, double seconds) {
    run.rows.push_back(made_up_row("gemm/a", gemm, seconds));
    run.rows.back().data = data;
    run.rows.back().variant = variant;
    run.rows.back().cache = cache;
  };
  add("constant", "default", "cold", 1);
  add("typical", "best", "cold", 2);
  add("typical", "default", "hot", 3);
  add("typical", "default", "cold", 4);
  add("typical", "default", "hot", 5);
  EXPECT_EQ(price(run, gemm).seconds, 4.0);
}

TEST(Rates, InterpolateProductsByTheirEfficiency) {
  // All measured squares run at 1 TFLOP/s, so 3072 does too: 2 x 3072^3 / 10^12 = 0.057982 s.
  const Price found = price(measured_run(), made_up_gemm(3072, 3072, 3072));
  EXPECT_EQ(found.origin, Origin::interpolated);
  EXPECT_NEAR(*found.seconds, 0.057982058496, 1e-9);
  EXPECT_LT(found.lower, *found.seconds * 1.0000001);
  EXPECT_GT(found.upper, *found.seconds);
}

TEST(Rates, LieBetweenTheEfficienciesOfTheNeighbours) {
  assay::Run run = measured_run();
  // 2048 at half the speed: 0.5 TFLOP/s.
  for (Row& row : run.rows)
    if (row.case_name == "gemm/bf16/square/2048") *row.value *= 2;
  const Gemm between = made_up_gemm(2896, 2896, 2896);  // halfway between 2048 and 4096 in doublings
  const double at_peak = cost(Op(between)).flops / 1e12;
  const Price found = price(run, between);
  EXPECT_GT(*found.seconds, at_peak * 1.05);
  EXPECT_LT(*found.seconds, at_peak * 2);
  EXPECT_LE(found.lower, at_peak * 1.0001);
  EXPECT_GE(found.upper, at_peak * 2);
}

TEST(Rates, AreLessCertainTheFartherAShapeIsFromWhatWasMeasured) {
  const assay::Run run = measured_run();
  const auto width = [&](std::int64_t size) {
    const Price found = price(run, made_up_gemm(size, size, size));
    return found.upper / *found.seconds;
  };
  EXPECT_LT(width(5000), width(8192));
  EXPECT_LT(width(8192), width(65536));
  // 65536 is 4 doublings from 4096 in each of three directions: sqrt(3 x 16) = 6.93; 10 % each: 1.693.
  EXPECT_NEAR(width(65536), 1.693, 0.001);
}

TEST(Rates, PriceAThinProductByTheBandwidthWhereThatDecides) {
  // 1 x 8192 by 8192 x 8192 in bf16 reads 2 x 8192^2 bytes: 134,217,728 + vectors, at 100 GB/s about 1.342 ms; the
  // arithmetic would take 0.134 ms.
  const Price found = price(measured_run(), made_up_gemm(1, 8192, 8192));
  EXPECT_NEAR(*found.seconds, 134'250'496.0 / 100e9, 1e-6);
}

TEST(Rates, FallBackToThePeakOfTheFormat) {
  assay::Run run = made_up_run();
  Issue issue;
  issue.operands = Format{Element::fp32, Scaling::none};
  run.rows.push_back(made_up_row("issue/fp32", issue, 1));
  run.rows.back().flops = 5e11;  // only the back end knows
  run.rows.push_back(made_up_row("memory/triad/plain/dram", made_up_triad(2'400'000'000), 0.024));
  const Rates rates({run}, "cpu:0");
  EXPECT_EQ(rates.peak_flops(Element::fp32), 5e11);
  EXPECT_FALSE(rates.peak_flops(Element::bf16));
  const Price found = rates.price(made_up_gemm(1024, 1024, 1024, Element::fp32));
  EXPECT_EQ(found.origin, Origin::peak);
  EXPECT_NEAR(*found.seconds, 2.0 * 1024 * 1024 * 1024 / 5e11, 1e-12);
  EXPECT_NEAR(found.upper, 2 * *found.seconds, 1e-12);
  EXPECT_EQ(rates.price(made_up_gemm(1024, 1024, 1024)).origin, Origin::not_judged);
}

// What is read over and over comes from a cache: 1 TB/s of it say nothing of the memory's 100 GB/s.
TEST(Rates, KeepReadsFromACacheOutOfTheBandwidthOfMemory) {
  assay::Run run = measured_run();
  Stream reread;
  reread.kind = StreamKind::read;
  reread.format = Format{Element::fp32, Scaling::none};
  reread.count = 1'000'000;
  reread.turns = 1000;
  run.rows.push_back(made_up_row("memory/reread/fp32/16KiB_each", reread, 4e9 / 1e12));
  const Rates rates({run}, "cpu:0");
  EXPECT_NEAR(*rates.memory_bandwidth(), 100e9, 1);
  EXPECT_NEAR(*rates.bandwidth_at(4e6, true), 100e9, 1);
}

TEST(Rates, PriceElementOpsByTheStreamOrByTheirKind) {
  Softmax softmax;
  softmax.rows = 65536;
  softmax.columns = 4096;
  softmax.format = Format{Element::bf16, Scaling::none};
  // 2 x 2 bytes x 268,435,456 = 1,073,741,824 bytes at 100 GB/s.
  assay::Run run = measured_run();
  Price found = price(run, softmax);
  EXPECT_EQ(found.origin, Origin::peak);
  EXPECT_NEAR(*found.seconds, 1'073'741'824 / 100e9, 1e-9);
  EXPECT_NEAR(found.upper, 2 * *found.seconds, 1e-9);

  // Measured on a quarter of the rows at 50 GB/s: 268,435,456 / 50e9 s.
  Softmax quarter = softmax;
  quarter.rows /= 4;
  run.rows.push_back(made_up_row("memory/softmax/bf16/dram", quarter, 268'435'456 / 50e9));
  found = price(run, softmax);
  EXPECT_EQ(found.origin, Origin::interpolated);
  EXPECT_NEAR(*found.seconds, 1'073'741'824 / 50e9, 1e-9);
  EXPECT_NEAR(found.upper / *found.seconds, 1.2, 1e-9);  // two doublings away

  softmax.direction = Direction::backward;  // another kind
  EXPECT_EQ(price(run, softmax).origin, Origin::peak);
}

TEST(Rates, KnowTheBandwidthOfAWorkingSet) {
  assay::Run run = made_up_run();
  run.rows.push_back(made_up_row("small", made_up_triad(24'000), 24'000 / 1000e9));
  run.rows.push_back(made_up_row("large", made_up_triad(24'000'000), 24'000'000 / 100e9));
  Stream nontemporal = made_up_triad(24'000'000);
  nontemporal.store = Store::nontemporal;
  run.rows.push_back(made_up_row("nontemporal", nontemporal, 24'000'000 / 900e9));
  const Rates rates({run}, "cpu:0");
  EXPECT_NEAR(*rates.memory_bandwidth(), 100e9, 1);
  EXPECT_NEAR(*rates.bandwidth_at(1), 1000e9, 10);
  EXPECT_NEAR(*rates.bandwidth_at(1e12), 100e9, 1);
  // 758,947 is the geometric mean of the two sets: the geometric mean of the two rates, 316.2 GB/s.
  EXPECT_NEAR(*rates.bandwidth_at(std::sqrt(24'000.0 * 24'000'000.0)), std::sqrt(1000e9 * 100e9), 1e3);
}

TEST(Rates, DoNotJudgeLaunchesAndLatenciesThatWereNotMeasured) {
  const assay::Run run = measured_run();
  EXPECT_EQ(price(run, Launch{}).origin, Origin::not_judged);
  Chase chase;
  chase.bytes = 65536;
  EXPECT_EQ(price(run, chase).origin, Origin::not_judged);
}

TEST(Rates, PriceNothingBelowOneLaunch) {
  assay::Run run = measured_run();
  Launch launch;
  launch.count = 100;
  run.rows.push_back(made_up_row("launch/kernel", launch, 100 * 5e-6));
  // 16 x 16 x 16 would take 8 ns at 1 TFLOP/s.
  const Price found = price(run, made_up_gemm(16, 16, 16));
  EXPECT_DOUBLE_EQ(*found.seconds, 5e-6);
  EXPECT_GE(found.lower, 5e-6);
}

TEST(Rates, LeaveOutOpsOfALaterVersion) {
  assay::Run run = measured_run();
  run.rows.push_back(run.rows.front());
  run.rows.back().op = "teleport bytes=3";
  EXPECT_EQ(Rates({run}, "cpu:0").unreadable(), 1U);
}

}  // namespace
}  // namespace assay
