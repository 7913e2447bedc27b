// A run as a person sees it: states, exit codes, rows and files, with real processes and a scripted device.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "tests/bench/front.h"

namespace assay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Where the small catalogue's first product is meant: its op is "gemm m=17 ...".
constexpr const char* first_gemm = "gemm m=17 ";
constexpr const char* second_gemm = "gemm m=18 ";

json rule(const std::string& at, const std::string& with, const std::string& action) {
  return {{"at", at}, {"with", with}, {"do", action}};
}

Row only_row(const Run& run, const std::string& name) {
  const auto rows = rows_of(run, name);
  EXPECT_EQ(rows.size(), 1U) << name;
  return rows.empty() ? Row{} : rows.front();
}

TEST(Harness, MeasuresEveryPlannedCaseAndSaysWhereTheRunIs) {
  Stage stage(json{{"cases", 4}, {"survey", true}});
  const Finished finished = stage.measure();
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_THAT(finished.output, HasSubstr("5 ok, 0 skipped, 0 failed, 0 mistrusted"));
  EXPECT_THAT(finished.output, HasSubstr(stage.out().string()));
  const assay::Run run = read_run(stage.out());
  EXPECT_EQ(run.info.ending, Ending::complete);
  EXPECT_FALSE(run.partial);
  EXPECT_EQ(run.info.planned, (std::vector<std::string>{"fake:0 gemm/fp32/case/1", "fake:0 gemm/fp32/case/2",
                                                        "fake:0 memory/triad/case/1", "fake:0 memory/triad/case/2",
                                                        "fake:0 capacity/memory"}));
  ASSERT_EQ(run.info.devices.size(), 1U);
  EXPECT_EQ(run.info.devices[0].unique_id, "FAKE-0001");
  for (const Row& row : run.rows) {
    EXPECT_EQ(row.run, run.info.id);
    EXPECT_EQ(row.status, Status::ok) << row.case_name << ": " << row.reason;
    EXPECT_EQ(row.device, "fake:0");
    EXPECT_EQ(row.scope, "alone");
    EXPECT_FALSE(row.started_utc.empty());
    EXPECT_TRUE(row.elapsed_seconds.has_value());
  }
  EXPECT_GT(lines_in(stage.out() / "samples.csv"), 1);
  EXPECT_THAT(stage.left_behind(5), IsEmpty());
}

TEST(Harness, GivesTheSecondsThatTheDeviceReports) {
  // 1 ms an execution is what the script says, so the median is 1 ms, and 2 * 17 * 16 * 16 flops take that long.
  Stage stage(json{{"cases", 1}, {"seconds", 1e-3}});
  EXPECT_EQ(stage.measure().code, 0);
  const assay::Run run = read_run(stage.out());
  const auto rows = rows_of(run, "gemm/fp32/case/1");
  ASSERT_GE(rows.size(), 2U);
  EXPECT_EQ(rows[0].metric, "seconds");
  EXPECT_DOUBLE_EQ(rows[0].value.value(), 1e-3);
  EXPECT_EQ(rows[1].metric, "flops_per_second");
  EXPECT_NEAR(rows[1].value.value(), 8704000.0, 1e-3);
}

TEST(Harness, SkipsWhatTheDeviceCannotDoAndStillSucceeds) {
  Stage stage(json{{"cases", 2}, {"rules", list(rule("prepare", first_gemm, "unsupported"))}});
  EXPECT_EQ(stage.measure().code, 0);
  const Row row = only_row(read_run(stage.out()), "gemm/fp32/case/1");
  EXPECT_EQ(row.status, Status::skipped);
  EXPECT_EQ(row.reason, "the script says so");
  EXPECT_FALSE(row.value.has_value());
}

TEST(Harness, HasNothingUsableWhereAllIsSkipped) {
  Stage stage(json{{"cases", 2}, {"rules", list(rule("prepare", "", "unsupported"))}});
  EXPECT_EQ(stage.measure().code, 2);
  EXPECT_EQ(read_run(stage.out()).info.ending, Ending::complete);
}

TEST(Harness, FailsACaseWithWrongResults) {
  Stage stage(json{{"cases", 2}, {"rules", list(rule("run", first_gemm, "wrong"))}});
  const Finished finished = stage.measure();
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.errors, HasSubstr("failed gemm/fp32/case/1"));
  const assay::Run run = read_run(stage.out());
  EXPECT_EQ(only_row(run, "gemm/fp32/case/1").status, Status::failed);
  EXPECT_THAT(only_row(run, "gemm/fp32/case/1").reason, HasSubstr("wrong"));
  EXPECT_EQ(rows_of(run, "memory/triad/case/1").front().status, Status::ok);
}

