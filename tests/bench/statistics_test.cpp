// Quantiles, Student's interval and drift, against values worked by hand.
// SPDX-License-Identifier: Apache-2.0
#include "bench/statistics.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace assay {
namespace {

// Type 7: the place of p among n samples is (n - 1) p. For 1 2 3 4: 0.75, 1.5 and 2.25 behind the first.
TEST(Statistics, InterpolatesQuantilesBetweenNeighbours) {
  const std::vector<double> samples = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(quantile(samples, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(median(samples), 2.5);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.75), 3.25);
  EXPECT_DOUBLE_EQ(quantile(samples, 1), 4);
  EXPECT_DOUBLE_EQ(median({7}), 7);
  EXPECT_THROW(median({}), Error);
}

// Printed in any table of Student's distribution, two-sided 95 %.
TEST(Statistics, KnowsStudentsDistribution) {
  EXPECT_NEAR(student_95(1), 12.706, 5e-4);
  EXPECT_NEAR(student_95(4), 2.776, 5e-4);
  EXPECT_NEAR(student_95(30), 2.042, 5e-4);
  EXPECT_NEAR(student_95(40), 2.021, 5e-4);
  EXPECT_NEAR(student_95(60), 2.000, 5e-4);
  EXPECT_NEAR(student_95(120), 1.980, 5e-4);
  EXPECT_NEAR(student_95(1000000), 1.960, 5e-4);
  EXPECT_THROW(student_95(0), Error);
}

// 1 2 3 4: mean 2.5, variance (2.25 + 0.25 + 0.25 + 2.25) / 3 = 5/3, error sqrt(5/3 / 4) = 0.645497, times 3.182.
TEST(Statistics, GivesThePlainIntervalToFewSamples) {
  const auto interval = interval_95({1, 2, 3, 4});
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->lower, 2.5 - 2.053972, 1e-5);
  EXPECT_NEAR(interval->upper, 2.5 + 2.053972, 1e-5);
  EXPECT_FALSE(interval_95({1}));
  EXPECT_FALSE(interval_95({}));
}

// 10 11 12 13 1000: one is cut on either side. The mean of 11 12 13 is 12; winsorized 11 11 12 13 13 has squares
// 1 + 1 + 0 + 1 + 1 = 4; error sqrt(4 / (3 x 2)) = 0.816497, times 4.303 = 3.513385.
TEST(Statistics, IsNotMovedByOneOutlier) {
  const auto interval = interval_95({12, 1000, 10, 13, 11});
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->lower, 12 - 3.513385, 1e-5);
  EXPECT_NEAR(interval->upper, 12 + 3.513385, 1e-5);
  const auto further_out = interval_95({12, 1e9, 10, 13, 11});
  ASSERT_TRUE(further_out);
  EXPECT_DOUBLE_EQ(further_out->upper, interval->upper);
  // Half of 7.02677 as a share of the median, 12.
  EXPECT_NEAR(*relative_half_width({12, 1000, 10, 13, 11}), 3.513385 / 12, 1e-6);
}

TEST(Statistics, HoldsTheMedianInTheInterval) {
  // Ten samples: two are cut on either side, and what is left is 1 1 1 1 1 2: mean 7/6, median 1.
  const auto interval = interval_95({1, 1, 1, 1, 1, 1, 1, 2, 2, 2});
  ASSERT_TRUE(interval);
  EXPECT_LE(interval->lower, 1);
  EXPECT_GE(interval->upper, 1);
}

TEST(Statistics, HasNoWidthForEqualSamples) {
  EXPECT_DOUBLE_EQ(*relative_half_width({2, 2, 2, 2, 2}), 0);
  EXPECT_FALSE(relative_half_width({0, 0, 0}));
}

// Thirds of two. 1, 1.01 and 1.1, 1.11: squares 0.00005 each, pooled deviation sqrt(0.0001 / 2) = 0.00707, error of the
// difference 1.2533 x 0.00707 x sqrt(2 / 2) = 0.00886; the difference is 0.1, more than three of them.
TEST(Statistics, SeesADriftBeyondTheNoise) {
  EXPECT_TRUE(drifts({1, 1.01, 1.05, 1.05, 1.1, 1.11}, 0.01));
  EXPECT_FALSE(drifts({1, 1.01, 1.05, 1.05, 1.1, 1.11}, 0.2)) << "not worth telling";
  // 1, 1.1 and 1.1, 1.2: squares 0.005 each, pooled sqrt(0.01 / 2) = 0.0707, error 0.0886; the difference is 0.1.
  EXPECT_FALSE(drifts({1, 1.1, 1, 1, 1.1, 1.2}, 0.01)) << "within the noise";
  EXPECT_FALSE(drifts({1, 2, 3, 4, 5}, 0.01)) << "too few to tell";
}

}  // namespace
}  // namespace assay
