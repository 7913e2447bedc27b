// The real program on runs on disk: exit codes, files, policies, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/gate/sides_on_disk.h"
#include "tests/run_program.h"

namespace assay::gate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class GateCommand : public ::testing::Test {
 protected:
  Ended assay(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
    environment.emplace_back("LANG=C.UTF-8");
    arguments.insert(arguments.begin(), "gate");
    return run_program(std::filesystem::path(ASSAY_BINARY_DIR) / "bin/assay", arguments, environment, folder_.path());
  }
  Ended sides(std::vector<std::string> more = {}, std::vector<std::string> environment = {}) {
    std::vector<std::string> all{"--before", "before", "--after", "after"};
    all.insert(all.end(), more.begin(), more.end());
    return assay(all, std::move(environment));
  }
  void write(double slowdown, std::size_t runs = 8) { write_sides(folder_.path(), slowdown, runs, 0); }
  void refuses(const std::vector<std::string>& arguments, const std::string& words) {
    const Ended ended = assay(arguments);
    EXPECT_EQ(ended.code, 64) << ended.out << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(words));
    EXPECT_THAT(ended.out, IsEmpty());
  }
  std::filesystem::path at(const std::string& name) const { return folder_.path() / name; }

  assay::TemporaryFolder folder_;
};

TEST_F(GateCommand, EndsWith0Or1Or2) {
  write(0);
  EXPECT_EQ(sides().code, 0);
  EXPECT_THAT(sides().out, HasSubstr("The gate passed: 4 OK"));
  write(0.05);
  const Ended slower = sides();
  EXPECT_EQ(slower.code, 1);
  EXPECT_THAT(slower.out, HasSubstr("SLOWER: fake:0 gemm/bf16/square/1024: worse by 5"));
  std::filesystem::remove_all(at("before"));
  std::filesystem::remove_all(at("after"));
  write(0, 2);
  EXPECT_EQ(sides().code, 2);
  EXPECT_EQ(sides({"--inconclusive", "pass"}).code, 0);
}

TEST_F(GateCommand, WritesEveryFileAndOverwritesNone) {
  write(0.05);
  const std::vector<std::string> all{
      "--out",    "gate.html", "--out",    "gate.md",       "--out",     "gate.json",          "--out",
      "gate.txt", "--junit",   "gate.xml", "--openmetrics", "gate.prom", "--google-benchmark", "bench"};
  EXPECT_EQ(sides(all).code, 1);
  for (const char* name : {"gate.html", "gate.md", "gate.json", "gate.txt", "gate.xml", "gate.prom",
                           "bench-before.json", "bench-after.json"})
    EXPECT_GT(std::filesystem::file_size(at(name)), 100U) << name;
  EXPECT_EQ(nlohmann::json::parse(read_whole(at("gate.json"))).at("title"), "Gate: failed");
  const Ended again = sides(all);
  EXPECT_EQ(again.code, 64);
  EXPECT_THAT(again.err, HasSubstr("add --force"));
  EXPECT_THAT(sides({"--junit", "gate.junit"}).err, HasSubstr("end in .xml"));
}

TEST_F(GateCommand, TellsGithub) {
  write(0.05);
  const Ended ended = sides({"--github"}, {"GITHUB_STEP_SUMMARY=" + at("summary.md").string()});
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.out, HasSubstr("::error title=Assay%3A"));
  EXPECT_THAT(read_whole(at("summary.md")), HasSubstr("| SLOWER |"));
}

TEST_F(GateCommand, KeepsAHistory) {
  write(0);
  std::filesystem::create_directories(at("one"));
  for (int i = 0; i < 4; ++i) {
    const Ended ended =
        assay({"--history", "kept", "--after", "before/" + std::to_string(i), "--no-baseline", "record"});
    EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("Added to kept as result " + std::to_string(i + 1)));
  }
  EXPECT_EQ(assay({"--history", "kept", "--after", "before/3"}).code, 64);
  const Ended moved = assay({"--history", "kept", "--move-baseline", "a new driver, accepted"});
  EXPECT_EQ(moved.code, 0) << moved.err;
  EXPECT_THAT(read_whole(at("kept/history.jsonl")), HasSubstr("a new driver, accepted"));
}

TEST_F(GateCommand, PlansRuns) {
  write(0);
  const Ended ended = assay({"--plan", "before"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("3 runs a side find a slowdown of the bar in every metric"));
}

TEST_F(GateCommand, RefusesWhatCannotBeJudgedInASentence) {
  write(0);
  refuses({"--before", "before"}, "the gate needs both sides");
  refuses({"--before", "before", "--after", "nowhere"}, "nowhere");
  refuses({"--before", "before", "--after", "before"}, "is given twice");
  refuses({"--before", "before", "--after", "after", "--bar", "nan"}, "--bar must be a share");
  refuses({"--before", "before", "--after", "after", "--subject", "diver"}, "did you mean 'driver'");
  refuses({"--before", "before", "--after", "after", "--inconclusive", "maybe"}, "one of: pass, fail");
  refuses({"--plan", "before", "--after", "after"}, "--plan takes runs of one state");
  refuses({"--before", "before", "--after", "after", "--confirm-after", "after"},
          "fresh runs are needed of both sides");
  refuses({"--move-baseline", "because"}, "--history DIR");
}

TEST_F(GateCommand, ReadsNoDamagedRun) {
  write(0);
  const std::string whole = read_whole(at("after/2/results.csv"));
  std::ofstream(at("after/2/results.csv"), std::ios::binary) << whole.substr(0, whole.rfind("0.0240") + 6);
  // A torn last line is left out, as a kill leaves it; the metric then has seven runs, and that is said.
  EXPECT_THAT(sides({"--full"}).out, HasSubstr("torn"));
  std::string bad = whole;
  bad.replace(bad.find(",0.0"), 4, ",nan");
  std::ofstream(at("after/2/results.csv"), std::ios::binary) << bad;
  refuses({"--before", "before", "--after", "after"}, "results.csv, line 2");
}

TEST_F(GateCommand, SaysWhatANewerVersionWroteAndJudgesTheRest) {
  write(0);
  std::string text = read_whole(at("after/1/results.csv"));
  std::string newer;
  for (std::size_t begin = 0, line = 0; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    newer += text.substr(begin, end - begin) + (line == 0 ? ",humidity" : ",0.4") + "\n";
    begin = end + 1;
  }
  std::ofstream(at("after/1/results.csv"), std::ios::binary) << newer;
  const Ended ended = sides({"--full"});
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("humidity"));
}

}  // namespace
}  // namespace assay::gate
