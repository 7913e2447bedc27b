// The gate's statistics: worked by hand, or held against published tables and exact counts.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"

namespace assay::gate {
namespace {

using ::testing::ElementsAre;

TEST(GateStatistics, ShiftIsTheMiddleOfAllDifferences) {
  // Differences: 3 2 0, 4 3 1, 6 5 3 -> sorted 0 1 2 3 3 3 4 5 6.
  EXPECT_DOUBLE_EQ(shift({{3, 2, 0}, {3, 4, 6}}), 3);
  // One wild run moves nothing: 1 and 3 of a side of three.
  EXPECT_DOUBLE_EQ(shift({{0, 0, 0}, {1, 1, 100}}), 1);
  EXPECT_THROW(shift({{}, {1}}), Error);
}

TEST(GateStatistics, ScaleIsTheUpperQuartileOfDifferencesInsideASide) {
  // Inside: 1 2 1 and 2 4 2, ascending 1 1 2 2 2 4; place floor(6 * 3/4) = 4 is 2.
  EXPECT_NEAR(scale({{0, 1, 2}, {10, 12, 14}}), 2 / 1.6268, 1e-9);
  EXPECT_DOUBLE_EQ(scale({{1, 1, 1}, {1, 1, 1}}), least_scale);
}

TEST(GateStatistics, DrawsAreThoseOfTheirPublishedGenerator) {
  // Splitmix64 from state 0 begins with 0xE220A8397B1DCDAF; its upper 53 bits as a fraction.
  EXPECT_DOUBLE_EQ(Draws(0).uniform(), (static_cast<double>(0xE220A8397B1DCDAFULL >> 11U) + 0.5) / 9007199254740992.0);
  Draws draws(1);
  double sum = 0, squares = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = draws.normal();
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.013);      // four standard errors
  EXPECT_NEAR(squares / 1e5, 1, 0.018);  // likewise
}

TEST(GateStatistics, CriticalValuesAgreeWithAnIndependentSimulation) {
  // From 30,000 to 120,000 draws of another program; 4 % is the scatter of both together in the far tail.
  struct Known {
    std::size_t runs;
    double five, one;
  };
  for (const Known& known : {Known{3, 2.03, 3.57}, Known{5, 1.81, 2.83}, Known{8, 1.76, 2.62}, Known{20, 1.75, 2.51}}) {
    EXPECT_NEAR(critical_value(known.runs, known.runs, 0.05) / known.five, 1, 0.03) << known.runs;
    EXPECT_NEAR(critical_value(known.runs, known.runs, 0.01) / known.one, 1, 0.04) << known.runs;
  }
}

TEST(GateStatistics, TailsAndCriticalValuesAreEachOthersInverse) {
  for (const double alpha : {0.05, 0.01, 0.0025})
    EXPECT_NEAR(upper_tail(8, 6, critical_value(8, 6, alpha)), alpha, 2e-4);
  EXPECT_NEAR(upper_tail(8, 8, -1.5) + upper_tail(8, 8, 1.5), 1, 1e-12);
  EXPECT_GT(upper_tail(8, 8, 1e9), 0);
}

TEST(GateStatistics, PermutationsAreCountedExactly) {
  EXPECT_DOUBLE_EQ(permutation_tail({{1, 2, 3}, {4, 5, 6}}), 1 / 20.0);
  EXPECT_DOUBLE_EQ(permutation_tail({{4, 5, 6}, {1, 2, 3}}), 1);
  // {1 4 5} sums to 10; of the 20 triples of 1..6 those with 10 or more: all but 6 7 8 8 9 9 9.
  EXPECT_DOUBLE_EQ(permutation_tail({{2, 3, 6}, {1, 4, 5}}), 13 / 20.0);
  // Ten against ten: seeded; the chance of a clean split is one in 184,756.
  EXPECT_LT(permutation_tail({{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19}}), 0.002);
}

TEST(GateStatistics, SeesTwoModesOnlyWhereGroupsStandApart) {
  EXPECT_TRUE(two_modes({1.000, 1.001, 1.002, 1.050, 1.051}));
  EXPECT_FALSE(two_modes({1.00, 1.01, 1.02, 1.03, 1.04}));
  EXPECT_FALSE(two_modes({1.000, 1.001, 1.002, 1.050}));  // one wild run is no mode
  EXPECT_FALSE(two_modes({1.0, 1.5, 2.0}));
}

TEST(GateStatistics, AskForThreeRunsASide) { EXPECT_THROW(estimate({{1, 2}, {1, 2, 3}}, 0.02), Error); }

TEST(GateStatistics, SwappingTheSidesMirrorsTheEstimate) {
  const Sides sides{{0.00, 0.01, 0.005, 0.002}, {0.03, 0.04, 0.035, 0.041}};
  const Estimate one = estimate(sides, 0.02), other = estimate({sides.after, sides.before}, 0.02);
  EXPECT_DOUBLE_EQ(one.shift, -other.shift);
  EXPECT_DOUBLE_EQ(one.scale, other.scale);
  EXPECT_DOUBLE_EQ(one.tail, other.tail_faster);
  EXPECT_EQ(slower(one, 0.02, 0.01), faster(other, 0.02, 0.01));
  EXPECT_TRUE(slower(one, 0.02, 0.01));
}

TEST(GateStatistics, ALoadErrorWidensWithoutMovingTheShift) {
  const Sides sides{{0, 0.001, 0.002}, {0.02, 0.021, 0.022}};
  const Estimate plain = estimate(sides, 0.02), widened = estimate(sides, 0.02, 0.004 * std::sqrt(2));
  EXPECT_DOUBLE_EQ(plain.shift, widened.shift);
  EXPECT_LT(widened.at_least, plain.at_least);
  EXPECT_GT(widened.at_most, plain.at_most);
  EXPECT_GT(widened.smallest_found, plain.smallest_found);
}

TEST(GateStatistics, PlansTheRunsThatABarNeeds) {
  // 0.3 %: 3.57 * 0.3 % sqrt(2/3) + 1.28 * ... = 1.19 % with three runs, where the bar's half is 1 %.
  EXPECT_EQ(runs_needed(0.003, 0.02), 3U);
  // 0.75 % with eight: max(1 %, 2.62 * 0.375 %) + 1.28 * 0.375 % = 1.48 %.
  EXPECT_NEAR(smallest_found(0.0075, 8, 0.02), 0.0149, 2e-4);
  EXPECT_EQ(runs_needed(0.05, 0.02), 0U);
}

TEST(GateStatistics, HoldsAgainstManyByTheStepUpRule) {
  // Limits for four at 20 %: 5, 10, 15, 20 %. The third holds, and takes the second with it.
  EXPECT_THAT(hold_together({0.30, 0.04, 0.149, 0.12}, 0.2), ElementsAre(false, true, true, true));
  EXPECT_THAT(hold_together({0.06, 0.11, 0.16, 0.21}, 0.2), ElementsAre(false, false, false, false));
  EXPECT_TRUE(hold_together({}, 0.2).empty());
}

TEST(GateStatistics, PredictsTheNextValueByStudent) {
  // Mean 2, deviation 1, two degrees of freedom: 2 + 6.965 sqrt(4/3).
  EXPECT_NEAR(prediction_limit({1, 2, 3}), 2 + 6.965 * std::sqrt(4.0 / 3), 1e-9);
  // Constant values get the floor, never certainty.
  EXPECT_NEAR(prediction_limit({1, 1, 1, 1, 1}), 1 + 3.747 * least_scale * std::sqrt(1.2), 1e-9);
  EXPECT_THROW(prediction_limit({1, 2}), Error);
  EXPECT_NEAR(history_limit({1, 1, 1, 1, 1}, 0.02), 1 + std::log(1.01), 1e-12);
  EXPECT_DOUBLE_EQ(history_limit({1, 2, 3}, 0.02), prediction_limit({1, 2, 3}));
}

}  // namespace
}  // namespace assay::gate
