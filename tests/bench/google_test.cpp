// Google Benchmark as the front: names, filters, lists, repetitions, formats, and flags that do not apply.
// SPDX-License-Identifier: Apache-2.0
#include "bench/google.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/run.h"
#include "core/error.h"
#include "tests/bench/front.h"

namespace assay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Row row_with(Status status, const std::string& metric, std::optional<double> value, const std::string& reason = "") {
  Row row;
  row.status = status;
  row.metric = metric;
  row.value = value;
  row.reason = reason;
  return row;
}

TEST(GoogleResult, TakesTheMedianAndMakesCountersOfTheRates) {
  const GoogleResult result =
      google_result({row_with(Status::ok, "seconds", 2e-3), row_with(Status::ok, "flops_per_second", 5e9)});
  EXPECT_EQ(result.status, Status::ok);
  EXPECT_EQ(result.seconds, 2e-3);
  EXPECT_EQ(result.counters, (std::map<std::string, double>{{"flops_per_second", 5e9}}));
}

TEST(GoogleResult, IsAsBadAsItsWorstRow) {
  const GoogleResult result =
      google_result({row_with(Status::ok, "seconds", 1), row_with(Status::failed, "", std::nullopt, "broken")});
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_EQ(result.reason, "broken");
}

TEST(GoogleResult, IsNotTakenWithoutRows) { EXPECT_FALSE(google_result({}).taken); }

TEST(GoogleFlags, AreUnderstoodWhereTheyMakeSense) {
  RunOptions options;
  EXPECT_TRUE(take_google_flag("--benchmark_filter=gemm", options));
  EXPECT_TRUE(take_google_flag("--benchmark_repetitions=3", options));
  EXPECT_TRUE(take_google_flag("--benchmark_format=json", options));
  EXPECT_TRUE(take_google_flag("--benchmark_out=a.json", options));
  EXPECT_TRUE(take_google_flag("--benchmark_list_tests", options));
  EXPECT_TRUE(take_google_flag("--benchmark_counters_tabular=true", options));
  EXPECT_FALSE(take_google_flag("--budget=3m", options));
  EXPECT_EQ(options.filter, "gemm");
  EXPECT_EQ(options.repeat, 3);
  EXPECT_EQ(options.google.format, "json");
  EXPECT_EQ(options.google.out, "a.json");
  EXPECT_TRUE(options.google.list);
  EXPECT_TRUE(options.google.counters_tabular);
}

std::string refusal_of(const std::string& flag) {
  RunOptions options;
  try {
    take_google_flag(flag, options);
  } catch (const BadInput& refused) {
    return refused.what();
  }
  return "";
}

