// What fits here: the matrix without a model.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/judge.h"
#include "reports/verdict.h"
#include "tests/reports/made_up_run.h"

namespace assay {
namespace {

using testing::HasSubstr;

const Table& matrix(const Report& report) { return report.sections.at(0).tables.at(0); }

int count(const Table& table, Answer answer) {
  int found = 0;
  for (const auto& row : table.rows)
    for (const Cell& cell : row)
      if (const auto* one = std::get_if<Answer>(&cell)) found += *one == answer ? 1 : 0;
  return found;
}

TEST(Overview, JudgesTwelveModelsByFourUses) {
  const Report report = overview({measured_run(64 * gib)}, "");
  const Table& table = matrix(report);
  EXPECT_EQ(table.rows.size(), 12U);
  EXPECT_EQ(count(table, Answer::fits) + count(table, Answer::tight) + count(table, Answer::does_not_fit), 48);
  EXPECT_EQ(count(table, Answer::not_judged), 0);
  EXPECT_FALSE(report.verdict);
  EXPECT_EQ(exit_code_of(report), 0);
  EXPECT_LE(report.headline.size(), 6U);
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
}

TEST(Overview, FindsMoreWhereThereIsMore) {
  int last = -1;
  for (const double memory : {0.1, 2.0, 16.0, 80.0, 1500.0}) {
    const int fitting = count(matrix(overview({measured_run(memory * gib)}, "")), Answer::fits);
    EXPECT_GT(fitting, last) << memory;
    last = fitting;
  }
}

TEST(Overview, RecommendsOneNextCommand) {
  const auto advice = [](double memory) {
    std::string all;
    for (const Finding& finding : overview({measured_run(memory)}, "").findings) all += finding.advice + "\n";
    return all;
  };
  EXPECT_THAT(advice(20 * gib), HasSubstr("assay report some/run --model llama-3-8b"));
  EXPECT_THAT(advice(0.1 * gib), HasSubstr("--format fp4"));
}

TEST(Overview, WithoutACapacityJudgesNothing) {
  const Report report = overview({made_up_run()}, "");
  EXPECT_EQ(count(matrix(report), Answer::not_judged), 48);
}

}  // namespace
}  // namespace assay
