// Writing a run: whole rows or none, on full disks too, and nothing overwritten unasked.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <limits>

#include "core/error.h"
#include "results/run.h"
#include "tests/results/examples.h"
#include "tests/results/temporary_folder.h"

namespace assay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

RunInfo running() {
  RunInfo info = full_info();
  info.ending = Ending::running;
  return info;
}

// Limits the size of the files this process writes, which is how a disk without space looks to a writer: a short count
// first, an error next. Undone at the end.
class FullDisk {
 public:
  explicit FullDisk(std::uintmax_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_ = {};
};

TEST(RunWriter, WritesWhatTheReaderReads) {
  const TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder.path() / "a" / "run", running(), false);
  Row row = full_row();
  row.run = "the writer knows better";
  row.number = 99;
  row.rank = 0;
  writer.append(row);
  writer.append(row);
  writer.append_samples("gemm/bf16/square/2048", "cpu:0", 1, {0.5, 0.25});
  writer.append_samples("odd, name", "cpu:0", 0, {});
  const auto run = read_run(folder.path() / "a" / "run");
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_EQ(run.rows[0].number, 1);
  EXPECT_EQ(run.rows[1].number, 2);
  EXPECT_EQ(run.rows[1].run, running().id);
  EXPECT_EQ(run.rows[1].reason, full_row().reason);
  EXPECT_EQ(run.info.ending, Ending::running);
  EXPECT_EQ(folder.read("a/run/samples.csv"),
            "case,device,repetition,index,seconds\n"
            "gemm/bf16/square/2048,cpu:0,1,0,0.5\n"
            "gemm/bf16/square/2048,cpu:0,1,1,0.25\n");
}

TEST(RunWriter, KeepsAHundredEvenlySpacedSamples) {
  const TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder.path() / "run", running(), false);
  std::vector<double> seconds;
  for (int i = 0; i < 397; ++i) seconds.push_back(i + 0.5);  // 396 = 4 x 99: every fourth
  writer.append_samples("c", "d", 0, seconds);
  const std::string text = folder.read("run/samples.csv");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 101);
  EXPECT_THAT(text, AllOf(HasSubstr("c,d,0,0,0.5\nc,d,0,4,4.5\nc,d,0,8,8.5\n"), HasSubstr("c,d,0,396,396.5\n")));
}

TEST(RunWriter, OverwritesARunOnlyWhenForced) {
  const TemporaryFolder folder;
  const auto place = folder.path() / "run";
  RunWriter::create(place, running(), false).append(full_row());
  folder.write("run/notes.txt", "mine");
  folder.write("run/ranks/0/results.csv", "of the old run");
  const std::string before = folder.read("run/results.csv");
  EXPECT_THAT(message_of([&] { RunWriter::create(place, running(), false); }),
              AllOf(HasSubstr("already holds a run"), HasSubstr("--force"), HasSubstr("--resume"), HasSubstr("--out")));
  EXPECT_EQ(folder.read("run/results.csv"), before);

  RunInfo other = running();
  other.id = "another";
  RunWriter::create(place, other, true);
  const auto run = read_run(place);
  EXPECT_EQ(run.info.id, "another");
  EXPECT_TRUE(run.rows.empty());
  EXPECT_EQ(folder.read("run/notes.txt"), "mine");  // what is not of a run stays
}

TEST(RunWriter, NeverTouchesARunThatIsBeingWritten) {
  const TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder.path() / "run", running(), false);
  writer.append(full_row());
  EXPECT_THAT(message_of([&] { RunWriter::create(folder.path() / "run", running(), true); }),
              HasSubstr("another assay is writing"));
  EXPECT_THAT(message_of([&] { RunWriter::resume(folder.path() / "run"); }), HasSubstr("another assay is writing"));
  EXPECT_EQ(read_run(folder.path() / "run").rows.size(), 1u);
}

TEST(RunWriter, InAPlaceThatCannotBeWrittenSaysWhatToDo) {
  const TemporaryFolder folder;
  folder.write("file", "no folder");
  EXPECT_THAT(message_of([&] { RunWriter::create(folder.path() / "file" / "run", running(), false); }),
              AllOf(HasSubstr((folder.path() / "file" / "run").string()), HasSubstr("--out")));
  EXPECT_THROW(RunWriter::create("/proc/assay/run", running(), false), BadInput);
  EXPECT_THROW(RunWriter::create("/dev/null", running(), false), BadInput);
}

TEST(RunWriter, OnAFullDiskLosesOnlyTheRowInFlight) {
  const TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder.path() / "run", running(), false);
  writer.append(full_row());
  const std::string before = folder.read("run/results.csv");
  {
    // Room for a part of the next row: the write is short, and its beginning must go again.
    const FullDisk disk(before.size() + 50);
    EXPECT_THAT(message_of([&] { writer.append(full_row()); }),
                AllOf(HasSubstr((folder.path() / "run/results.csv").string()), HasSubstr("File too large")));
    EXPECT_EQ(folder.read("run/results.csv"), before);
  }
  {
    const FullDisk disk(before.size());  // no room at all
    EXPECT_THROW(writer.append(full_row()), Error);
    EXPECT_EQ(folder.read("run/results.csv"), before);
  }
  writer.append(full_row());  // space again: nothing was spoilt, no number was lost
  const auto run = read_run(folder.path() / "run");
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_EQ(run.rows[1].number, 2);
}

TEST(RunWriter, OnAFullDiskKeepsTheOldRunJson) {
  const TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder.path() / "run", running(), false);
  const std::string before = folder.read("run/run.json");
  {
    const FullDisk disk(20);
    RunInfo info = running();
    info.ending = Ending::complete;
    EXPECT_THROW(writer.update(info), Error);
  }
  EXPECT_EQ(folder.read("run/run.json"), before);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "run/run.json.new"));
  EXPECT_EQ(writer.info().ending, Ending::running);
}

