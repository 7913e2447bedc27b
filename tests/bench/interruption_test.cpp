// What becomes of a run that is stopped, killed, cut off or has no room left, and how it is gone on with.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "core/error.h"
#include "tests/bench/front.h"

namespace assay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* hang_at_third = R"([{"at": "run", "with": "gemm m=19 ", "do": "hang"}])";

bool is_running(const Stage& stage, const std::string& op) {
  return stage.log().find("run " + op) != std::string::npos;
}

// Starts a run whose third case hangs, and waits until it does.
pid_t start_and_hang(Stage& stage) {
  const pid_t pid = stage.start({"--out=" + stage.out().string()});
  EXPECT_TRUE(Stage::until([&] { return is_running(stage, "gemm m=19 "); }));
  return pid;
}

json hanging_script(const std::filesystem::path& log) {
  return json{{"cases", 8}, {"log", log.string()}, {"rules", json::parse(hang_at_third)}};
}

std::set<std::string> cases_in(const Run& run) {
  std::set<std::string> names;
  for (const Row& row : run.rows) names.insert(row.case_name);
  return names;
}

TEST(Interruption, EndsCleanlyOnEachSignalThatAsksForIt) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Stage stage(json::object());
    stage.rewrite(hanging_script(stage.file("log")));
    const pid_t pid = start_and_hang(stage);
    kill(pid, signal);
    const Finished finished = stage.wait(pid);
    EXPECT_EQ(finished.code, 128 + signal);
    EXPECT_THAT(finished.output, HasSubstr("--resume"));
    const assay::Run run = read_run(stage.out());
    EXPECT_EQ(run.info.ending, Ending::interrupted);
    EXPECT_THAT(run.info.ending_reason, HasSubstr("SIG"));
    // The two that were done have rows; nothing is invented for the others.
    EXPECT_EQ(cases_in(run), (std::set<std::string>{"gemm/fp32/case/1", "gemm/fp32/case/2"}));
    EXPECT_TRUE(run.partial);
    EXPECT_THAT(stage.left_behind(5), IsEmpty());
  }
}

TEST(Interruption, EndsAtOnceOnTheSecondCtrlC) {
  // The first one is not answered, because the front is stopped; both wait for it when it goes on.
  Stage stage(json::object());
  stage.rewrite(hanging_script(stage.file("log")));
  const pid_t pid = start_and_hang(stage);
  kill(pid, SIGSTOP);
  kill(pid, SIGINT);
  kill(pid, SIGTERM);
  kill(pid, SIGCONT);
  const int code = stage.wait(pid).code;
  EXPECT_TRUE(code == 128 + SIGINT || code == 128 + SIGTERM) << code;
  EXPECT_THAT(stage.left_behind(5), IsEmpty());
}

TEST(Interruption, EndsCleanlyWhenTheTerminalGoesAway) {
  // What a broken SSH connection does.
  Stage stage(json::object());
  stage.rewrite(hanging_script(stage.file("log")));
  const auto started = stage.start_on_terminal({"--out=" + stage.out().string()});
  EXPECT_TRUE(Stage::until([&] { return is_running(stage, "gemm m=19 "); }));
  close(started.terminal);
  EXPECT_EQ(stage.wait(started.pid).code, 128 + SIGHUP);
  EXPECT_EQ(read_run(stage.out()).info.ending, Ending::interrupted);
  EXPECT_THAT(stage.left_behind(5), IsEmpty());
}

TEST(Interruption, EndsWhileAProbeHangs) {
  Stage stage(json::object());
  stage.rewrite(json{{"log", stage.file("log").string()}, {"rules", list(json{{"at", "devices"}, {"do", "hang"}})}});
  const pid_t pid = stage.start({"--out=" + stage.out().string()});
  EXPECT_TRUE(Stage::until([&] { return stage.log().find("devices") != std::string::npos; }));
  kill(pid, SIGINT);
  const Finished finished = stage.wait(pid);
  EXPECT_EQ(finished.code, 128 + SIGINT);
  EXPECT_LT(finished.seconds, 20);
  EXPECT_FALSE(std::filesystem::exists(stage.out()));
  EXPECT_THAT(stage.left_behind(5), IsEmpty());
}

// How often, by environment variable, so that many can be tried by hand.
int kills() {
  const char* wanted = std::getenv("ASSAY_TEST_KILLS");
  return wanted == nullptr ? 10 : std::atoi(wanted);
}

