// Everything that can be wrong with two sides of runs: each gives its own sentence, and none of it ends as OK.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "reports/gate/gate_report.h"
#include "tests/gate/made_up_sides.h"

namespace assay::gate {
namespace {

using ::testing::HasSubstr;

struct Fault {
  const char* name;
  std::function<void(GateRuns&)> make;
  Verdict verdict;  // of the product
  int exit_code;
  const char* says;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

std::function<void(GateRuns&)> after_rows(const std::function<void(Row&)>& change) {
  return [change](GateRuns& runs) { each(runs.after, [&](assay::Run& run) { change(row_of(run, product)); }); };
}

std::function<void(GateRuns&)> after_runs(const std::function<void(assay::Run&)>& change) {
  return [change](GateRuns& runs) { each(runs.after, change); };
}

void remove_product(assay::Run& run) {
  std::erase_if(run.rows, [](const Row& row) { return row.case_name == product; });
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all{
      {"zero", after_rows([](Row& row) { row.value = 0; }), Verdict::incomparable, 2, "not positive"},
      {"negative", after_rows([](Row& row) { row.value = -1e-3; }), Verdict::incomparable, 2, "not positive"},
      {"no value", after_rows([](Row& row) { row.value.reset(); }), Verdict::incomparable, 2, "no value"},
      {"one run a side", [](GateRuns& runs) { runs.before.resize(1), runs.after.resize(1); }, Verdict::inconclusive, 2,
       "1 before and 1 after"},
      {"one run after", [](GateRuns& runs) { runs.after.resize(1); }, Verdict::inconclusive, 2, "8 before and 1 after"},
      {"metric gone", after_runs(remove_product), Verdict::broken, 1, "gone: the run has no row for it"},
      {"metric not reached", after_runs([](assay::Run& run) {
         remove_product(run);
         run.info.ending = Ending::budget;
       }),
       Verdict::inconclusive, 2, "8 before and 0 after"},
      {"metric new", [](GateRuns& runs) { each(runs.before, remove_product); }, Verdict::incomparable, 2,
       "nothing to hold it against"},
      {"there twice", after_runs([](assay::Run& run) { run.rows.push_back(row_of(run, product)); }),
       Verdict::incomparable, 2, "twice"},
      {"unit ns to us", after_rows([](Row& row) { row.unit = "us"; }), Verdict::incomparable, 2,
       "unit: s before, us after"},
      {"direction flipped", after_rows([](Row& row) { row.metric = "rate", row.better = "higher"; }), Verdict::broken,
       1, "gone"},
      {"other data", after_rows([](Row& row) { row.data = "zero"; }), Verdict::incomparable, 2,
       "data: typical before, zero after"},
      {"other cache mode", after_rows([](Row& row) { row.cache = "hot"; }), Verdict::incomparable, 2, "cache"},
      {"other work", after_rows([](Row& row) { row.op = text(Op(made_up_gemm(512, 512, 512))); }),
       Verdict::incomparable, 2, "op: "},
      {"other arithmetic", after_rows([](Row& row) { row.executed = "tf32"; }), Verdict::incomparable, 2, "executed"},
      {"other library version", after_rows([](Row& row) { row.method = "madeup 1.3 kernel 7"; }), Verdict::incomparable,
       2, "library: madeup 1.2 before, madeup 1.3 after"},
      {"other card", after_runs([](assay::Run& run) { run.info.devices.front().unique_id = "FAKE-2"; }),
       Verdict::incomparable, 2, "unique id: FAKE-1 before, FAKE-2 after"},
      {"other driver, not declared", after_runs([](assay::Run& run) { run.info.devices.front().driver = "2.0"; }),
       Verdict::incomparable, 2, "driver: 1.0 before, 2.0 after"},
      {"other profile", after_runs([](assay::Run& run) { run.info.profile = "quick"; }), Verdict::incomparable, 2,
       "profile"},
      {"other filter", after_runs([](assay::Run& run) { run.info.filter = "^memory/", remove_product(run); }),
       Verdict::incomparable, 2, "filter: none before, ^memory/ after"},
      {"other program", after_runs([](assay::Run& run) { run.info.program_version = "0.2.0"; }), Verdict::incomparable,
       2, "program version"},
      {"other environment", after_runs([](assay::Run& run) { run.info.environment["CUBLAS_WORKSPACE"] = "1"; }),
       Verdict::incomparable, 2, "environment CUBLAS_WORKSPACE: not recorded before, 1 after"},
      {"memory checking switched", after_runs([](assay::Run& run) {
         run.info.devices.front().facts.push_back({"ecc", std::nullopt, "", "no", "", ""});
       }),
       Verdict::incomparable, 2, "ecc"},
      {"wrong results", after_rows([](Row& row) {
         row.status = Status::mistrusted, row.reason = "element 3 is wrong", row.value.reset();
       }),
       Verdict::broken, 1, "mistrusted: element 3 is wrong"},
      {"failed", after_rows([](Row& row) { row.status = Status::failed, row.reason = "no memory", row.value.reset(); }),
       Verdict::broken, 1, "failed: no memory"},
      {"failed now and then",
       [](GateRuns& runs) {
         for (std::size_t i = 0; i < 2; ++i) {
           Row& row = row_of(runs.after[i], product);
           row.status = Status::failed;
           row.value.reset();
         }
       },
       Verdict::inconclusive, 2, "failed in 2 of 8 runs after"},
      {"thermal throttle", after_rows([](Row& row) { row.conditions = "thermal_throttle"; }), Verdict::unfit, 2,
       "8 of 8 runs after were disturbed (thermal_throttle)"},
      {"other work on the card", after_rows([](Row& row) { row.conditions = "few_samples,other_process"; }),
       Verdict::unfit, 2, "other_process"},
      {"unruly",
       [](GateRuns& runs) {
         for (std::size_t i = 0; i < 8; ++i)
           row_of(runs.after[i], product).value = 2e-3 * (1 + 0.2 * static_cast<double>(i));
       },
       Verdict::unfit, 2, "too unruly"},
      {"planted", after_rows([](Row& row) { row.conditions = "planted"; }), Verdict::unfit, 2, "planted on purpose"},
  };
  return all;
}

class GateFault : public ::testing::TestWithParam<Fault> {};

TEST_P(GateFault, HasItsOwnSentenceAndNeverPasses) {
  GateRuns runs = made_up_runs();
  GetParam().make(runs);
  const Gate found = gate(runs, {});
  const MetricVerdict& one = verdict_of(found, product);
  EXPECT_EQ(text(one.verdict), text(GetParam().verdict)) << one.reason;
  EXPECT_THAT(one.reason, HasSubstr(GetParam().says));
  EXPECT_EQ(exit_code_of(found, {}), GetParam().exit_code);
}

INSTANTIATE_TEST_SUITE_P(All, GateFault, ::testing::ValuesIn(faults()));

TEST(GateFaults, OneDisturbedRunOfEightIsLeftOut) {
  GateRuns runs = made_up_runs();
  Row& row = row_of(runs.after[3], product);
  row.conditions = "other_load";
  row.value = 1;
  const MetricVerdict one = verdict_of(gate(runs, {}), product);
  EXPECT_EQ(one.verdict, Verdict::ok);
  EXPECT_EQ(one.after.values.size(), 7U);
}

TEST(GateFaults, UnequalCountsAreJudged) {
  GateRuns runs = made_up_runs(8, 0.05);
  runs.after.resize(5);
  EXPECT_EQ(verdict_of(gate(runs, {}), product).verdict, Verdict::slower);
}

TEST(GateFaults, AClockThatWandersIsNamedWhereItMatters) {
  GateRuns runs = made_up_runs();
  for (std::size_t i = 0; i < 8; ++i) {
    const double slower = i % 3 == 0 ? 1.04 : 1;
    row_of(runs.after[i], product).value = 2e-3 * slower;
    row_of(runs.after[i], product).clock_hertz = 1.5e9 / slower;
  }
  const MetricVerdict one = verdict_of(gate(runs, {}), product);
  EXPECT_EQ(one.verdict, Verdict::inconclusive);
  EXPECT_THAT(remark(one), HasSubstr("the clock was 1.44 GHz to 1.50 GHz after"));
}

TEST(GateFaults, TwoModesAreNamed) {
  GateRuns runs = made_up_runs();
  for (auto* side : {&runs.before, &runs.after})
    for (std::size_t i = 0; i < 8; i += 2)
      row_of((*side)[i], product).value = *row_of((*side)[i], product).value * 1.06;
  const MetricVerdict one = verdict_of(gate(runs, {}), product);
  EXPECT_NE(one.verdict, Verdict::slower);
  EXPECT_THAT(one.reason, HasSubstr("two groups"));
}

TEST(GateFaults, ADeclaredSubjectMayDifferAndNothingElse) {
  GateRuns runs = made_up_runs();
  each(runs.after, [](assay::Run& run) { run.info.devices.front().driver = "2.0"; });
  GateRules rules;
  rules.allowance.subjects = {"driver"};
  EXPECT_EQ(exit_code_of(gate(runs, rules), rules), 0);
  each(runs.after, [](assay::Run& run) { run.info.devices.front().runtime = "12.9"; });
  EXPECT_EQ(exit_code_of(gate(runs, rules), rules), 2);
  rules.allowance.fields = {"fake:0 runtime"};
  EXPECT_EQ(exit_code_of(gate(runs, rules), rules), 0);
}

TEST(GateFaults, ASideWithTwoDriversIsNoSide) {
  GateRuns runs = made_up_runs();
  runs.after[0].info.devices.front().driver = "2.0";
  GateRules rules;
  rules.allowance.subjects = {"driver"};
  const MetricVerdict one = verdict_of(gate(runs, rules), product);
  EXPECT_EQ(one.verdict, Verdict::incomparable);
  EXPECT_THAT(one.reason, HasSubstr("mixed inside a side"));
}

TEST(GateFaults, TheSameRunOnBothSidesIsRefused) {
  GateRuns runs = made_up_runs();
  runs.after.push_back(runs.before.front());
  EXPECT_THROW(gate(runs, {}), BadInput);
  EXPECT_THROW(gate({{}, runs.after, {}, {}}, {}), BadInput);
}

TEST(GateFaults, PlantedRowsCountOnlyForTestsOfTheGate) {
  GateRuns runs = made_up_runs(8, 0.05);
  each(runs.after, [](assay::Run& run) { row_of(run, product).conditions = "planted"; });
  EXPECT_EQ(verdict_of(gate(runs, {}), product).verdict, Verdict::unfit);
  GateRules rules;
  rules.planted_counts = true;
  EXPECT_EQ(verdict_of(gate(runs, rules), product).verdict, Verdict::slower);
}

TEST(GateFaults, WhatIsNewPassesOnlyWhereThatIsThePolicy) {
  GateRuns runs = made_up_runs();
  each(runs.before, remove_product);
  GateRules rules;
  rules.no_baseline_records = true;
  EXPECT_EQ(exit_code_of(gate(runs, rules), rules), 0);
}

TEST(GateFaults, NothingMeasuredIsNoVerdict) {
  GateRuns runs = made_up_runs();
  for (auto* side : {&runs.before, &runs.after}) each(*side, [](assay::Run& run) { run.rows.clear(); });
  const Gate found = gate(runs, {});
  EXPECT_EQ(exit_code_of(found, {}), 2);
  EXPECT_THAT(summary(found, {}), HasSubstr("nothing was measured"));
}

TEST(GateFaults, BarsThatAreNoBarsAreRefused) {
  for (const char* bar : {"nan", "-0.02", "0", "1", "2", "inf", "", "two", "2 px", "200%"})
    EXPECT_THROW(parse_bar("--bar", bar), BadInput) << bar;
  EXPECT_DOUBLE_EQ(parse_bar("--bar", "2%"), 0.02);
  EXPECT_DOUBLE_EQ(parse_bar("--bar", "0.05"), 0.05);
  EXPECT_DOUBLE_EQ(parse_bar("--bar", "3.5 %"), 0.035);
  EXPECT_THROW(check_bar("bar", std::numeric_limits<double>::quiet_NaN()), BadInput);
}

std::string complaint(const std::string& toml) {
  try {
    parse_metrics(toml, "gate.toml");
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(GateFaults, FilesOfMetricsAreReadStrictly) {
  EXPECT_THAT(complaint("bar = 0.02\n"), HasSubstr("names no metric"));
  EXPECT_THAT(complaint("[[metric]]\ncase = \"(\"\n"), HasSubstr("gate.toml:1: case is no regular expression: ("));
  EXPECT_THAT(complaint("[[metric]]\ncase = \"x\"\nbar = nan\n"), HasSubstr("gate.toml:3: bar must be a share"));
  EXPECT_THAT(complaint("[[metric]]\ncase = \"x\"\nbarr = 1\n"), HasSubstr("did you mean 'bar'?"));
  EXPECT_THAT(complaint("[[metric]]\nmetric = \"seconds\"\n"), HasSubstr("needs a case"));
  EXPECT_THAT(complaint("[[metric]\n"), HasSubstr("gate.toml:1"));
  EXPECT_EQ(complaint("[[metric]]\ncase = \"^gemm/\"\ndevice = \"cuda\"\n"), "");
}

}  // namespace
}  // namespace assay::gate