TEST(Harness, MistrustsWhatIsImpossiblyFast) {
  // A product of 8704 flops in 1e-20 s is 8.7e23 flop/s.
  json impossible = rule("run", first_gemm, "seconds");
  impossible["seconds"] = 1e-20;
  Stage stage(json{{"cases", 2}, {"rules", list(impossible)}});
  EXPECT_EQ(stage.measure().code, 1);
  const auto rows = rows_of(read_run(stage.out()), "gemm/fp32/case/1");
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().status, Status::mistrusted);
  EXPECT_FALSE(rows.front().reason.empty());
}

TEST(Harness, FailsACaseThatRunsOutOfMemory) {
  Stage stage(json{{"cases", 2}, {"rules", list(rule("prepare", first_gemm, "memory"))}});
  EXPECT_EQ(stage.measure().code, 1);
  EXPECT_THAT(only_row(read_run(stage.out()), "gemm/fp32/case/1").reason, HasSubstr("out of memory"));
}

TEST(Harness, LosesOnlyTheCaseInFlightToACrash) {
  for (const auto& [action, words] :
       std::vector<std::pair<std::string, std::string>>{{"segv", "was killed by SIGSEGV (a bad memory access)"},
                                                        {"abort", "was killed by SIGABRT"},
                                                        {"kill", "was killed by SIGKILL"},
                                                        {"exit", "ended with exit code 3"}}) {
    json crash = rule("run", second_gemm, action);
    crash["say"] = "the driver's famous last words";
    Stage stage(json{{"cases", 6}, {"rules", list(crash)}});
    const Finished finished = stage.measure();
    EXPECT_EQ(finished.code, 1) << action;
    EXPECT_THAT(finished.output, HasSubstr("5 ok, 0 skipped, 1 failed, 0 mistrusted")) << action;
    const assay::Run run = read_run(stage.out());
    const Row row = only_row(run, "gemm/fp32/case/2");
    EXPECT_EQ(row.status, Status::failed);
    EXPECT_THAT(row.reason, HasSubstr(words));
    EXPECT_THAT(row.reason, HasSubstr("the driver's famous last words"));
    EXPECT_EQ(row.op, "gemm m=18 n=16 k=16") << "a failed row says what it was about";
    // The next product is measured by a fresh worker.
    EXPECT_EQ(row.process, "1");
    EXPECT_EQ(rows_of(run, "gemm/fp32/case/3").front().process, "2");
    EXPECT_EQ(run.info.ending, Ending::complete);
  }
}

TEST(Harness, GivesUpACaseThatHangs) {
  json hang = rule("run", first_gemm, "hang");
  hang["say"] = "waiting for the device";
  Stage stage(json{{"cases", 3}, {"conditions", json::array({"xid_79"})}, {"rules", list(hang)}});
  const Finished finished = stage.measure({"--case-patience=6"});
  EXPECT_EQ(finished.code, 1);
  const assay::Run run = read_run(stage.out());
  const Row row = only_row(run, "gemm/fp32/case/1");
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_THAT(row.reason, HasSubstr("did not end within 6 s"));
  EXPECT_THAT(row.reason, HasSubstr("waiting for the device"));
  EXPECT_EQ(row.conditions, "xid_79") << "what the device said of it meanwhile";
  EXPECT_EQ(rows_of(run, "gemm/fp32/case/2").front().status, Status::ok);
  EXPECT_THAT(stage.left_behind(5), IsEmpty());
}

TEST(Harness, SkipsTheRestOfADeviceAfterTwoFaultsInARow) {
  Stage stage(json{{"cases", 6}, {"rules", list(rule("run", "gemm", "segv"))}});
  const Finished finished = stage.measure();
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.output, HasSubstr("0 ok, 4 skipped, 2 failed, 0 mistrusted"));
  const assay::Run run = read_run(stage.out());
  const Row row = only_row(run, "memory/triad/case/3");
  EXPECT_EQ(row.status, Status::skipped);
  EXPECT_THAT(row.reason, HasSubstr("device lost"));
  EXPECT_THAT(row.reason, HasSubstr("SIGSEGV"));
}

TEST(Harness, MeasuresOnInAFreshWorkerWhenTheDeviceWasLost) {
  Stage stage(json{{"cases", 6}, {"rules", list(rule("run", second_gemm, "lose"))}});
  const Finished finished = stage.measure();
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.output, HasSubstr("5 ok, 0 skipped, 1 failed, 0 mistrusted"));
  const assay::Run run = read_run(stage.out());
  const Row row = only_row(run, "gemm/fp32/case/2");
  EXPECT_EQ(row.status, Status::failed);
  EXPECT_EQ(row.reason, "device lost: the script says so");
  EXPECT_EQ(row.process, "1");
  EXPECT_EQ(rows_of(run, "gemm/fp32/case/3").front().process, "2");
}

