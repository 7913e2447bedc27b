// What was asked for and really ran, beside its prediction.
// SPDX-License-Identifier: Apache-2.0
#include "reports/asked_section.h"

#include <gtest/gtest.h>

#include "reports/workload.h"

namespace assay {
namespace {

Run run_with(const std::string& name, const std::string& metric, double value) {
  Run run;
  Row row;
  row.case_name = name;
  row.family = "train";
  row.device = "cpu:0";
  row.metric = metric;
  row.value = value;
  row.status = Status::ok;
  run.rows.push_back(row);
  return run;
}

std::optional<Section> section(const Run& run, std::int64_t context = 128) {
  DeviceInfo device;
  device.id = "cpu:0";
  device.backend = "cpu";
  const ModelSpec model = find_model("gpt2");
  Workload workload = default_workload(Purpose::training);
  workload.context = context;
  const std::vector<Run> runs{run};
  return asked_section(runs, device, model, resolve(workload, model), Rates(runs, device.id), {});
}

TEST(AskedSection, SetsMemoryBesideItsPrediction) {
  const auto made = section(run_with("asked/train/gpt2/bf16/2x128", "allocated_bytes", 2e9));
  ASSERT_TRUE(made);
  const Table& table = made->tables.front();
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "batch 2: memory of tensors");
  const auto& predicted = std::get<Quantity>(table.rows[0][1]);
  // 124,439,808 parameters x 16 bytes (2 + 2 + 12) are 1.99 GB before any activation.
  EXPECT_GT(*predicted.value, 1.99e9);
  EXPECT_EQ(*std::get<Quantity>(table.rows[0][2]).value, 2e9);
  EXPECT_EQ(made->paragraphs.front(), "The largest batch that ran: 2.");
}

TEST(AskedSection, IsAbsentForAnotherContextModelOrPurpose) {
  EXPECT_FALSE(section(run_with("asked/train/gpt2/bf16/2x128", "allocated_bytes", 2e9), 256));
  EXPECT_FALSE(section(run_with("asked/train/gpt2-xl/bf16/2x128", "allocated_bytes", 2e9)));
  EXPECT_FALSE(section(run_with("asked/infer/gpt2/bf16/decode/2x128", "allocated_bytes", 2e9)));
}

TEST(AskedSection, SaysWhyAStepDidNotRun) {
  auto run = run_with("asked/train/gpt2/bf16/64x128", "seconds", 1);
  run.rows[0].status = Status::failed;
  run.rows[0].value.reset();
  run.rows[0].reason = "out of memory: 30 GB are needed";
  const auto made = section(run);
  ASSERT_TRUE(made);
  EXPECT_EQ(std::get<std::string>(made->tables[0].rows[0][3]), "failed: out of memory: 30 GB are needed");
}

}  // namespace
}  // namespace assay