TEST(Interruption, SurvivesBeingKilledAtAnyMoment) {
  const json script = {{"cases", 8}, {"seconds", 2e-3}, {"sleep", true}};
  const double whole_run = Stage(script).measure().seconds;
  std::mt19937 random(20261201);
  std::uniform_real_distribution<double> within(0.0, 1.0);
  int killed_while_measuring = 0;
  for (int i = 0; i < kills(); ++i) {
    Stage stage(script);
    const pid_t pid = stage.start({"--out=" + stage.out().string()});
    // One moment in each of as many equal parts of a run, so that start, probe, cases and end are all met.
    const double wait = whole_run * (i + within(random)) / kills();
    std::this_thread::sleep_for(std::chrono::duration<double>(wait));
    kill(pid, SIGKILL);
    stage.wait(pid);
    EXPECT_THAT(stage.left_behind(5), IsEmpty()) << "killed after " << wait << " s";
    if (!std::filesystem::exists(stage.out() / "run.json")) continue;  // before anything could be measured
    const int lines = std::max(0, lines_in(stage.out() / "results.csv") - 1);
    const assay::Run run = read_run(stage.out());
    EXPECT_EQ(static_cast<int>(run.rows.size()), lines) << "every row with its newline can be read";
    if (run.info.ending == Ending::complete) continue;
    EXPECT_EQ(run.info.ending, Ending::running);
    EXPECT_TRUE(run.partial) << "killed after " << wait << " s";
    if (!run.rows.empty()) ++killed_while_measuring;
    // And it can be gone on with to the end.
    const Finished resumed = stage.run({"--resume=" + stage.out().string()});
    EXPECT_EQ(resumed.code, 0) << resumed.errors;
    const assay::Run whole = read_run(stage.out());
    EXPECT_EQ(whole.info.ending, Ending::complete);
    EXPECT_EQ(cases_in(whole).size(), 8U);
    EXPECT_FALSE(whole.partial);
  }
  EXPECT_GT(killed_while_measuring, 0);
}

TEST(Interruption, GoesOnWithOnlyTheCasesThatHaveNoRow) {
  Stage stage(json::object());
  stage.rewrite(hanging_script(stage.file("log")));
  const pid_t pid = start_and_hang(stage);
  kill(pid, SIGKILL);
  stage.wait(pid);
  EXPECT_THAT(stage.left_behind(5), IsEmpty());
  stage.rewrite(json{{"cases", 8}, {"log", stage.file("second-log").string()}});
  const Finished finished = stage.run({"--resume=" + stage.out().string()});
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_THAT(finished.output, HasSubstr("8 ok"));
  const std::string calls = text_of(stage.file("second-log"));
  EXPECT_THAT(calls, Not(HasSubstr("run gemm m=18 ")));
  EXPECT_THAT(calls, HasSubstr("run gemm m=19 "));
  const assay::Run run = read_run(stage.out());
  EXPECT_EQ(run.info.ending, Ending::complete);
  EXPECT_EQ(cases_in(run).size(), 8U);
  std::set<std::int64_t> numbers;
  for (const Row& row : run.rows) EXPECT_TRUE(numbers.insert(row.number).second) << "number " << row.number << " twice";
}

TEST(Interruption, MeasuresTheMissingRepetitionsWhenItGoesOn) {
  Stage stage(json{{"cases", 1}});
  EXPECT_EQ(stage.measure({"--repeat=2"}).code, 0);
  // Take the second repetition away, as if the run had been killed before it.
  const assay::Run before = read_run(stage.out());
  std::string csv = text_of(stage.out() / "results.csv");
  std::size_t kept = csv.find('\n') + 1;
  for (const Row& row : before.rows)
    if (row.repetition == 0) kept = csv.find('\n', kept) + 1;
  std::filesystem::resize_file(stage.out() / "results.csv", kept);
  std::string info = text_of(stage.out() / "run.json");
  const auto at = info.find("\"complete\"");
  ASSERT_NE(at, std::string::npos);
  info.replace(at, 10, "\"running\"");
  std::ofstream(stage.out() / "run.json") << info;
  EXPECT_EQ(stage.run({"--resume=" + stage.out().string()}).code, 0);
  std::map<int, int> rows;
  for (const Row& row : read_run(stage.out()).rows) ++rows[row.repetition];
  EXPECT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], rows[1]);
}

TEST(Interruption, RefusesToGoOnWithAnotherDevice) {
  Stage stage(json::object());
  stage.rewrite(hanging_script(stage.file("log")));
  const pid_t pid = start_and_hang(stage);
  kill(pid, SIGINT);
  stage.wait(pid);
  const std::string before = text_of(stage.out() / "results.csv");
  stage.rewrite(json{{"cases", 8}, {"devices", {{"fake", {{{"id", "fake:0"}, {"driver", "2.0"}}}}}}});
  const Finished finished = stage.run({"--resume=" + stage.out().string()});
  EXPECT_EQ(finished.code, 64);
  EXPECT_THAT(finished.errors, HasSubstr("its driver was \"1.0\" and is \"2.0\""));
  EXPECT_EQ(text_of(stage.out() / "results.csv"), before);
}