TEST(Harness, SkipsTheRestOfADeviceThatWasLostTwiceInARow) {
  Stage stage(json{{"cases", 6}, {"rules", list(rule("prepare", "gemm", "lose"))}});
  EXPECT_EQ(stage.measure().code, 1);
  const assay::Run run = read_run(stage.out());
  EXPECT_EQ(only_row(run, "gemm/fp32/case/2").status, Status::failed);
  for (const char* name : {"gemm/fp32/case/3", "memory/triad/case/1", "memory/triad/case/3"}) {
    EXPECT_EQ(only_row(run, name).status, Status::skipped) << name;
    EXPECT_THAT(only_row(run, name).reason, HasSubstr("device lost: 2 cases in a row ended their worker")) << name;
  }
}

TEST(Harness, DoesNotCountFaultsThatAreNotInARow) {
  Stage stage(json{{"cases", 6}, {"rules", list(rule("run", first_gemm, "segv"), rule("run", "gemm m=19 ", "segv"))}});
  EXPECT_EQ(stage.measure().code, 1);
  EXPECT_EQ(rows_of(read_run(stage.out()), "memory/triad/case/3").front().status, Status::ok);
}

TEST(Harness, GoesOnWithTheOtherDeviceWhenOneIsLost) {
  json crash = rule("run", "", "segv");
  crash["plugin"] = "fake";
  Stage stage(json{{"cases", 4}, {"rules", list(crash)}}, {"fake", "other"});
  const Finished finished = stage.measure();
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.output, HasSubstr("4 ok, 2 skipped, 2 failed, 0 mistrusted"));
}

TEST(Harness, UsesOneWorkerForEachFamily) {
  Stage stage(json{{"cases", 6}});
  EXPECT_EQ(stage.measure().code, 0);
  std::map<std::string, std::set<std::string>> workers;
  for (const Row& row : read_run(stage.out()).rows) workers[row.family].insert(row.process);
  EXPECT_EQ(workers["gemm"], std::set<std::string>{"1"});
  EXPECT_EQ(workers["memory"], std::set<std::string>{"2"});
}

TEST(Harness, MeasuresARepetitionAgainInAFreshWorker) {
  Stage stage(json{{"cases", 1}});
  EXPECT_EQ(stage.measure({"--repeat=3"}).code, 0);
  const assay::Run run = read_run(stage.out());
  std::map<int, std::string> process;
  for (const Row& row : run.rows) process[row.repetition] = row.process;
  EXPECT_EQ(process, (std::map<int, std::string>{{0, "1"}, {1, "2"}, {2, "3"}}));
  EXPECT_FALSE(run.partial);
}

TEST(Harness, NeverMixesWhatAWorkerPrintsWithItsOwnOutput) {
  json chatter = rule("run", "", "print");
  chatter["say"] = "chatter of a library";
  Stage stage(json{{"cases", 2}, {"rules", list(chatter)}});
  const Finished finished = stage.measure();
  EXPECT_EQ(finished.code, 0);
  EXPECT_THAT(finished.output + finished.errors, Not(HasSubstr("chatter")));
}

TEST(Harness, EndsWhatAWorkerStarted) {
  Stage stage(json{{"cases", 4}, {"rules", list(rule("prepare", "", "fork"))}});
  EXPECT_EQ(stage.measure().code, 0);
  EXPECT_THAT(stage.left_behind(5), IsEmpty());
}

TEST(Harness, SwallowsALibraryThatPrintsMegabytes) {
  json chatter = rule("run", "", "print");
  chatter["say"] = std::string(1 << 20, 'x');
  Stage stage(json{{"cases", 1}, {"rules", list(chatter)}});
  EXPECT_EQ(stage.measure().code, 0);
}

TEST(Harness, PutsTelemetryIntoTheRowsOfACase) {
  // Each case takes at least 0.3 s, so that several samples fall into the last one.
  Stage stage(json{{"cases", 4}, {"seconds", 0.05}, {"sleep", true}, {"other_load", 0.5}});
  EXPECT_EQ(stage.measure().code, 0);
  const Row row = rows_of(read_run(stage.out()), "memory/triad/case/2").front();
  EXPECT_EQ(row.clock_hertz.value_or(0), 1.5e9);
  EXPECT_EQ(row.power_watts.value_or(0), 250);
  EXPECT_EQ(row.temperature_celsius.value_or(0), 61);
  EXPECT_EQ(row.throttle, "none");
  EXPECT_THAT(row.conditions, HasSubstr("other_load"));
}

