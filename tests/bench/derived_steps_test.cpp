// What follows from whole steps, worked by hand.
// SPDX-License-Identifier: Apache-2.0
#include "bench/derived_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "bench/cases.h"
#include "bench/profile.h"
#include "core/op.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

DeviceInfo processor() {
  DeviceInfo device;
  device.id = "cpu:0";
  device.backend = "cpu";
  device.compute_units = 2;
  device.memory_available = std::int64_t{64} << 30;
  return device;
}

Row row_of(const std::string& name, const std::string& metric, double value, const std::string& op = "") {
  Row row;
  row.case_name = name;
  row.family = name.substr(0, name.find('/'));
  row.device = "cpu:0";
  row.precision = "bf16";
  row.data = "typical";
  row.metric = metric;
  row.value = value;
  row.op = op;
  return row;
}

const Row* find(const std::vector<Row>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.case_name == name; });
  return found == rows.end() ? nullptr : &*found;
}

TEST(DerivedSteps, UtilisationIsModelFlopsOverTheFastestProduct) {
  const std::string name = "train/gpt2-124m/bf16/4x256";
  std::vector<Row> rows = {row_of(name, "seconds", 2), row_of(name, "model_flops", 6e11),
                           row_of("gemm/bf16/square/1024", "flops_per_second", 4e11),
                           row_of("gemm/bf16/square/2048", "flops_per_second", 5e11)};
  const auto derived = derived_step_rows(rows, processor(), rows.front().repetition);
  const Row* utilisation = find(derived, "derived/model_flops_utilisation/" + name);
  ASSERT_NE(utilisation, nullptr);
  EXPECT_DOUBLE_EQ(utilisation->value.value(), 0.6);  // 6e11 / 2 / 5e11
  EXPECT_THAT(utilisation->method, HasSubstr("causal half"));
  EXPECT_THAT(utilisation->method, HasSubstr("gemm/bf16/square/2048"));
  rows[1].value = 6e12;  // six times what products can do
  EXPECT_EQ(
      find(derived_step_rows(rows, processor(), rows.front().repetition), "derived/model_flops_utilisation/" + name)
          ->status,
      Status::mistrusted);
}

TEST(DerivedSteps, AStepIsComparedWithTheSumOfItsOps) {
  std::vector<Case> cases = step_cases(processor(), ProfileKind::standard);
  const auto step = std::find_if(cases.begin(), cases.end(), [](const Case& item) { return item.whole_step; });
  ASSERT_NE(step, cases.end());
  // Every op takes 1 ms alone, the step 1.05 ms for each of its ops.
  std::vector<Row> rows;
  for (const Case& item : cases) {
    if (item.whole_step) continue;
    rows.push_back(row_of(item.name, "seconds", 1e-3, text(item.work.steps.front().op)));
  }
  ASSERT_GT(rows.size(), 20U);
  rows.push_back(row_of(step->name, "seconds", 1.05e-3 * static_cast<double>(step->work.steps.size())));
  const auto derived = derived_step_rows(rows, processor(), rows.front().repetition);
  const Row* ratio = find(derived, "derived/over_sum_of_ops/" + step->name);
  ASSERT_NE(ratio, nullptr);
  EXPECT_NEAR(ratio->value.value(), 1.05, 1e-9);
  EXPECT_EQ(ratio->conditions, "");
  // One op that shared the machine makes the sum too long, and the ratio too good: that is said.
  rows.front().conditions = "other_load";
  rows.back().conditions = "few_samples";
  const auto disturbed = derived_step_rows(rows, processor(), rows.front().repetition);
  EXPECT_EQ(find(disturbed, "derived/over_sum_of_ops/" + step->name)->conditions, "few_samples,other_load");
  // An op without a time: nothing follows.
  rows.erase(rows.begin());
  EXPECT_EQ(
      find(derived_step_rows(rows, processor(), rows.front().repetition), "derived/over_sum_of_ops/" + step->name),
      nullptr);
}

TEST(DerivedSteps, ALatencyTargetCapsTheBatch) {
  const std::string name = "infer/gpt2-124m/bf16/decode/";
  const std::vector<Row> rows = {row_of(name + "1x512", "seconds_per_token", 0.02),
                                 row_of(name + "4x512", "seconds_per_token", 0.049),
                                 row_of(name + "16x512", "seconds_per_token", 0.06)};
  const auto derived = derived_step_rows(rows, processor(), rows.front().repetition);
  ASSERT_EQ(derived.size(), 1U);
  EXPECT_EQ(derived.front().value.value(), 4);
}

TEST(DerivedSteps, EnergyIsPowerOverTokensASecond) {
  const std::string name = "train/gpt2-124m/bf16/4x256";
  Row seconds = row_of(name, "seconds", 2);
  seconds.power_watts = 100;
  const std::vector<Row> rows = {seconds, row_of(name, "tokens_per_second", 512)};
  const auto derived = derived_step_rows(rows, processor(), seconds.repetition);
  const Row* energy = find(derived, "derived/energy_per_token/" + name);
  ASSERT_NE(energy, nullptr);
  EXPECT_DOUBLE_EQ(energy->value.value(), 100.0 / 512);
  EXPECT_EQ(energy->unit, "J/token");
}

}  // namespace
}  // namespace assay
