// How many runs a bar takes.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "reports/gate/run_plan.h"
#include "reports/render.h"
#include "tests/gate/made_up_sides.h"

namespace assay::gate {
namespace {

using ::testing::HasSubstr;

std::vector<assay::Run> state(std::size_t count) { return made_up_runs(count).before; }

TEST(GatePlan, TakesMoreRunsForMoreNoise) {
  std::vector<assay::Run> runs = state(8);
  for (std::size_t i = 0; i < 8; ++i) row_of(runs[i], stream).value = 24e-3 * (1 + 5 * wobble()[i]);
  const RunPlan plan = plan_runs(runs, {});
  EXPECT_EQ(plan.starts, 8U);
  EXPECT_EQ(plan.loads, 8U);
  ASSERT_EQ(plan.metrics.size(), 4U);
  EXPECT_EQ(plan.metrics.front().key.case_name, stream);
  // 0 .003 -.002 .001 -.003 .002 -.001 .004: of 28 differences the 22nd is 0.004, over 1.6268.
  EXPECT_NEAR(plan.metrics[1].scale, 0.004 / 1.6268, 2e-5);
  EXPECT_EQ(plan.metrics[1].needed, 3U);
  EXPECT_GT(plan.metrics.front().needed, 8U);
  EXPECT_EQ(plan.for_all, plan.metrics.front().needed);
  EXPECT_THAT(render_markdown(plan_report(plan, {})), HasSubstr("scripts/abba --runs"));
}

TEST(GatePlan, SaysWhereTwentyRunsDoNotDo) {
  std::vector<assay::Run> runs = state(8);
  for (std::size_t i = 0; i < 8; ++i) row_of(runs[i], stream).value = 24e-3 * (1 + 20 * wobble()[i]);
  const RunPlan plan = plan_runs(runs, {});
  EXPECT_EQ(plan.for_all, 0U);
  EXPECT_THAT(render_markdown(plan_report(plan, {})), HasSubstr("more than 20 runs a side"));
}

TEST(GatePlan, NeedsThreeRunsOfOneState) {
  EXPECT_THROW(plan_runs(state(2), {}), BadInput);
  std::vector<assay::Run> runs = state(4);
  runs[1].info.devices.front().driver = "2.0";
  EXPECT_THROW(plan_runs(runs, {}), BadInput);
}

}  // namespace
}  // namespace assay::gate