TEST(Harness, GoesOnWithoutTelemetryThatHangsOrCrashes) {
  for (const char* action : {"hang", "segv"}) {
    Stage stage(json{{"cases", 4}, {"seconds", 0.1}, {"sleep", true}, {"rules", list(rule("telemetry", "", action))}});
    const Finished finished = stage.measure({"--telemetry-patience=0.5"});
    EXPECT_EQ(finished.code, 0) << action << finished.errors;
    EXPECT_THAT(finished.output, HasSubstr("telemetry of fake was given up")) << action;
    const assay::Run run = read_run(stage.out());
    EXPECT_FALSE(rows_of(run, "gemm/fp32/case/1").front().power_watts.has_value());
    EXPECT_TRUE(std::any_of(run.info.facts.begin(), run.info.facts.end(),
                            [](const Fact& fact) { return fact.name == "telemetry"; }));
    EXPECT_THAT(stage.left_behind(5), IsEmpty());
  }
}

TEST(Harness, LeavesAPluginAloneWhoseProbeHangs) {
  json hang = rule("devices", "", "hang");
  hang["plugin"] = "other";
  Stage stage(json{{"cases", 2}, {"rules", list(hang)}}, {"fake", "other"});
  const Finished finished = stage.measure({"--probe-patience=8"});
  EXPECT_EQ(finished.code, 0) << finished.errors;
  const assay::Run run = read_run(stage.out());
  ASSERT_EQ(run.info.devices.size(), 1U);
  EXPECT_EQ(run.info.devices[0].id, "fake:0");
  EXPECT_THAT(stage.left_behind(5), IsEmpty());
}

TEST(Harness, SaysWhyThereIsNoDevice) {
  Stage stage({{"devices", {{"fake", json::array()}}},
               {"rules", list(json{{"at", "devices"}, {"plugin", "other"}, {"do", "segv"}})}},
              {"fake", "other", "stale"});
  const Finished finished = stage.measure();
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.errors, HasSubstr("fake sees no usable device"));
  EXPECT_THAT(finished.errors, HasSubstr("the probe was killed by SIGSEGV"));
  EXPECT_THAT(finished.errors, HasSubstr("was built with another version"));
  EXPECT_FALSE(std::filesystem::exists(stage.out()));
}

TEST(Harness, RecordsWhyAPluginHasNoDevice) {
  Stage stage(json{{"cases", 1}}, {"fake", "stale"});
  EXPECT_EQ(stage.measure().code, 0);
  const assay::Run run = read_run(stage.out());
  const auto fact = std::find_if(run.info.facts.begin(), run.info.facts.end(),
                                 [](const Fact& one) { return one.name == "plugin_stale"; });
  ASSERT_NE(fact, run.info.facts.end());
  EXPECT_THAT(fact->reason, HasSubstr("another version"));
}

TEST(Harness, MeasuresOnlyTheDevicesThatAreAskedFor) {
  const json devices = {{"fake", {{{"id", "fake:0"}}, {{"id", "fake:1"}}}}};
  Stage stage(json{{"cases", 1}, {"devices", devices}}, {"fake", "other"});
  EXPECT_EQ(stage.measure({"--device=fake:1"}).code, 0);
  for (const Row& row : read_run(stage.out()).rows) EXPECT_EQ(row.device, "fake:1");
}

TEST(Harness, RefusesADeviceThatIsNotThere) {
  Stage stage(json::object(), {"fake", "stale"});
  const Finished unknown = stage.measure({"--device=fake:7"});
  EXPECT_EQ(unknown.code, 64);
  EXPECT_THAT(unknown.errors, HasSubstr("there is no device \"fake:7\", did you mean 'fake:0'?"));
  const Finished unusable = stage.measure({"--device=stale"});
  EXPECT_EQ(unusable.code, 64);
  EXPECT_THAT(unusable.errors, HasSubstr("was built with another version"));
}

TEST(Harness, OverwritesARunOnlyWhenForced) {
  Stage stage(json{{"cases", 1}});
  EXPECT_EQ(stage.measure().code, 0);
  const std::string before = text_of(stage.out() / "results.csv");
  const Finished again = stage.measure();
  EXPECT_EQ(again.code, 64);
  EXPECT_THAT(again.errors, HasSubstr("already holds a run"));
  EXPECT_EQ(text_of(stage.out() / "results.csv"), before);
  EXPECT_EQ(stage.measure({"--force"}).code, 0);
}

