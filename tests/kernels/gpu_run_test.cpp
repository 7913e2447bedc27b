// The real program, from planning to rows, on the pretended GPU.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "results/run.h"
#include "tests/run_program.h"

namespace assay {
namespace {

using testing::HasSubstr;

class RunOnPretendedGpu : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path plugins = folder_.path() / "plugins";
    std::filesystem::create_directory(plugins);
    std::filesystem::create_symlink(std::filesystem::path(ASSAY_BINARY_DIR) / "test-plugins/assay_hostgpu.so",
                                    plugins / "assay_hostgpu.so");
  }
  Ended program(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--plugins", (folder_.path() / "plugins").string()});
    return run_program(std::filesystem::path(ASSAY_BINARY_DIR) / "bin/assay", arguments, {"LANG=C.UTF-8"},
                       folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(RunOnPretendedGpu, MeasuresACaseOfEachFamily) {
  const Ended ended =
      program({"run", "--device", "hostgpu", "--profile", "quick", "--out", "run", "--filter",
               "^(launch/(kernel|graph|synchronise)|transfer/(host_to_device|device_to_host)/(pinned|pageable)/64KiB|"
               "transfer/both_ways/pinned/.*|transfer/within_device/(engine|kernel)/.*|capacity/"
               "(limits|rounding|integrity))$"});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  const assay::Run run = read_run(folder_.path() / "run");
  EXPECT_EQ(run.info.ending, Ending::complete);
  std::map<std::string, int> rows;
  for (const Row& row : run.rows) {
    EXPECT_EQ(row.status, Status::ok) << row.case_name << ": " << row.reason;
    EXPECT_EQ(row.device, "hostgpu:0");
    ++rows[row.family];
  }
  EXPECT_GE(rows["transfer"], 7);
  EXPECT_GE(rows["launch"], 3);
  EXPECT_GE(rows["capacity"], 4);
}

TEST_F(RunOnPretendedGpu, IsListedByDoctor) {
  const Ended ended = program({"doctor"});
  EXPECT_THAT(ended.out, HasSubstr("hostgpu:0  Pretended device")) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("pretended library 1.0"));
}

}  // namespace
}  // namespace assay
