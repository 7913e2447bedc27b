// The real program and what it says to good and bad command lines.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "tests/run_program.h"

namespace assay {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CommandLine : public testing::Test {
 protected:
  Ended assay(const std::vector<std::string>& arguments, std::vector<std::string> environment = {"LANG=C.UTF-8"}) {
    return run_program(std::filesystem::path(ASSAY_BINARY_DIR) / "bin/assay", arguments, environment, folder_.path());
  }
  std::filesystem::path file(const std::string& name, const std::string& content) {
    std::ofstream(folder_.path() / name, std::ios::binary) << content;
    return folder_.path() / name;
  }
  // Expects exit code 64, one sentence on standard error that holds `words`, and nothing on standard output.
  void refuses(const std::vector<std::string>& arguments, const std::string& words) {
    const Ended ended = assay(arguments);
    EXPECT_EQ(ended.code, 64) << ended.out << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(words));
    EXPECT_THAT(ended.out, IsEmpty());
  }
  TemporaryFolder folder_;
};

TEST_F(CommandLine, AloneSaysWhatItSeesAndTheNextCommand) {
  const Ended ended = assay({});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("cores may be used"));
  EXPECT_THAT(ended.out, HasSubstr("Next: assay "));
}

TEST_F(CommandLine, HelpAndVersionAreNotErrors) {
  EXPECT_EQ(assay({"--help"}).code, 0);
  EXPECT_THAT(assay({"--version"}).out, ContainsRegex("^assay [0-9]+\\.[0-9]+\\.[0-9]+ "));
  EXPECT_THAT(assay({"run", "--help"}).out, HasSubstr("--budget"));
}

TEST_F(CommandLine, UnknownWordsGetASentenceWithTheNearestOne) {
  refuses({"reprot"}, "did you mean 'report'");
  refuses({"run", "--profile", "quik"}, "did you mean 'quick'");
  refuses({"list", "modles"}, "did you mean 'models'");
  refuses({"run", "--no-such-option"}, "run does not know '--no-such-option'");
  refuses({"run", "--budgt=10m"}, "did you mean '--budget'");
  refuses({"report", "folder", "--modle", "gpt2"}, "report does not know '--modle', did you mean '--model'");
  refuses({"--no-such-option"}, "there is no option '--no-such-option'");
  refuses({"list", "models", "gpus"}, "list does not know 'gpus'");
  refuses({"--color", "red"}, "one of: auto, always, never");
}

