// Workloads in files: what is understood, and how strictly.
// SPDX-License-Identifier: Apache-2.0
#include "reports/workload_file.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace assay {
namespace {

std::string complaint(const std::string& toml) {
  try {
    parse_workload(toml, "w.toml");
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(WorkloadFile, FillsTheSameFieldsAsTheFlags) {
  const Workload workload =
      parse_workload("# a chat server\nbatch = 8\ncontext = \"32k\"\nformat = \"fp8\"\nkv = \"fp8\"\n", "w.toml");
  EXPECT_EQ(workload.purpose, Purpose::inference);
  EXPECT_EQ(workload.batch, 8);
  EXPECT_EQ(workload.context, 32768);
  EXPECT_EQ(workload.weights.element, Element::fp8_e4m3);
  EXPECT_EQ(workload.kv.element, Element::fp8_e4m3);
}

TEST(WorkloadFile, AFieldOfTrainingMakesItTraining) {
  const Workload workload = parse_workload("lora = 16\nrecompute = \"full\"\n", "w.toml");
  EXPECT_EQ(workload.purpose, Purpose::training);
  EXPECT_EQ(workload.tuning, Tuning::lora);
  EXPECT_EQ(workload.recompute, Recompute::full);
  EXPECT_NE(complaint("purpose = \"inference\"\nlora = 16\n").find("w.toml:2: lora"), std::string::npos);
}

TEST(WorkloadFile, NamesLineFieldAndTheNearestName) {
  const std::string unknown = complaint("batch = 1\nbtach = 2\n");
  EXPECT_NE(unknown.find("w.toml:2: btach"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("did you mean 'batch'"), std::string::npos) << unknown;
  const std::string word = complaint("optimizer = \"adam\"\n");
  EXPECT_NE(word.find("w.toml:1: optimizer does not know 'adam'"), std::string::npos) << word;
  EXPECT_NE(complaint("batch = 0\n").find("at least 1"), std::string::npos);
  EXPECT_NE(complaint("batch = 1.5\n").find("whole number"), std::string::npos);
  EXPECT_NE(complaint("batch = [1]\n").find("w.toml:1: batch"), std::string::npos);
  EXPECT_NE(complaint("batch = 1\nbatch = 2\n").find("w.toml:2"), std::string::npos);
  EXPECT_NE(complaint("batch =\n").find("w.toml:1"), std::string::npos);
  EXPECT_NE(complaint("[model]\nname = \"x\"\n").find("model"), std::string::npos);
}

TEST(WorkloadFile, NamesTheProgramAndTheLayout) {
  const Workload workload = parse_workload(
      "framework = \"megatron\"\ndata = 2\nzero = 1\ntensor = 8\npipeline = 4\naccumulation = 16\noptimizer = "
      "\"muon\"\n",
      "w.toml");
  EXPECT_EQ(workload.purpose, Purpose::training);
  EXPECT_EQ(workload.framework, Framework::megatron);
  EXPECT_EQ(workload.layout.devices(), 64);
  EXPECT_EQ(workload.layout.zero_stage, 1);
  EXPECT_EQ(workload.accumulation, 16);
  EXPECT_EQ(workload.optimizer, Optimizer::muon);
  EXPECT_NE(complaint("zero = 4\n").find("zero does not know '4'"), std::string::npos);
}

TEST(WorkloadFile, SaysWhichFileIsNotThere) { EXPECT_THROW(read_workload("/no/such/workload.toml"), BadInput); }

}  // namespace
}  // namespace assay
