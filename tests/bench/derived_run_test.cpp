// Derived rows in a run's files: written however it ends, and anew when it is gone on with.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>

#include "tests/bench/front.h"

namespace assay::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* share = "derived/issue_utilisation/fp32";

// Every execution takes a millisecond: the issue rate is 12,800 flops in one, case n is 2 (16 + n) 16 16.
json script_of(int cases) { return json{{"cases", cases}, {"issue", true}, {"seconds", 1e-3}}; }

int mentions(const std::filesystem::path& path, const std::string& words) {
  std::ifstream file(path);
  int count = 0;
  for (std::string line; std::getline(file, line);) count += line.find(words) != std::string::npos ? 1 : 0;
  return count;
}

TEST(DerivedRun, EndsWithWhatFollowsFromItsRows) {
  Stage stage(script_of(4));
  const Finished finished = stage.measure();
  EXPECT_EQ(finished.code, 0) << finished.errors;
  EXPECT_THAT(finished.output, HasSubstr(share));
  const assay::Run run = read_run(stage.out());
  EXPECT_FALSE(run.partial);
  EXPECT_TRUE(run.remarks.empty());
  const auto rows = rows_of(run, share);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NEAR(rows[0].value.value(), 2.0 * 18 * 16 * 16 / 12800, 1e-9);
  EXPECT_EQ(rows[0].method, "gemm/fp32/case/2 over issue/fp32/vector/all");
  EXPECT_EQ(rows[0].device, "fake:0");
  EXPECT_EQ(rows[0].op, "");
  EXPECT_FALSE(rows[0].started_utc.empty());
  EXPECT_EQ(std::count(run.info.planned.begin(), run.info.planned.end(), std::string("fake:0 ") + share), 0);
}

TEST(DerivedRun, IsWrittenForEachRepetition) {
  Stage stage(script_of(2));
  EXPECT_EQ(stage.measure({"--repeat=2"}).code, 0);
  const auto rows = rows_of(read_run(stage.out()), share);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NE(rows[0].repetition, rows[1].repetition);
}

TEST(DerivedRun, IsAFindingWhereAShareIsMoreThanTheWhole) {
  // The eighth product does 2 * 24 * 16 * 16 = 12,288 flops; the twelfth 14,336, which is 1.12 times 12,800.
  Stage fits(script_of(16));
  EXPECT_EQ(fits.measure().code, 0);
  Stage stage(script_of(24));
  const Finished finished = stage.measure();
  EXPECT_EQ(finished.code, 1);
  EXPECT_THAT(finished.output, HasSubstr("mistrusted: fake:0 derived/issue_utilisation/fp32: 1.12 times the rate"));
  EXPECT_EQ(rows_of(read_run(stage.out()), share).front().status, Status::mistrusted);
}

TEST(DerivedRun, KnowsBetterAfterItWasGoneOnWith) {
  Stage stage(json::object());
  json script = script_of(8);
  script["log"] = stage.file("log").string();
  script["rules"] = list(json{{"at", "run"}, {"with", "gemm m=19 "}, {"do", "hang"}});
  stage.rewrite(script);
  const pid_t pid = stage.start({"--out=" + stage.out().string()});
  EXPECT_TRUE(Stage::until([&] { return stage.log().find("run gemm m=19 ") != std::string::npos; }));
  kill(pid, SIGTERM);
  EXPECT_EQ(stage.wait(pid).code, 128 + SIGTERM);
  auto rows = rows_of(read_run(stage.out()), share);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NEAR(rows[0].value.value(), 2.0 * 18 * 16 * 16 / 12800, 1e-9);
  stage.rewrite(script_of(8));
  EXPECT_EQ(stage.run({"--resume=" + stage.out().string()}).code, 0);
  rows = rows_of(read_run(stage.out()), share);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_NEAR(rows[0].value.value(), 2.0 * 20 * 16 * 16 / 12800, 1e-9);
  EXPECT_EQ(mentions(stage.out() / "results.csv", share), 2) << "nothing that was written is taken back";
}

}  // namespace
}  // namespace assay::test
