// The report's part about whole models, from made-up rows.
// SPDX-License-Identifier: Apache-2.0
#include "reports/step_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "reports/catalogue.h"
#include "tests/reports/made_up_run.h"

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void add(Run& run, const std::string& name, const std::string& metric, double value) {
  Row row;
  row.case_name = name;
  row.family = name.substr(0, name.find('/'));
  row.device = "cpu:0";
  row.metric = metric;
  row.value = value;
  run.rows.push_back(row);
}

Run learned_and_stepped() {
  Run run = made_up_run();
  for (const int batch : {1, 4}) {
    const std::string name = "train/gpt2-124m/bf16/" + std::to_string(batch) + "x256";
    add(run, name, "seconds", batch);
    add(run, name, "tokens_per_second", batch == 1 ? 256 : 300);
    add(run, name, "forward_seconds", 0.25 * batch);
    add(run, name, "backward_seconds", 0.5 * batch);
    add(run, name, "planned_bytes", 1 << 30);
  }
  add(run, "derived/over_sum_of_ops/train/gpt2-124m/bf16/4x256", "over_sum_of_ops", 1.05);
  for (const int step : {6, 12}) {
    add(run, "train/learn/bytes/fp32", "loss_after_" + std::to_string(step) + "_steps", 4.0 / step);
    add(run, "train/learn/bytes/bf16", "loss_after_" + std::to_string(step) + "_steps", 4.2 / step);
  }
  add(run, "infer/gpt2-124m/bf16/decode/4x512", "seconds_per_token", 0.02);
  add(run, "infer/gpt2-124m/bf16/decode/4x512", "tokens_per_second", 200);
  return run;
}

Section section_of(const Run& run) { return step_section({run}, run.info.devices.front()); }

const Chart& chart(const Section& section, const std::string& id) {
  return *std::find_if(section.charts.begin(), section.charts.end(), [&](const Chart& one) { return one.id == id; });
}
const Table& table(const Section& section, const std::string& id) {
  return *std::find_if(section.tables.begin(), section.tables.end(), [&](const Table& one) { return one.id == id; });
}

TEST(StepSection, SplitsStepsByPhase) {
  const Section section = section_of(learned_and_stepped());
  const Chart& phases = chart(section, "step_phases");
  EXPECT_THAT(phases.x.labels, ElementsAre("gpt2-124m/bf16/1x256", "gpt2-124m/bf16/4x256"));
  ASSERT_EQ(phases.series.size(), 2U);  // nothing was computed again, and there was no optimizer
  EXPECT_EQ(phases.series[0].name, "forward");
  EXPECT_THAT(phases.series[0].y, ElementsAre(0.25, 1));
  EXPECT_THAT(phases.series[1].y, ElementsAre(0.5, 2));
  EXPECT_THAT(phases.caption, HasSubstr("backward takes up to"));
}

TEST(StepSection, ShowsWhereThroughputStopsGrowing) {
  const Section section = section_of(learned_and_stepped());
  const Chart& batches = chart(section, "step_batches");
  ASSERT_EQ(batches.series.size(), 1U);
  EXPECT_THAT(batches.series[0].x, ElementsAre(1, 4));
  EXPECT_THAT(batches.series[0].y, ElementsAre(256, 300));
  EXPECT_THAT(batches.caption, HasSubstr("fastest at 4"));
}

TEST(StepSection, DrawsLossCurvesInTheOrderOfSteps) {
  const Section section = section_of(learned_and_stepped());
  const Chart& losses = chart(section, "loss_curves");
  ASSERT_EQ(losses.series.size(), 2U);
  EXPECT_EQ(losses.series[0].name, "bytes/bf16");
  EXPECT_THAT(losses.series[0].x, ElementsAre(6, 12));
  const Table& last = table(section, "losses");
  // 4.2 / 12 over 4 / 12
  EXPECT_NEAR(std::get<Quantity>(last.rows.at(0).at(3)).value.value(), 1.05, 1e-12);
}

TEST(StepSection, TellsStepsAgainstTheirOpsAndServing) {
  const Section section = section_of(learned_and_stepped());
  const Table& steps = table(section, "training_steps");
  ASSERT_EQ(steps.rows.size(), 2U);
  EXPECT_EQ(std::get<Quantity>(steps.rows[1][4]).value.value(), 1.05);
  const Table& serving = table(section, "serving");
  ASSERT_EQ(serving.rows.size(), 1U);
  EXPECT_EQ(std::get<Quantity>(serving.rows[0][2]).value.value(), 0.02);
}

// 3 x the published flops of a second, in 4 s: three quarters of what is published (H100 SXM: 989.4 dense in BF16).
TEST(StepSection, ComparesWithThePublishedPeakOfACardItKnows) {
  auto run = learned_and_stepped();
  run.info.devices.front().name = "NVIDIA H100 80GB HBM3";
  const std::string name = "train/gpt2-124m/bf16/4x256";
  for (Row& row : run.rows) row.precision = "bf16";
  const double published = *peak(*recognise_gpu("NVIDIA H100 80GB HBM3"), Element::bf16);
  EXPECT_NEAR(published, 989.4e12, 0.2e12);
  add(run, name, "model_flops", 3 * published);
  const Section section = section_of(run);
  const Table& steps = table(section, "training_steps");
  EXPECT_EQ(steps.columns.at(4), "Of published");
  EXPECT_NEAR(std::get<Quantity>(steps.rows.at(1).at(4)).value.value(), 0.75, 1e-12);
  EXPECT_EQ(std::get<std::string>(steps.rows.at(0).at(4)), "");  // flops were not counted: no number
  const Section unknown = section_of(learned_and_stepped());
  EXPECT_THAT(table(unknown, "training_steps").columns, Not(Contains("Of published")));
}

TEST(StepSection, ShowsMemoryByWhoCountsItAndTheMomentOfThePeak) {
  auto run = learned_and_stepped();
  const std::string name = "train/gpt2-124m/bf16/4x256";
  add(run, name, "live_peak_bytes", 900);
  add(run, name, "allocated_bytes", (1 << 30) + 64);
  add(run, name, "allocated_beyond_planned_bytes", 64);
  add(run, name, "live_peak_weight_bytes", 300);
  add(run, name, "live_peak_activation_bytes", 600);
  add(run, name, "live_peak_step", 212);
  run.rows.back().method = "backward";
  const Section section = section_of(run);
  const Table& memory = table(section, "step_memory");
  ASSERT_EQ(memory.rows.size(), 1U);  // the other cases do not tell
  EXPECT_EQ(std::get<Quantity>(memory.rows[0].at(1)).value.value(), 900);
  EXPECT_EQ(std::get<Quantity>(memory.rows[0].at(4)).value.value(), 64);
  EXPECT_EQ(std::get<std::string>(memory.rows[0].at(6)), "");  // a device that does not tell is not a device with 0
  const Table& peaks = table(section, "step_peaks");
  EXPECT_THAT(peaks.columns, ElementsAre("Case", "weight", "activation", "Moment"));
  EXPECT_EQ(std::get<Quantity>(peaks.rows.at(0).at(2)).value.value(), 600);
  EXPECT_EQ(std::get<std::string>(peaks.rows.at(0).at(3)), "212, backward");
}

TEST(StepSection, IsEmptyWhereNothingOfItWasMeasured) {
  const Section section = section_of(made_up_run());
  EXPECT_TRUE(section.tables.empty());
  EXPECT_TRUE(section.charts.empty());
}

}  // namespace
}  // namespace assay