TEST(Harness, NamesTheRunAfterTimeAndHostWhereNobodyNamesIt) {
  Stage stage(json{{"cases", 1}});
  EXPECT_EQ(stage.run({}).code, 0);
  int runs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(stage.folder() / "runs")) {
    EXPECT_EQ(read_run(entry.path()).info.ending, Ending::complete);
    ++runs;
  }
  EXPECT_EQ(runs, 1);
}

TEST(Harness, RecordsTheEnvironmentByAllowListWithoutSecrets) {
  Stage stage(json{{"cases", 1}});
  stage.environment = {{"OMP_NUM_THREADS", "2"},
                       {"CUDA_VISIBLE_DEVICES", "GPU-8f6d4c1e-1b2a-4c3d-9e8f-001122334455"},
                       {"HF_TOKEN", "hf_secretsecretsecret"},
                       {"AWS_SECRET_ACCESS_KEY", "planted-aws-secret"},
                       {"NCCL_API_KEY", "planted-nccl-key"},
                       {"DNNL_VERBOSE", "https://user:planted-password@host"},
                       {"OMP_DISPLAY_ENV", "A1b2C3d4E5f6G7h8I9j0plantedK"}};
  EXPECT_EQ(stage.measure({"--label=mine"}).code, 0);
  const assay::Run run = read_run(stage.out());
  EXPECT_EQ(run.info.environment,
            (std::map<std::string, std::string>{{"OMP_NUM_THREADS", "2"},
                                                {"CUDA_VISIBLE_DEVICES", "GPU-8f6d4c1e-1b2a-4c3d-9e8f-001122334455"}}));
  const std::string all = text_of(stage.out() / "run.json") + text_of(stage.out() / "results.csv");
  EXPECT_THAT(all, Not(HasSubstr("planted")));
  EXPECT_THAT(all, Not(HasSubstr("hf_")));
  EXPECT_EQ(run.info.labels.at("label"), "mine");
}

TEST(Harness, IsQuietWhenAsked) {
  Stage stage(json{{"cases", 3}});
  const Finished finished = stage.measure({"--quiet"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.output + finished.errors, "");
}

// What a program wrote to a terminal until it ended.
std::string shown(const Stage::OnTerminal& started) {
  std::string text;
  std::array<char, 4096> piece;
  ssize_t got = 0;
  while ((got = ::read(started.terminal, piece.data(), piece.size())) > 0)
    text.append(piece.data(), static_cast<std::size_t>(got));
  close(started.terminal);
  return text;
}

TEST(Harness, RewritesOneLineOnATerminal) {
  Stage stage(json{{"cases", 4}, {"rules", list(rule("prepare", second_gemm, "throw"))}});
  stage.environment = {{"TERM", "xterm"}};
  const auto started = stage.start_on_terminal({"--out=" + stage.out().string()});
  const std::string text = shown(started);
  EXPECT_EQ(stage.wait(started.pid).code, 1);
  EXPECT_THAT(text, HasSubstr("\r\033[K[1/4] "));
  EXPECT_THAT(text, HasSubstr("\033[31mfailed\033[0m gemm/fp32/case/2: the script says so"));
  // No line of progress is wider than the terminal of 60 columns.
  for (auto at = text.find("\033[K["); at != std::string::npos; at = text.find("\033[K[", at + 1))
    EXPECT_LT(std::min(text.find('\r', at), text.find('\n', at)) - at, 60U + 3U);
}

TEST(Harness, UsesNoColourWhereNobodyWantsIt) {
  Stage stage(json{{"cases", 2}, {"rules", list(rule("prepare", first_gemm, "throw"))}});
  stage.environment = {{"TERM", "xterm"}, {"NO_COLOR", "1"}};
  const auto started = stage.start_on_terminal({"--out=" + stage.out().string()});
  const std::string text = shown(started);
  EXPECT_EQ(stage.wait(started.pid).code, 1);
  EXPECT_THAT(text, HasSubstr("failed gemm/fp32/case/1"));
  EXPECT_THAT(text, Not(HasSubstr("\033[31m")));
}

TEST(Harness, ReportsProgressByTenthsWhereNobodyWatches) {
  Stage stage(json{{"cases", 20}});
  const Finished finished = stage.measure();
  EXPECT_EQ(lines_in(stage.file("errors")), 10);
  EXPECT_THAT(finished.errors, HasSubstr("20 of 20 cases"));
  EXPECT_THAT(finished.errors, Not(HasSubstr("\r")));
}

}  // namespace
}  // namespace assay::test
