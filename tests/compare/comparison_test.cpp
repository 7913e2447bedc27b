// Comparisons: like with like, ratios worked by hand, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "reports/compare/sections.h"
#include "reports/render.h"
#include "tests/reports/made_up_run.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// A processor whose products run at `rate` flops a second and whose stream of 2.4 GB takes 0.024 s / `speed`.
assay::Run machine(const std::string& name, double rate, double speed = 1) {
  assay::Run run = made_up_run(64 * gib);
  run.info.id = name;
  run.info.devices.front().name = name;
  const Gemm gemm = made_up_gemm(1024, 1024, 1024);
  Row row = made_up_row("gemm/bf16/square/1024", gemm, cost(Op(gemm)).flops / rate);
  row.lower = *row.value * 0.98;
  row.upper = *row.value * 1.02;
  run.rows.push_back(row);
  run.rows.push_back(made_up_row("memory/triad/plain/dram", made_up_triad(2'400'000'000), 0.024 / speed));
  return run;
}

Comparison compared(const std::vector<assay::Run>& runs, const std::vector<double>& prices = {}) {
  return compare(contenders(runs, {}, prices));
}

std::string complaint(const std::vector<assay::Run>& runs, const std::vector<std::string>& devices,
                      const std::vector<double>& prices) {
  try {
    contenders(runs, devices, prices);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(Comparison, HoldsTheSameWorkAgainstTheFirstWithTheOutermostInterval) {
  const std::vector<assay::Run> runs = {machine("A", 1e12), machine("B", 2e12)};
  const Comparison comparison = compared(runs);
  ASSERT_THAT(comparison.alike, SizeIs(2));
  const Alike& product = comparison.alike.front();
  EXPECT_EQ(product.case_name, "gemm/bf16/square/1024");
  const Quantity ratio = speed_ratio(*product.taken[1], *product.taken[0]);
  EXPECT_DOUBLE_EQ(*ratio.value, 2);
  // B's slowest against A's fastest, 2 x 0.98 / 1.02, and the other way about.
  EXPECT_NEAR(*ratio.lower, 1.9216, 1e-4);
  EXPECT_NEAR(*ratio.upper, 2.0816, 1e-4);
}

TEST(Comparison, LeavesOtherDataCacheModeAndVariantOutAndSaysWhy) {
  std::vector<assay::Run> runs = {machine("A", 1e12), machine("B", 2e12)};
  runs[1].rows[0].data = "zero";
  runs[1].rows[1].cache = "hot";
  const Comparison comparison = compared(runs);
  EXPECT_THAT(comparison.alike, SizeIs(0));
  ASSERT_THAT(comparison.not_alike, SizeIs(2));
  EXPECT_THAT(comparison.not_alike[0].why, HasSubstr("data zero"));
  EXPECT_THAT(comparison.not_alike[0].why, HasSubstr("data typical"));
  EXPECT_THAT(comparison.not_alike[1].why, HasSubstr("hot"));
  EXPECT_EQ(exit_code_of(comparison), 2);
}

TEST(Comparison, LeavesOutProductsThatMultipliedSomethingElse) {
  std::vector<assay::Run> runs = {machine("A", 1e12), machine("B", 2e12)};
  runs[0].rows[0].executed = "bf16";
  runs[1].rows[0].executed = "fp32";
  const Comparison comparison = compared(runs);
  EXPECT_THAT(comparison.alike, SizeIs(1));  // the stream
  ASSERT_THAT(comparison.not_alike, SizeIs(1));
  EXPECT_THAT(comparison.not_alike[0].why, HasSubstr("multiplied"));
}

TEST(Comparison, CountsNeitherPlantedNorFailedRows) {
  std::vector<assay::Run> runs = {machine("A", 1e12), machine("B", 2e12)};
  runs[1].rows[0].conditions = "planted";
  runs[1].rows[1].status = Status::mistrusted;
  EXPECT_THAT(compared(runs).alike, SizeIs(0));
}

TEST(Comparison, TakesTheMiddleOfRepetitions) {
  std::vector<assay::Run> runs = {machine("A", 1e12), machine("B", 1e12)};
  for (const double factor : {3.0, 0.5}) {
    Row row = runs[1].rows[1];
    row.repetition = 1;
    *row.value *= factor;
    runs[1].rows.push_back(row);
  }
  const Comparison comparison = compared(runs);
  const Taken& stream = *comparison.alike.back().taken[1];
  EXPECT_DOUBLE_EQ(stream.seconds, 0.024);  // of 0.012, 0.024 and 0.072
  EXPECT_DOUBLE_EQ(stream.lower, 0.012);
  EXPECT_DOUBLE_EQ(stream.upper, 0.072);
}

TEST(Comparison, GivesTheGeometricMeanOfAKindOfWork) {
  std::vector<assay::Run> runs = {machine("A", 1e12), machine("B", 2e12)};
  for (std::size_t index = 0; index < 2; ++index) {
    const Gemm gemm = made_up_gemm(2048, 2048, 2048);
    const double rate = index == 0 ? 1e12 : 8e12;
    runs[index].rows.push_back(made_up_row("gemm/bf16/square/2048", gemm, cost(Op(gemm)).flops / rate));
  }
  const auto means = family_means(compared(runs));
  ASSERT_EQ(means.front().family, "gemm");
  EXPECT_NEAR(*means.front().means[1], 4, 1e-9);  // of 2 and 8
}

TEST(Comparison, MarksTheBestAndTheWorstOnlyWhereTheyCanBeToldApart) {
  std::vector<assay::Run> runs = {machine("A", 1e12), machine("B", 2e12)};
  const auto all = characteristics(compared(runs));
  ASSERT_EQ(all.front().name, "bf16 products");
  EXPECT_EQ(ends(all.front()).best, 1U);
  EXPECT_EQ(ends(all.front()).worst, 0U);
  runs[1] = machine("B", 1.01e12);  // within 2 % either side
  EXPECT_FALSE(ends(characteristics(compared(runs)).front()).best.has_value());
}

TEST(Comparison, DividesByWattsAndDollars) {
  std::vector<assay::Run> runs = {machine("A", 1e12), machine("B", 2e12)};
  runs[1].rows[0].power_watts = 500;
  const Comparison comparison = compared(runs, {2.0, 4.0});
  EXPECT_EQ(comparison.contenders[1].price_per_hour, 4.0);
  const Table table = characteristics_section(comparison).tables.front();
  ASSERT_THAT(table.rows, ::testing::Not(::testing::IsEmpty()));
  const std::vector<Cell>& second = table.rows[1];  // bf16 products of B
  EXPECT_EQ(*std::get<Quantity>(second[6]).value, 2e12 / 500);
  EXPECT_EQ(*std::get<Quantity>(second[7]).value, 2e12 / 4);
}

TEST(Comparison, RanksAModelBySpeedAndCost) {
  const std::vector<assay::Run> runs = {machine("A", 1e12, 1), machine("B", 2e12, 4)};
  const ModelSpec model = find_model("llama-3-8b");
  CompareQuestion question;
  question.model = &model;
  question.workload = default_workload(Purpose::inference);
  const Report report = comparison_report(compared(runs, {1.0}), question);
  ASSERT_EQ(report.sections.front().id, "ranking");
  const Table& table = report.sections.front().tables.front();
  EXPECT_EQ(std::get<std::string>(table.rows[0][1]), "B");
  EXPECT_EQ(std::get<Answer>(table.rows[0][2]), Answer::fits);
  EXPECT_GT(*std::get<Quantity>(table.rows[0][3]).value, *std::get<Quantity>(table.rows[1][3]).value);
  EXPECT_LT(*std::get<Quantity>(table.rows[0][4]).value, *std::get<Quantity>(table.rows[1][4]).value);
}

TEST(Comparison, ChecksAClaimOfSpeed) {
  const std::vector<assay::Run> runs = {machine("Alpha", 1e12, 1), machine("Beta", 2e12, 4)};
  CompareQuestion question;
  question.speed_claim = "Beta is 30x Alpha at inference";  // 4 at most
  EXPECT_THAT(comparison_report(compared(runs), question).findings.front().sentence,
              HasSubstr("No op gains more than 4x"));
  question.speed_claim = "Beta is 3x Alpha at inference";
  EXPECT_THAT(render_markdown(comparison_report(compared(runs), question)), HasSubstr("not contradicted"));
  question.speed_claim = "Gamma is 3x Alpha at inference";
  EXPECT_THAT(render_markdown(comparison_report(compared(runs), question)), HasSubstr("cannot be checked"));
}

TEST(Comparison, NamesWhatDiffersBetweenTheRuns) {
  std::vector<assay::Run> runs = {machine("A", 1e12), machine("B", 2e12)};
  runs[0].info.build_type = "Release";
  runs[1].info.build_type = "Debug";
  EXPECT_THAT(compared(runs).differences, ::testing::ElementsAre("The build type differs: Debug, Release"));
}

TEST(Comparison, RefusesWhatCannotBeCompared) {
  const std::vector<assay::Run> runs = {machine("A", 1e12), machine("B", 2e12)};
  EXPECT_THAT(complaint({runs[0]}, {}, {}), HasSubstr("one device only"));
  EXPECT_THAT(complaint(runs, {"cuda:7"}, {}), HasSubstr("no run has the device 'cuda:7'"));
  EXPECT_THAT(complaint(runs, {}, {1, 2, 3}), HasSubstr("--price is given 3 times for 2 runs"));
}

TEST(Comparison, GivesNoIntervalWhereOneReachesBelowNothing) {
  std::vector<assay::Run> runs = {machine("A", 1e12), machine("B", 2e12)};
  runs[1].rows[0].lower = -1e-3;
  const Comparison comparison = compared(runs);
  const Alike& product = comparison.alike.front();
  EXPECT_FALSE(speed_ratio(*product.taken[1], *product.taken[0]).lower.has_value());
  EXPECT_THAT(comparison_csv(comparison), HasSubstr(",2,,,"));  // the ratio, and no interval
}

TEST(Comparison, TellsDevicesOfOneNameApart) {
  const std::vector<assay::Run> runs = {machine("A", 1e12), machine("A", 2e12)};
  const Comparison comparison = compared(runs);
  EXPECT_EQ(comparison.contenders[0].name, "A, run 1");
  EXPECT_EQ(comparison.contenders[1].name, "A, run 2");
}

TEST(Comparison, WritesCsvWithARowForEachDeviceAndPieceOfWork) {
  const std::vector<assay::Run> runs = {machine("A, with a comma", 1e12), machine("B", 2e12)};
  const std::string csv = comparison_csv(compared(runs));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);  // the names, and two by two
  EXPECT_THAT(csv, HasSubstr("\"A, with a comma\""));
}

}  // namespace
}  // namespace assay
