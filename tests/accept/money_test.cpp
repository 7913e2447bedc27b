// What a run and its predictions cost, worked by hand.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "reports/accept/accept.h"
#include "reports/accept/money_findings.h"
#include "tests/accept/made_up_machine.h"

namespace assay {
namespace {

TEST(Money, OfARunIsItsTimeAndOfTokensTheirSpeed) {
  const made_up::Rented rented = made_up::healthy();  // 20 minutes
  EXPECT_EQ(run_seconds(rented.run), 1200);
  Report report;
  report.headline = {{"memory needed", {1e9, ReportUnit::bytes, {}, {}, ""}},
                     {"decode speed", {1000, ReportUnit::tokens_per_second, {}, {}, ""}}};
  const std::vector<Finding> findings = money_findings(report, {rented.run}, 3.6);
  ASSERT_EQ(findings.size(), 2U);
  // A third of an hour at 3.60 USD; a million tokens take 1,000 s, and 3.60 / 3,600 USD each.
  EXPECT_EQ(findings[0].sentence, "Measuring cost 1.20 USD: 20.0 min at 3.60 USD an hour.");
  EXPECT_EQ(findings[1].sentence, "A million tokens at the decode speed cost 1 USD.");
}

TEST(Money, SaysNothingOfARunWithoutItsTimes) {
  made_up::Rented rented = made_up::healthy();
  rented.run.info.ended_utc.clear();
  EXPECT_FALSE(run_seconds(rented.run).has_value());
  EXPECT_TRUE(money_findings(Report{}, {rented.run}, 3.6).empty());
}

}  // namespace
}  // namespace assay