TEST_F(CommandLine, RunTakesGoogleBenchmarksFlags) {
  const Ended listed = assay({"run", "--device", "cpu", "--benchmark_list_tests", "--filter", "^cpu:0/launch|launch/"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_THAT(listed.out, HasSubstr("launch/"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "runs")) << "a list leaves no run";
  refuses({"run", "--benchmark_min_time=1s"}, "--benchmark_min_time");
}

TEST_F(CommandLine, ACommandWithoutWhatItNeedsSaysWhatThatIs) {
  refuses({"list"}, "list needs WHAT: devices, benchmarks, models");
  refuses({"report"}, "report needs RUNS: ");
  refuses({"report"}, "Try: assay report --help");
}

TEST_F(CommandLine, ImpossibleValuesAreRefused) {
  refuses({"run", "--budget", "0"}, "not a duration");
  refuses({"run", "--budget", "tomorrow"}, "90s, 10m or 1.5h");
  refuses({"run", "--budget", "nan"}, "not a duration");
  refuses({"run", "--budget", "1e300"}, "not a duration");
  refuses({"run", "--repeat", "-1"}, "--repeat");
  refuses({"run", "--repeat", "2.5"}, "--repeat");
  refuses({"run", "--label", "novalue"}, "--label");
  refuses({"run", "--filter", "("}, "(");
  refuses({"run", "--device", "gpu7", "--filter", "launch"}, "gpu7");
}

TEST_F(CommandLine, MissingAndForeignRunsAreRefused) {
  refuses({"report"}, "report needs RUNS");
  refuses({"report", "no-such-run"}, "no-such-run");
  file("picture.tgz", "not an archive");
  refuses({"report", "picture.tgz"}, "picture.tgz");
  std::filesystem::create_directory(folder_.path() / "empty");
  refuses({"report", "empty"}, "run.json");
}

TEST_F(CommandLine, TheModelIsLookedAtBeforeAnythingIsMeasured) {
  refuses({"evaluate", "--model", "llama-3-8c"}, "llama-3-8b");
  refuses({"evaluate", "--batch", "4"}, "--model");
  refuses({"evaluate", "--claim", "8x H10O"}, "did you mean 'H100'");
  refuses({"evaluate", "--price", "3EUR/h"}, "dollars an hour");
  refuses({"accept"}, "accept needs a run");
  refuses({"accept", "--explain", "product-band"}, "did you mean 'products-band'");
  refuses({"compare", "no-such-run", "other"}, "no-such-run");
}

TEST_F(CommandLine, ListsModelsQuicklyAndByTheDozen) {
  const auto start = std::chrono::steady_clock::now();
  const Ended ended = assay({"list", "models"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("llama-3-8b"));
  EXPECT_THAT(ended.out, HasSubstr("8,030,261,248"));
  EXPECT_GE(std::count(ended.out.begin(), ended.out.end(), '\n'), 40);
  EXPECT_LT(took.count(), 5) << "a list opens no math library";  // 50 ms on a quiet machine
}

TEST_F(CommandLine, ListsProfilesAndBenchmarks) {
  EXPECT_THAT(assay({"list", "profiles"}).out, ContainsRegex("quick .*\n(.*\n)*full "));
  EXPECT_THAT(assay({"list", "benchmarks"}).out, ContainsRegex("gemm "));
}

TEST_F(CommandLine, DoctorFindsTheProcessor) {
  const Ended ended = assay({"doctor"});
  EXPECT_THAT(ended.out, HasSubstr("cpu:0"));
  EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
}

TEST_F(CommandLine, PlainAsciiWhereTheLocaleIsNotUtf8) {
  const Ended ended = assay({"doctor"}, {"LANG=C"});
  for (const char c : ended.out) ASSERT_LT(static_cast<unsigned char>(c), 0x80);
}

TEST_F(CommandLine, ColourOnlyWhenAskedFor) {
  EXPECT_THAT(assay({"--color", "always", "doctor"}).out, HasSubstr("\x1b["));
  EXPECT_THAT(assay({"--color", "never", "doctor"}).out, Not(HasSubstr("\x1b[")));
}

TEST_F(CommandLine, MeasuresAndReportsInFourFormats) {
  const Ended measured =
      assay({"run", "--device", "cpu", "--filter", "^gemm/fp32/square/256$|^launch/", "--out", "one"});
  ASSERT_EQ(measured.code, 0) << measured.out << measured.err;
  const Ended again = assay({"run", "--device", "cpu", "--filter", "^launch/", "--out", "one"});
  EXPECT_EQ(again.code, 64);
  EXPECT_THAT(again.err, HasSubstr("--force"));

  const Ended judged = assay(
      {"report", "one", "--model", "gpt2", "--out", "r.html", "--out", "r.md", "--out", "r.json", "--out", "r.txt"});
  EXPECT_LE(judged.code, 2) << judged.err;
  EXPECT_LE(std::count(judged.out.begin(), judged.out.end(), '\n'), 24);
  for (const char* name : {"r.html", "r.md", "r.json", "r.txt"}) {
    EXPECT_GT(std::filesystem::file_size(folder_.path() / name), 500U) << name;
  }
  refuses({"report", "one", "--model", "gpt2", "--out", "r.html"}, "--force");
  refuses({"report", "one", "--model", "gpt2", "--out", "r.docx"}, ".html, .md, .json or .txt");
  refuses({"report", "one", "--model", "gpt2", "--out", "nowhere/r.html"}, "no folder");
}

TEST_F(CommandLine, AFullDeviceEndsWithSeventyAndASentence) {
  const Ended measured = assay({"run", "--device", "cpu", "--filter", "^launch/", "--out", "one"});
  ASSERT_EQ(measured.code, 0) << measured.err;
  std::filesystem::create_symlink("/dev/full", folder_.path() / "r.json.part");
  const Ended judged = assay({"report", "one", "--out", "r.json"});
  EXPECT_EQ(judged.code, 70);
  EXPECT_THAT(judged.err, HasSubstr("No space left"));
}

}  // namespace
}  // namespace assay
