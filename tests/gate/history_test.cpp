// The history: append-only, held against, moved only with a reason.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/gate/made_up_sides.h"
#include "tests/results/temporary_folder.h"

namespace assay::gate {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

std::vector<assay::Run> result(std::size_t number, double slowdown = 0) {
  std::vector<assay::Run> runs;
  for (std::size_t i = 0; i < 3; ++i) {
    runs.push_back(made_up_card("r" + std::to_string(number), i, (1 + slowdown) * (1 + wobble()[number % 8])));
    runs.back().info.id = std::to_string(number) + "-" + std::to_string(i);
  }
  return runs;
}

Gate add(History& history, const std::vector<assay::Run>& runs, const GateRules& rules = {}) {
  Point point = point_of(runs, rules);
  Gate found = judge_point(history, runs, rules, point);
  history.append(point);
  return found;
}

TEST(GateHistory, BeginsWithoutABaselineAndSaysSo) {
  const TemporaryFolder folder;
  History history(folder.path() / "kept");
  const Gate first = add(history, result(0));
  EXPECT_EQ(verdict_of(first, product).verdict, Verdict::incomparable);
  EXPECT_THAT(verdict_of(first, product).reason, HasSubstr("0 comparable results"));
  EXPECT_EQ(exit_code_of(first, {}), 2);
  GateRules recording;
  recording.no_baseline_records = true;
  EXPECT_EQ(exit_code_of(add(history, result(1), recording), recording), 0);
}

TEST(GateHistory, SurvivesTheProgramAndFindsASlowdown) {
  const TemporaryFolder folder;
  GateRules recording;
  recording.no_baseline_records = true;
  for (std::size_t i = 0; i < 12; ++i) {
    History history(folder.path());  // a new one each time, as after a reboot
    EXPECT_EQ(history.points().size(), i);
    EXPECT_EQ(exit_code_of(add(history, result(i), recording), recording), 0) << i;
  }
  History history(folder.path());
  EXPECT_EQ(exit_code_of(add(history, result(12)), {}), 0);
  const Gate slow = add(history, result(13, 0.05));
  EXPECT_EQ(verdict_of(slow, product).verdict, Verdict::slower);
  EXPECT_EQ(exit_code_of(slow, {}), 1);
  EXPECT_FALSE(History(folder.path()).points().back().accepted);
  // The alarm is no part of the baseline: the same once more is as slow as before.
  EXPECT_EQ(exit_code_of(add(history, result(14, 0.05)), {}), 1);
}

TEST(GateHistory, WithFewResultsAnAlarmIsProvisional) {
  const TemporaryFolder folder;
  History history(folder.path());
  for (std::size_t i = 0; i < 5; ++i) add(history, result(i));
  const Gate slow = add(history, result(5, 0.2));
  EXPECT_EQ(verdict_of(slow, product).verdict, Verdict::inconclusive);
  EXPECT_THAT(verdict_of(slow, product).reason, HasSubstr("provisional"));
}

TEST(GateHistory, AMovedBaselineNeedsAReasonAndBeginsWithTheNewestResult) {
  const TemporaryFolder folder;
  History history(folder.path());
  EXPECT_THROW(history.move_baseline("new driver", "2026-01-01T00:00:00Z"), BadInput);
  for (std::size_t i = 0; i < 12; ++i) add(history, result(i));
  EXPECT_EQ(exit_code_of(add(history, result(12, 0.05)), {}), 1);
  EXPECT_THROW(history.move_baseline("", "2026-01-01T00:00:00Z"), BadInput);
  history.move_baseline("driver 2.0 is 5 % slower, and wanted for its fixes", "2026-01-01T00:00:00Z");
  const History again(folder.path());
  const auto baseline = again.baseline(point_of(result(20), {}).fields, {});
  ASSERT_EQ(baseline.size(), 1U);
  EXPECT_EQ(baseline.front()->runs.front(), "12-0");
}

TEST(GateHistory, KeepsSeriesOfDifferentMachinesApart) {
  const TemporaryFolder folder;
  History history(folder.path());
  for (std::size_t i = 0; i < 12; ++i) add(history, result(i));
  std::vector<assay::Run> other = result(12, 0.5);
  each(other, [](assay::Run& run) { run.info.devices.front().unique_id = "FAKE-2"; });
  const Gate found = add(history, other);
  EXPECT_EQ(verdict_of(found, product).verdict, Verdict::incomparable);
  EXPECT_THAT(found.remarks, Contains(HasSubstr("unique id: FAKE-2, was FAKE-1")));
}

TEST(GateHistory, ADeclaredDriverIsHeldAgainstTheOneBefore) {
  const TemporaryFolder folder;
  History history(folder.path());
  GateRules rules;
  rules.allowance.subjects = {"driver"};
  for (std::size_t i = 0; i < 12; ++i) add(history, result(i));  // whatever was declared then
  std::vector<assay::Run> newer = result(12, 0.05);
  each(newer, [](assay::Run& run) { run.info.devices.front().driver = "2.0"; });
  EXPECT_EQ(exit_code_of(add(history, newer, rules), rules), 1);
}

TEST(GateHistory, WhatIsGoneIsBroken) {
  const TemporaryFolder folder;
  History history(folder.path());
  for (std::size_t i = 0; i < 12; ++i) add(history, result(i));
  std::vector<assay::Run> runs = result(12);
  each(runs, [](assay::Run& run) { std::erase_if(run.rows, [](const Row& row) { return row.case_name == product; }); });
  EXPECT_EQ(verdict_of(add(history, runs), product).verdict, Verdict::broken);
}

TEST(GateHistory, RefusesTheSameRunAgainAndDamagedFiles) {
  const TemporaryFolder folder;
  History history(folder.path());
  add(history, result(0));
  EXPECT_THROW(add(history, result(0)), BadInput);
  const std::string good = folder.read("history.jsonl");
  folder.write("history.jsonl", good + "{\"event\":\"point\",\"schema\":1");
  EXPECT_THAT(History(folder.path()).remarks(), Contains(HasSubstr("torn")));
  EXPECT_EQ(History(folder.path()).points().size(), 1U);
  const auto complaint = [&](const std::string& line) -> std::string {
    folder.write("history.jsonl", good + line + "\n");
    try {
      const History read(folder.path());
    } catch (const BadInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint("nonsense"), HasSubstr("history.jsonl, line 2: "));
  EXPECT_THAT(complaint(R"({"event":"point","schema":9})"), HasSubstr("a newer version of Assay wrote it"));
  EXPECT_THAT(complaint(R"({"event":"baseline","schema":1,"first_point":7})"), HasSubstr("not there"));
}

}  // namespace
}  // namespace assay::gate
