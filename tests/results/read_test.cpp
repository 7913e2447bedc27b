// Reading a run folder: whole, partial, of many ranks, mixed up, or no run at all.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.h"
#include "results/run.h"
#include "tests/results/examples.h"
#include "tests/results/temporary_folder.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string message_of(const std::filesystem::path& path) {
  try {
    read_run(path);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "nothing was thrown";
}

Row row_of(int rank, std::int64_t number, const std::string& name) {
  Row row = full_row();
  row.rank = rank;
  row.number = number;
  row.case_name = name;
  return row;
}

RunInfo ended(Ending ending) {
  RunInfo info = full_info();
  info.ending = ending;
  info.ending_reason.clear();
  return info;
}

// Both planned cases have their row.
std::string both_rows() {
  return csv_header() + csv_line(row_of(0, 1, "gemm/bf16/square/2048")) +
         csv_line(row_of(0, 2, "gemm/fp32/square/2048"));
}

TEST(ReadRun, ThatIsCompleteHasNothingToRemark) {
  const TemporaryFolder folder;
  folder.write("run.json", write_run_info(ended(Ending::complete)));
  folder.write("results.csv", both_rows());
  const auto run = read_run(folder.path());
  EXPECT_EQ(run.rows.size(), 2u);
  EXPECT_FALSE(run.partial);
  EXPECT_THAT(run.remarks, IsEmpty());
  EXPECT_EQ(run.info.id, full_info().id);
  EXPECT_EQ(run.path, folder.path());
}

TEST(ReadRun, CountsPlannedCasesWithoutARow) {
  const TemporaryFolder folder;
  folder.write("run.json", write_run_info(ended(Ending::complete)));
  folder.write("results.csv", csv_header() + csv_line(row_of(0, 1, "gemm/bf16/square/2048")));
  const auto run = read_run(folder.path());
  EXPECT_TRUE(run.partial);
  EXPECT_THAT(run.remarks, ElementsAre("1 of 2 planned cases have no row."));
}

TEST(ReadRun, IsPartialUnlessItEndedByItself) {
  const TemporaryFolder folder;
  folder.write("results.csv", both_rows());
  struct Expected {
    Ending ending;
    bool partial;
    const char* remark;
  };
  for (const Expected& expected :
       {Expected{Ending::running, true, "The run was killed before it ended; what it had found is here."},
        Expected{Ending::budget, true, "The run ended at its time budget."},
        Expected{Ending::interrupted, true, "The run was interrupted."},
        Expected{Ending::failed, false, "The run ended by a fault."}}) {
    folder.write("run.json", write_run_info(ended(expected.ending)));
    const auto run = read_run(folder.path());
    EXPECT_EQ(run.partial, expected.partial);
    EXPECT_THAT(run.remarks, ElementsAre(expected.remark));
  }
}

TEST(ReadRun, TellsARunThatGoesOnFromOneThatWasKilled) {
  const TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder.path() / "run", ended(Ending::running), false);
  EXPECT_THAT(read_run(folder.path() / "run").remarks, Contains(HasSubstr("still going on")));
}

TEST(ReadRun, KilledBeforeItsFirstRowIsReadable) {
  const TemporaryFolder folder;
  folder.write("run.json", write_run_info(ended(Ending::running)));
  auto run = read_run(folder.path());
  EXPECT_TRUE(run.partial);
  EXPECT_THAT(run.remarks, Contains(HasSubstr("has no results.csv")));
  folder.write("results.csv", "");
  run = read_run(folder.path());
  EXPECT_TRUE(run.rows.empty());
  EXPECT_THAT(run.remarks, Contains(HasSubstr("has no rows")));
}

TEST(ReadRun, OfManyRanksHoldsAllTheirRows) {
  const TemporaryFolder folder;
  folder.write("run.json", write_run_info(ended(Ending::complete)));
  folder.write("ranks/0/results.csv", csv_header() + csv_line(row_of(0, 1, "gemm/bf16/square/2048")));
  folder.write("ranks/2/results.csv", csv_header() + csv_line(row_of(2, 1, "gemm/bf16/square/2048")));
  folder.write("ranks/10/results.csv", csv_header() + csv_line(row_of(10, 1, "gemm/fp32/square/2048")));
  folder.write("ranks/notes/results.csv", "not a rank");
  const auto run = read_run(folder.path());
  ASSERT_EQ(run.rows.size(), 3u);
  EXPECT_EQ(run.rows[0].rank, 0);
  EXPECT_EQ(run.rows[1].rank, 2);
  EXPECT_EQ(run.rows[2].rank, 10);
  EXPECT_FALSE(run.partial);
}