TEST(Interruption, RefusesToGoOnWithOtherWishes) {
  Stage stage(json::object());
  stage.rewrite(hanging_script(stage.file("log")));
  const pid_t pid = start_and_hang(stage);
  kill(pid, SIGINT);
  stage.wait(pid);
  EXPECT_EQ(stage.run({"--resume=" + stage.out().string(), "--profile=full"}).code, 64);
  EXPECT_EQ(stage.run({"--resume=" + stage.out().string(), "--filter=gemm"}).code, 64);
  EXPECT_EQ(stage.run({"--resume=" + stage.out().string(), "--device=fake"}).code, 64);
  EXPECT_EQ(stage.run({"--resume=" + stage.file("nowhere").string()}).code, 64);
}

TEST(Interruption, RefusesToGoOnWithACompleteRun) {
  Stage stage(json{{"cases", 1}});
  EXPECT_EQ(stage.measure().code, 0);
  EXPECT_EQ(stage.run({"--resume=" + stage.out().string()}).code, 64);
}

TEST(Budget, EndsInTimeWithARowForEachPlannedCase) {
  // Forty cases of about 0.3 s do not fit into 5 s.
  Stage stage(json{{"cases", 40}, {"seconds", 0.02}, {"sleep", true}, {"expected_seconds", 0.3}});
  const Finished finished = stage.measure({"--budget=5s"});
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_LT(finished.seconds, 6);
  const assay::Run run = read_run(stage.out());
  EXPECT_EQ(run.info.ending, Ending::budget);
  EXPECT_EQ(run.info.ending_reason, "the budget of 5s was used up");
  EXPECT_EQ(cases_in(run).size(), 40U);
  const auto last = rows_of(run, "memory/triad/case/20");
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].status, Status::skipped);
  EXPECT_THAT(last[0].reason, HasSubstr("the budget of 5s was used up"));
}

TEST(Budget, CutsOffACaseThatTakesTooLong) {
  Stage stage(json{{"cases", 2}, {"rules", list(json{{"at", "run"}, {"with", "gemm m=17 "}, {"do", "hang"}})}});
  const Finished finished = stage.measure({"--budget=4s"});
  EXPECT_EQ(finished.code, 2) << "the first was cut off, the second had no time left";
  EXPECT_LT(finished.seconds, 5);
  const auto row = rows_of(read_run(stage.out()), "gemm/fp32/case/1").at(0);
  EXPECT_EQ(row.status, Status::skipped);
  EXPECT_THAT(row.reason, HasSubstr("the budget of 4s was used up while it was being measured"));
  EXPECT_THAT(stage.left_behind(5), IsEmpty());
}

TEST(Budget, LetsTheRestBeMeasuredLater) {
  Stage stage(json{{"cases", 2}, {"rules", list(json{{"at", "run"}, {"with", "gemm m=17 "}, {"do", "hang"}})}});
  EXPECT_EQ(stage.measure({"--budget=1s"}).code, 2);
  stage.rewrite(json{{"cases", 2}});
  EXPECT_EQ(stage.run({"--resume=" + stage.out().string()}).code, 0);
  const assay::Run run = read_run(stage.out());
  EXPECT_EQ(run.info.ending, Ending::complete);
  EXPECT_EQ(rows_of(run, "gemm/fp32/case/1").back().status, Status::ok);
}

TEST(FullDisk, KeepsWhatWasMeasuredAndSaysSo) {
  Stage stage(json{{"cases", 40}});
  stage.file_size_limit = 8192;  // bytes: room for a dozen rows
  const Finished finished = stage.measure();
  EXPECT_EQ(finished.code, 70);
  EXPECT_THAT(finished.errors, HasSubstr("results.csv"));
  EXPECT_THAT(finished.errors, HasSubstr("--resume"));
  EXPECT_THAT(stage.left_behind(5), IsEmpty());
  const assay::Run run = read_run(stage.out());
  EXPECT_GT(run.rows.size(), 2U);
  EXPECT_TRUE(run.partial);
  // With room again, it goes on.
  stage.file_size_limit.reset();
  EXPECT_EQ(stage.run({"--resume=" + stage.out().string()}).code, 0);
  EXPECT_EQ(cases_in(read_run(stage.out())).size(), 40U);
}

TEST(FullDisk, RefusesAFolderThatCannotBeWritten) {
  Stage stage(json{{"cases", 1}});
  const Finished finished = stage.run({"--out=/proc/assay-run"});
  EXPECT_EQ(finished.code, 64);
  EXPECT_THAT(finished.errors, HasSubstr("/proc/assay-run"));
}

}  // namespace
}  // namespace assay::test
