// What continuous integration reads: form, counts, and names that could break them.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/ci.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "tests/gate/made_up_sides.h"

namespace assay::gate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Slower times, one metric that is gone, one that is new, and names that are markup.
GateRuns troubled() {
  GateRuns runs = made_up_runs(8, 0.05);
  each(runs.after,
       [](assay::Run& run) { std::erase_if(run.rows, [](const Row& row) { return row.case_name == stream; }); });
  each(runs.after, [](assay::Run& run) { row_of(run, "capacity/context").case_name = "a<b>&\"c\"|d::e"; });
  each(runs.before, [](assay::Run& run) { row_of(run, "capacity/context").case_name = "a<b>&\"c\"|d::e"; });
  each(runs.after, [](assay::Run& run) {
    Row row = row_of(run, product);
    row.case_name = "gemm/new";
    run.rows.push_back(row);
  });
  return runs;
}

TEST(GateCi, JunitCountsAndEscapes) {
  const std::string xml = junit(gate(troubled(), {}), {});
  // The product, the stream, what can be allocated, the context, the new one; one time alone makes no mean.
  EXPECT_THAT(xml, HasSubstr("tests=\"5\" failures=\"2\" errors=\"1\" skipped=\"0\""));
  EXPECT_EQ(times(xml, "<testcase "), 5U);
  EXPECT_EQ(times(xml, "<failure "), 2U);
  EXPECT_EQ(times(xml, "<error "), 1U);
  EXPECT_THAT(xml, HasSubstr("a&lt;b&gt;&amp;&quot;c&quot;|d::e"));
  EXPECT_THAT(xml, Not(HasSubstr("a<b")));
  EXPECT_FALSE(std::regex_search(xml, std::regex("time=\"[^\"]*e")));  // an exponent is refused by the Ant schema
}

TEST(GateCi, JunitSkipsWhatIsInconclusiveOrRecorded) {
  const GateRuns few = made_up_runs(2);
  EXPECT_THAT(junit(gate(few, {}), {}), HasSubstr("tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"4\""));
  GateRules rules;
  rules.no_baseline_records = true;
  EXPECT_THAT(junit(gate(troubled(), rules), rules), HasSubstr("errors=\"0\" skipped=\"1\""));
}

TEST(GateCi, AnnotationsAreALineForEachKind) {
  const std::string lines = github_annotations(gate(troubled(), {}), {});
  EXPECT_EQ(times(lines, "\n"), 4U);  // broken, slower, incomparable, and the whole
  EXPECT_THAT(lines, HasSubstr("::error title=Assay%3A 1 SLOWER::"));
  EXPECT_THAT(lines, HasSubstr("%25"));  // a bare percent sign would be an escape
  EXPECT_EQ(times(lines, "::error"), 3U);
}

TEST(GateCi, SummaryIsATableThatNoNameBreaks) {
  const GateRuns runs = troubled();
  const std::string text = github_summary(gate(runs, {}), {});
  EXPECT_THAT(text, HasSubstr("## Assay gate: failed"));
  EXPECT_THAT(text, HasSubstr("a\\<b>&\"c\"\\|d::e"));
}

TEST(GateCi, SummaryStaysBelowTheLimitAndSaysWhatIsLeftOut) {
  GateRuns runs = made_up_runs(3);
  const std::string long_name(2000, 'x');
  for (auto* side : {&runs.before, &runs.after})
    each(*side, [&](assay::Run& run) {
      for (int i = 0; i < 1000; ++i) {
        Row row = row_of(run, product);
        row.case_name = long_name + std::to_string(i);
        run.rows.push_back(row);
      }
    });
  const std::string text = github_summary(gate(runs, {}), {});
  EXPECT_LT(text.size(), std::size_t{1} << 20);
  EXPECT_THAT(text, HasSubstr("more rows do not fit here"));
}

// The rules of OpenMetrics 1.0 that a line can break.
TEST(GateCi, OpenMetricsKeepsItsForm) {
  const std::string text = openmetrics(gate(troubled(), {}), {});
  ASSERT_GE(text.size(), 6U);
  EXPECT_EQ(text.substr(text.size() - 6), "# EOF\n");
  EXPECT_EQ(times(text, "# EOF"), 1U);
  const std::regex meta("# (TYPE [a-z_]+ gauge|UNIT ([a-z_]+_)(ratio|seconds|bytes) \\3|HELP [a-z_]+ .+|EOF)");
  const std::regex sample(
      "[a-z_]+(\\{[a-z]+=\"([^\"\\\\]|\\\\[\\\\\"n])*\"(,[a-z]+=\"([^\"\\\\]|\\\\[\\\\\"n])*\")*\\})? [-+0-9.e]+");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(std::regex_match(line, line.front() == '#' ? meta : sample)) << line;
  EXPECT_THAT(text, HasSubstr("verdict=\"SLOWER\"} 1"));
  EXPECT_THAT(text, HasSubstr("assay_gate_exit_code 1"));
  EXPECT_THAT(text, HasSubstr("case=\"a<b>&\\\"c\\\"|d::e\""));
}

TEST(GateCi, GoogleBenchmarkHasARepetitionForEachStart) {
  GateRuns runs = made_up_runs();
  row_of(runs.before[2], product).value.reset();
  const auto file = nlohmann::json::parse(google_benchmark(runs.before, false));
  EXPECT_EQ(file.at("context").at("json_schema_version"), 1);
  EXPECT_EQ(file.at("context").at("driver fake:0"), "1.0");
  ASSERT_EQ(file.at("benchmarks").size(), 16U);
  const auto& first = file.at("benchmarks").at(0);
  EXPECT_EQ(first.at("name"), "fake:0 gemm/bf16/square/1024");
  EXPECT_EQ(first.at("run_type"), "iteration");
  EXPECT_EQ(first.at("repetitions"), 8);
  EXPECT_EQ(first.at("time_unit"), "ns");
  EXPECT_DOUBLE_EQ(first.at("real_time"), 2e6);  // 2 ms
  EXPECT_EQ(file.at("benchmarks").at(2).at("error_occurred"), true);
  EXPECT_FALSE(file.at("benchmarks").at(2).contains("real_time"));
}

}  // namespace
}  // namespace assay::gate