TEST(ReadRun, WhoseRanksAloneWroteJoinsWhatTheySay) {
  const TemporaryFolder folder;
  RunInfo info = ended(Ending::complete);
  info.planned = {"cpu:0 gemm/bf16/square/2048"};
  folder.write("ranks/0/run.json", write_run_info(info));
  folder.write("ranks/0/results.csv", csv_header() + csv_line(row_of(0, 1, "gemm/bf16/square/2048")));
  info.planned = {"cpu:0 gemm/fp32/square/2048"};
  info.ending = Ending::interrupted;
  folder.write("ranks/1/run.json", write_run_info(info));
  folder.write("ranks/1/results.csv", csv_header() + csv_line(row_of(1, 1, "gemm/fp32/square/2048")));
  const auto run = read_run(folder.path());
  EXPECT_EQ(run.rows.size(), 2u);
  EXPECT_EQ(run.info.planned.size(), 2u);
  EXPECT_EQ(run.info.devices.size(), 2u);
  EXPECT_EQ(run.info.ending, Ending::interrupted);
  EXPECT_TRUE(run.partial);
}

TEST(ReadRun, MixedFromTwoRunsOrRanksIsRefusedByLine) {
  const TemporaryFolder folder;
  folder.write("run.json", write_run_info(ended(Ending::complete)));
  Row stranger = row_of(0, 2, "gemm/fp32/square/2048");
  stranger.run = "another";
  folder.write("results.csv", csv_header() + csv_line(row_of(0, 1, "a")) + csv_line(stranger));
  EXPECT_THAT(message_of(folder.path()),
              AllOf(HasSubstr("results.csv, line 3, column \"run\""), HasSubstr("\"another\"")));
  folder.write("results.csv", both_rows());
  folder.write("ranks/1/results.csv", both_rows());
  EXPECT_THAT(message_of(folder.path()), AllOf(HasSubstr("ranks/1/results.csv, line 2, column \"rank\""),
                                               HasSubstr("expected 1, as in the folder's name, found 0")));
}

TEST(ReadRun, ThatIsNoneSaysWhatToName) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of(folder.path()), AllOf(HasSubstr("holds no run"), HasSubstr("run.json"), HasSubstr(".tgz")));
  EXPECT_THAT(message_of(folder.path() / "nowhere"), HasSubstr("there is no "));
  folder.write("results.csv", both_rows());
  EXPECT_THAT(message_of(folder.path()), HasSubstr("there is no run.json in it"));
  EXPECT_THAT(message_of(folder.path() / "results.csv"),
              AllOf(HasSubstr("one file of a run"), HasSubstr("name its folder, " + folder.path().string())));
  EXPECT_THAT(message_of("/dev/null"), HasSubstr("neither a folder nor a file"));
}

TEST(ReadRun, RefusesFilesLargerThanAnyRun) {
  const TemporaryFolder folder;
  folder.write("run.json", write_run_info(ended(Ending::complete)));
  folder.write("results.csv", "");
  ASSERT_EQ(truncate((folder.path() / "results.csv").c_str(), 10'000'000'000), 0);  // a hole: it takes no space
  EXPECT_THAT(message_of(folder.path()), AllOf(HasSubstr("results.csv"), HasSubstr("10000000000 bytes")));
  ASSERT_EQ(truncate((folder.path() / "run.json").c_str(), 10'000'000'000), 0);
  EXPECT_THAT(message_of(folder.path()), AllOf(HasSubstr("run.json"), HasSubstr("10000000000 bytes")));
}

TEST(ReadRun, DoesNotHangOnAPipeThatPosesAsAFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder.path() / "run.json").c_str(), 0600), 0);
  EXPECT_THAT(message_of(folder.path()), HasSubstr("it is not a plain file"));
}

TEST(ReadRun, NamesFileLineAndColumnOfABadValue) {
  const TemporaryFolder folder;
  folder.write("run.json", write_run_info(ended(Ending::complete)));
  std::string text = both_rows();
  const auto place = text.rfind("mistrusted");
  folder.write("results.csv", text.replace(place, 10, "perfect"));
  EXPECT_THAT(message_of(folder.path()),
              AllOf(HasSubstr((folder.path() / "results.csv").string() + ", line 3, column \"status\""),
                    HasSubstr("found \"perfect\"")));
}

}  // namespace
}  // namespace assay