TEST(RunWriter, ThatCannotBeginLeavesNothingBehind) {
  const TemporaryFolder folder;
  {
    const FullDisk disk(20);
    EXPECT_THROW(RunWriter::create(folder.path() / "run", running(), false), Error);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "run"));
  RunWriter::create(folder.path() / "run", running(), false);
}

TEST(RunWriter, RefusesARowThatCannotBeReadAndStaysWhole) {
  const TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder.path() / "run", running(), false);
  Row row = full_row();
  row.value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(message_of([&] { writer.append(row); }), HasSubstr("\"value\""));
  EXPECT_THAT(message_of([&] { writer.append_samples("c", "d", 0, {1, *row.value}); }), HasSubstr("sample 1"));
  writer.append(full_row());
  EXPECT_EQ(read_run(folder.path() / "run").rows.size(), 1u);
}

TEST(RunWriter, WritesTheRowsOfACaseTogetherOrNotAtAll) {
  const TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder.path() / "run", running(), false);
  writer.append(full_row());
  Row bad = full_row();
  bad.lower = std::numeric_limits<double>::infinity();
  EXPECT_THROW(writer.append({full_row(), bad}), Error);
  {
    const FullDisk disk(folder.read("run/results.csv").size() + csv_line(full_row()).size() + 20);  // room for one
    EXPECT_THROW(writer.append({full_row(), full_row()}), Error);
  }
  EXPECT_EQ(read_run(folder.path() / "run").rows.size(), 1u);
  writer.append({full_row(), full_row()});
  const auto run = read_run(folder.path() / "run");
  ASSERT_EQ(run.rows.size(), 3u);
  EXPECT_EQ(run.rows[1].number, 2);
  EXPECT_EQ(run.rows[2].number, 3);
}

TEST(RunWriter, ResumesBehindTheLastWholeRow) {
  const TemporaryFolder folder;
  const auto place = folder.path() / "run";
  {
    RunInfo info = running();
    info.ending = Ending::interrupted;
    info.ending_reason = "by hand";
    RunWriter writer = RunWriter::create(place, info, false);
    writer.append(full_row());
    writer.append(full_row());
    writer.append_samples("c", "d", 0, {1, 2});
  }
  std::ofstream(place / "results.csv", std::ios::app) << "1,20261130T120000Z-4f1a,0,3,gem";
  std::ofstream(place / "samples.csv", std::ios::app) << "c,d,0,2,0.00";
  RunWriter writer = RunWriter::resume(place);
  EXPECT_EQ(writer.next_number(), 3);
  EXPECT_EQ(writer.info().id, full_info().id);
  EXPECT_EQ(writer.info().planned, full_info().planned);
  EXPECT_EQ(writer.info().ending, Ending::running);
  EXPECT_EQ(writer.info().ending_reason, "");
  writer.append(full_row());
  writer.append_samples("c", "d", 1, {3});
  const auto run = read_run(place);
  EXPECT_EQ(run.info.ending, Ending::running);
  ASSERT_EQ(run.rows.size(), 3u);
  EXPECT_EQ(run.rows[2].number, 3);
  EXPECT_EQ(folder.read("run/samples.csv"), "case,device,repetition,index,seconds\nc,d,0,0,1\nc,d,0,1,2\nc,d,1,0,3\n");
}

TEST(RunWriter, ResumesARunKilledInItsFirstMoment) {
  const TemporaryFolder folder;
  folder.write("run/run.json", write_run_info(running()));
  folder.write("run/results.csv", "schema,run,ra");
  RunWriter::resume(folder.path() / "run").append(full_row());
  EXPECT_EQ(read_run(folder.path() / "run").rows.size(), 1u);
}

TEST(RunWriter, ResumesOnlyAnUnfinishedRunOfThisVersion) {
  const TemporaryFolder folder;
  EXPECT_THAT(message_of([&] { RunWriter::resume(folder.path() / "nowhere"); }), HasSubstr("holds no run"));
  RunInfo info = running();
  info.ending = Ending::complete;
  RunWriter::create(folder.path() / "done", info, false);
  EXPECT_THAT(message_of([&] { RunWriter::resume(folder.path() / "done"); }), HasSubstr("is complete"));
  RunWriter::create(folder.path() / "newer", running(), false);
  std::string header = csv_header();
  header.insert(header.size() - 1, ",joules");
  folder.write("newer/results.csv", header);
  EXPECT_THAT(message_of([&] { RunWriter::resume(folder.path() / "newer"); }), HasSubstr("another version of Assay"));
  EXPECT_EQ(folder.read("newer/results.csv"), header);
}

TEST(RunWriter, KilledAtAnyMomentLeavesARunThatCanBeReadAndResumed) {
  const TemporaryFolder folder;
  const auto place = folder.path() / "run";
  for (int trial = 0; trial < 20; ++trial) {
    std::filesystem::remove_all(place);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      RunWriter writer = RunWriter::create(place, running(), false);
      for (;;) writer.append(full_row());
    }
    usleep(1000 + 1500u * static_cast<unsigned>(trial));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    if (!std::filesystem::exists(place / "run.json")) continue;  // killed before there was a run
    const auto run = read_run(place);
    EXPECT_TRUE(run.partial);
    for (std::size_t i = 0; i < run.rows.size(); ++i) {
      ASSERT_EQ(run.rows[i].number, static_cast<std::int64_t>(i) + 1);
      ASSERT_EQ(run.rows[i].maximum, full_row().maximum);
    }
    EXPECT_EQ(RunWriter::resume(place).next_number(), static_cast<std::int64_t>(run.rows.size()) + 1);
  }
}

}  // namespace
}  // namespace assay