TEST(GoogleFlags, AboutSingleIterationsAreRefusedWithTheReason) {
  EXPECT_THAT(refusal_of("--benchmark_min_time=0.5"), HasSubstr("one iteration here is one whole measurement"));
  EXPECT_THAT(refusal_of("--benchmark_min_warmup_time=1"), HasSubstr("does not apply"));
  EXPECT_THAT(refusal_of("--benchmark_enable_random_interleaving=true"), HasSubstr("fresh process"));
  EXPECT_THAT(refusal_of("--benchmark_repetitons=3"), HasSubstr("did you mean '--benchmark_repetitions'?"));
  EXPECT_THAT(refusal_of("--benchmark_repetitions=0"), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(refusal_of("--benchmark_format=xml"), HasSubstr("console, json, csv"));
  EXPECT_THAT(refusal_of("--benchmark_counters_tabular=maybe"), HasSubstr("true or false"));
}

TEST(GoogleFront, ListsCleanNames) {
  Stage stage(json{{"cases", 2}});
  const Finished finished = stage.run({"--benchmark_list_tests"});
  EXPECT_EQ(finished.code, 0);
  EXPECT_EQ(finished.output, "gemm/fp32/case/1\nmemory/triad/case/1\n");
  EXPECT_FALSE(std::filesystem::exists(stage.folder() / "runs"));
}

TEST(GoogleFront, NamesTheDeviceWhereThereAreSeveral) {
  Stage stage(json{{"cases", 1}}, {"fake", "other"});
  EXPECT_EQ(stage.run({"--benchmark_list_tests"}).output, "fake:0/gemm/fp32/case/1\nother:0/gemm/fp32/case/1\n");
  EXPECT_EQ(stage.run({"--benchmark_list_tests", "--filter=^other:0/"}).output, "other:0/gemm/fp32/case/1\n");
}

TEST(GoogleFront, FiltersByName) {
  Stage stage(json{{"cases", 4}});
  EXPECT_EQ(stage.measure({"--benchmark_filter=memory/.*/2$"}).code, 0);
  const assay::Run run = read_run(stage.out());
  EXPECT_EQ(run.info.planned, std::vector<std::string>{"fake:0 memory/triad/case/2"});
  EXPECT_EQ(run.info.filter, "memory/.*/2$");
  EXPECT_EQ(stage.run({"--benchmark_list_tests", "--filter=-gemm"}).output,
            "memory/triad/case/1\nmemory/triad/case/2\n");
}

TEST(GoogleFront, RefusesAFilterThatTakesNothingOrIsNone) {
  Stage stage(json{{"cases", 4}});
  const Finished nothing = stage.measure({"--filter=memory/triod"});
  EXPECT_EQ(nothing.code, 64);
  EXPECT_THAT(nothing.errors, HasSubstr("no case matches the filter \"memory/triod\" (4 are known)"));
  EXPECT_THAT(nothing.errors, HasSubstr("near it: memory/triad/case/1"));
  const Finished bad = stage.measure({"--filter=gemm("});
  EXPECT_EQ(bad.code, 64);
  EXPECT_THAT(bad.errors, HasSubstr("a ( without its )"));
  EXPECT_FALSE(std::filesystem::exists(stage.out()));
}

TEST(GoogleFront, WritesJsonThatItsToolsCanRead) {
  Stage stage(json{{"cases", 2}, {"seconds", 1e-3}});
  EXPECT_EQ(stage
                .measure({"--benchmark_out=" + stage.file("out.json").string(), "--benchmark_repetitions=2",
                          "--benchmark_time_unit=ms"})
                .code,
            0);
  const json whole = json::parse(text_of(stage.file("out.json")));
  std::vector<std::string> names;
  for (const auto& one : whole.at("benchmarks")) names.push_back(one.at("name"));
  EXPECT_EQ(names, (std::vector<std::string>{"gemm/fp32/case/1", "gemm/fp32/case/1", "gemm/fp32/case/1_mean",
                                             "gemm/fp32/case/1_median", "gemm/fp32/case/1_stddev",
                                             "gemm/fp32/case/1_cv", "memory/triad/case/1", "memory/triad/case/1",
                                             "memory/triad/case/1_mean", "memory/triad/case/1_median",
                                             "memory/triad/case/1_stddev", "memory/triad/case/1_cv"}));
  EXPECT_DOUBLE_EQ(whole["benchmarks"][0]["real_time"], 1.0);
  EXPECT_EQ(whole["benchmarks"][0]["run_name"], "gemm/fp32/case/1");
  EXPECT_EQ(whole["benchmarks"][0]["repetitions"], 2);
  EXPECT_EQ(whole["context"]["executable"], "assay");
  EXPECT_TRUE(whole["benchmarks"][0].contains("flops_per_second"));
}

TEST(GoogleFront, PrintsOnlyJsonWhereAskedFor) {
  Stage stage(json{{"cases", 2}, {"rules", list(json{{"at", "prepare"}, {"with", "gemm"}, {"do", "unsupported"}})}});
  const Finished finished = stage.measure({"--benchmark_format=json"});
  EXPECT_EQ(finished.code, 0);
  const json whole = json::parse(finished.output);
  EXPECT_EQ(whole["benchmarks"][0]["error_message"], "skipped: the script says so");
  EXPECT_EQ(whole["benchmarks"][1]["name"], "memory/triad/case/1");
}

TEST(GoogleFront, PrintsItsTableWhereAskedFor) {
  Stage stage(json{{"cases", 1}});
  const Finished finished = stage.measure({"--benchmark_format=console"});
  EXPECT_THAT(finished.output, HasSubstr("gemm/fp32/case/1 "));
  EXPECT_THAT(finished.output, Not(HasSubstr("manual_time")));
  EXPECT_THAT(finished.output, Not(HasSubstr("iterations:1")));
}

TEST(GoogleFront, DoesNotOverwriteItsFileUnlessForced) {
  Stage stage(json{{"cases", 1}});
  std::filesystem::copy_file(stage.file("script.json"), stage.file("precious"));
  const std::string argument = "--benchmark_out=" + stage.file("precious").string();
  const Finished refused = stage.measure({argument});
  EXPECT_EQ(refused.code, 64);
  EXPECT_THAT(refused.errors, HasSubstr("exists already"));
  EXPECT_FALSE(std::filesystem::exists(stage.out())) << "nothing is begun";
  EXPECT_EQ(stage.measure({argument, "--force"}).code, 0);
  EXPECT_THAT(text_of(stage.file("precious")), HasSubstr("benchmarks"));
}

}  // namespace
}  // namespace assay::test
