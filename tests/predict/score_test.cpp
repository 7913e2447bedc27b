// The scoring tool as a real process, over small made-up files.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/run_program.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

constexpr const char* header =
    "id,kind,model,params,layers,hidden,heads,kv_heads,ffn,vocab,gpu,n_gpu,parallelism,precision,optimizer,technique,"
    "micro_batch,seq_len,context,measured_what,value,unit,source_url,note\n";
constexpr const char* llama = "Llama 2 7B,6738415616,32,4096,32,32,11008,32000,A100,1,,";

class Score : public ::testing::Test {
 protected:
  Ended score(const std::string& rows, const std::vector<std::string>& flags = {}) {
    const auto file = folder_.path() / "cases.csv";
    std::ofstream(file) << rows;
    std::vector<std::string> arguments{file.string()};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return run_program(std::filesystem::path(ASSAY_BINARY_DIR) / "bin" / "assay-score", arguments, {}, folder_.path());
  }
  TemporaryFolder folder_;
};

// 13,476,831,232 bytes of weights are measured as 13.476831232 GB.
TEST_F(Score, FindsNoErrorWhereAPredictionIsExact) {
  const Ended ended = score(std::string(header) + "made-1,infer," + llama +
                            "bf16,,HF transformers,1,,1024,weights,13.476831232,GB,,made up\n");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("infer  weights        made            1      1    0.0   0.0    0.0"));
}

// Twice as much as is needed: off by -50 %, and outside the interval.
TEST_F(Score, CountsWhatLiesOutsideTheInterval) {
  const Ended ended = score(std::string(header) + "made-1,infer," + llama +
                                "bf16,,HF transformers,1,,1024,weights,26.953662464,GB,,made up\n",
                            {"--rows"});
  EXPECT_THAT(ended.out, HasSubstr("-50.0 %"));
  EXPECT_THAT(ended.out, HasSubstr("50.0  50.0   50.0  -50.0   0.0"));
}

TEST_F(Score, SaysWhyARowIsNotJudgedAndFailsWhereTooManyAreNot) {
  const Ended ended = score(std::string(header) + "made-1,infer," + llama +
                            "bits of string,,HF transformers,1,,1024,weights,13,GB,,made up\n");
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, HasSubstr("not judged: its weights, \"bits of string\", are not known"));
}

TEST_F(Score, DoesNotFailOverARowWithoutAnArchitecture) {
  const Ended ended =
      score(std::string(header) + "made-1,infer,Secret,,,,,,,,A100,1,,bf16,,vLLM,1,,1024,weights,13,GB,,made up\n");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("1 not judged: its architecture is not stated"));
}

TEST_F(Score, NamesFileLineAndColumnOfABadNumber) {
  const Ended ended =
      score(std::string(header) + "made-1,infer,X,many,32,1,1,1,1,1,A100,1,,bf16,,HF,1,,1,weights,13,GB,,\n");
  EXPECT_EQ(ended.code, 64);
  EXPECT_THAT(ended.err, HasSubstr("cases.csv, line 2, column \"params\": expected a number, found \"many\""));
}

TEST_F(Score, RefusesAFileWithoutItsColumns) {
  const Ended ended = score("id,kind\nmade-1,infer\n");
  EXPECT_EQ(ended.code, 64);
  EXPECT_THAT(ended.err, HasSubstr("cannot be read as a table of cases"));
}

TEST_F(Score, PrintsJsonOnDemand) {
  const Ended ended = score(std::string(header) + "made-1,infer," + llama +
                                "bf16,,HF transformers,1,,1024,weights,13.476831232,GB,,made up\n",
                            {"--json"});
  EXPECT_THAT(ended.out, HasSubstr("\"judged_share\": 1.0"));
}

}  // namespace
}  // namespace assay
