// A slowdown planted by the scripted plug-in: its rows say so, no judge takes them, and the gate finds it when it is
// told that it is being tested. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "bench/derived.h"
#include "reports/accept/machine.h"
#include "reports/compare/comparison.h"
#include "reports/gate/gate_report.h"
#include "reports/rates.h"
#include "reports/rates_rows.h"
#include "tests/bench/front.h"

namespace assay::gate {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* product = "gemm/fp32/case/1";

assay::Run measured(double planted) {
  json script{{"cases", 4}};
  if (planted != 1) script["planted"] = planted;
  test::Stage stage(script);
  EXPECT_EQ(stage.measure({"--repeat=3"}).code, 0);
  assay::Run run = read_run(stage.out());
  // The times are made up, so others' work on the machine that tests run on does not disturb them.
  for (Row& row : run.rows) row.conditions = std::regex_replace(row.conditions, std::regex("other_load,?"), "");
  return run;
}

TEST(GatePlanted, RowsSaySoAndNoJudgeTakesThem) {
  const assay::Run run = measured(1.1);
  ASSERT_THAT(run.rows, Not(IsEmpty()));
  for (const Row& row : run.rows)
    if (row.metric == "seconds") {
      EXPECT_TRUE(has_condition(row, "planted")) << row.case_name << ": " << row.conditions;
    }
  EXPECT_THAT(Rates({run}, "fake:0").known(), IsEmpty());
  EXPECT_THAT(Machine(run).timed("fake:0", "gemm/"), IsEmpty());
  EXPECT_THAT(derived_rows(run.rows, run.info.devices), IsEmpty());
  const std::vector<assay::Run> two{run, measured(1)};
  EXPECT_THAT(assay::compare(contenders(two, {}, {})).alike, IsEmpty());
  const Gate refused = gate({{two[1]}, {run}, {}, {}}, {});
  EXPECT_EQ(exit_code_of(refused, {}), 2);
  EXPECT_GT(refused.planted, 0U);
  for (const MetricVerdict& one : refused.metrics) EXPECT_EQ(one.verdict, Verdict::unfit) << text(one.key);
}

TEST(GatePlanted, TheGateFindsATenthMoreAndNothingWhereNothingIsPlanted) {
  GateRules rules;
  rules.planted_counts = true;
  const GateRuns slowed{{measured(1)}, {measured(1.1)}, {}, {}};
  const Gate found = gate(slowed, rules);
  EXPECT_EQ(exit_code_of(found, rules), 1);
  for (const MetricVerdict& one : found.metrics)
    if (one.key.case_name == product) {
      EXPECT_EQ(one.verdict, Verdict::slower) << one.reason;
      EXPECT_NEAR(*worse_by(one).value, 0.1, 1e-6);
    }
  const Gate same = gate({{measured(1)}, {measured(1)}, {}, {}}, rules);
  EXPECT_EQ(count(same, Verdict::slower), 0U);
  EXPECT_EQ(exit_code_of(same, rules), 0) << summary(same, rules);
}

}  // namespace
}  // namespace assay::gate
