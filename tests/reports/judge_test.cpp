// Whole reports: verdicts, numbers that add up, findings, exit codes.
// SPDX-License-Identifier: Apache-2.0
#include "reports/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "reports/memory.h"
#include "reports/verdict.h"
#include "reports/workload.h"
#include "tests/reports/made_up_run.h"

namespace assay {
namespace {

using testing::HasSubstr;

Report judged(const std::string& name, double memory_bytes, Workload workload = default_workload(Purpose::inference)) {
  return judge({measured_run(memory_bytes)}, find_model(name), workload, "");
}

const Table& table(const Report& report, const std::string& id) {
  for (const Section& section : report.sections)
    for (const Table& one : section.tables)
      if (one.id == id) return one;
  throw std::runtime_error("no table " + id);
}

const Quantity& number(const Table& table, const std::string& row) {
  for (const auto& cells : table.rows)
    if (std::get<std::string>(cells.at(0)) == row) return std::get<Quantity>(cells.at(1));
  throw std::runtime_error("no row " + row);
}

Capacity room(double bytes) { return {bytes, "made up", {}}; }

TEST(Verdict, FitsOnlyWhereTheUpperBoundDoes) {
  MemoryBudget budget;
  budget.items.push_back({"a", 10, 8, 12, "", "", "", ""});
  EXPECT_EQ(answer(budget, room(12)), Answer::fits);
  EXPECT_EQ(answer(budget, room(11.9)), Answer::tight);
  EXPECT_EQ(answer(budget, room(8)), Answer::tight);
  EXPECT_EQ(answer(budget, room(7.9)), Answer::does_not_fit);
  EXPECT_EQ(answer(budget, {std::nullopt, "", {}}), Answer::not_judged);
}

TEST(Verdict, OfLlama3OnSixteenAndSixtyFourGibibytes) {
  // 14.96 GiB of weights and 0.5 GiB of cache leave no room for the rest on 15 GiB, and plenty on 64.
  EXPECT_EQ(judged("llama-3-8b", 64 * gib).verdict->answer, Answer::fits);
  EXPECT_EQ(judged("llama-3-8b", 15 * gib).verdict->answer, Answer::does_not_fit);
  EXPECT_EQ(judged("llama-3-8b", 16.1 * gib).verdict->answer, Answer::tight);
}

TEST(Verdict, NamesTheDecidingTermAndWhatWouldHelp) {
  const Verdict verdict = *judged("llama-3-8b", 12 * gib).verdict;
  EXPECT_EQ(verdict.answer, Answer::does_not_fit);
  EXPECT_THAT(verdict.deciding_term, HasSubstr("weights: 14.96 GiB"));
  EXPECT_THAT(verdict.changes, testing::Contains(testing::AllOf(HasSubstr("4-bit weights"), HasSubstr("fits"))));
  EXPECT_THAT(verdict.changes.front(), HasSubstr("fits"));  // what makes it fit comes first
  EXPECT_THAT(verdict.changes, testing::Contains(HasSubstr("no batch fits")));
  EXPECT_THAT(judged("deepseek-v3", 12 * gib).verdict->changes.front(), HasSubstr("nothing here makes it fit"));
}

TEST(Verdict, FindsTheLargestBatchAndContext) {
  const ModelSpec model = find_model("llama-3-8b");
  const Workload workload = resolve(default_workload(Purpose::inference), model);
  const double capacity = 64 * gib;
  const std::int64_t batch = largest_batch(model, workload, capacity, {}).value();
  Workload tried = workload;
  tried.batch = batch;
  EXPECT_LE(memory_budget(model, tried, {}).upper(), capacity);
  tried.batch = batch + 1;
  EXPECT_GT(memory_budget(model, tried, {}).upper(), capacity);
  EXPECT_EQ(largest_context(model, workload, capacity, {}), 8192);  // the model's own limit comes first
  EXPECT_FALSE(largest_context(model, workload, 1 * gib, {}));
}

TEST(Verdict, MapsToExitCodes) {
  Report report;
  EXPECT_EQ(exit_code_of(report), 0);
  report.verdict.emplace();
  const std::vector<std::pair<Answer, int>> codes{
      {Answer::fits, 0}, {Answer::tight, 0}, {Answer::does_not_fit, 1}, {Answer::not_judged, 2}};
  for (const auto& [answer, code] : codes) {
    report.verdict->answer = answer;
    EXPECT_EQ(exit_code_of(report), code);
  }
}

Row survey(const std::string& metric, double bytes, const std::string& reason) {
  Row row;
  row.case_name = "capacity/allocatable";
  row.family = "capacity";
  row.device = "cpu:0";
  row.metric = metric;
  row.unit = "bytes";
  row.value = bytes;
  row.reason = reason;
  return row;
}

TEST(Judge, PrefersTheCapacityThatWasProved) {
  assay::Run run = measured_run(64 * gib);
  run.rows.push_back(survey("allocatable_bytes", 20 * gib, ""));
  const Report report = judge({run}, find_model("llama-3-8b"), default_workload(Purpose::inference), "cpu:0");
  EXPECT_EQ(number(table(report, "memory"), "capacity").value, 20 * gib);
}

TEST(Judge, WarnsWhereLittleOfTheMemoryWasReallyTaken) {
  const auto warned = [](double touched) {
    assay::Run run = measured_run(64 * gib);
    run.rows.push_back(survey("allocatable_bytes", 20 * gib, ""));
    run.rows.push_back(survey("touched_bytes", touched, "stopped because its time was over"));
    const Report report = judge({run}, find_model("llama-3-8b"), default_workload(Purpose::inference), "");
    EXPECT_EQ(number(table(report, "memory"), "capacity").value, 20 * gib);
    std::string all;
    for (const Finding& finding : report.findings) all += finding.sentence;
    return all.find("Of the 20.00 GiB there only") != std::string::npos;
  };
  EXPECT_TRUE(warned(0.25 * gib));
  EXPECT_FALSE(warned(12 * gib));
}

TEST(Judge, AddsUpAndSaysTheSameNumberEverywhere) {
  for (const char* name : {"llama-3-8b", "qwen2.5-7b", "mixtral-8x7b", "gpt2", "bert-base-uncased", "resnet-50"}) {
    const Report report = judged(name, 64 * gib);
    const Table& memory = table(report, "memory");
    double total = 0, lower = 0, upper = 0, bars = 0;
    for (const auto& cells : memory.rows) {
      const std::string& item = std::get<std::string>(cells.at(0));
      if (item == "total") break;
      const Quantity& one = std::get<Quantity>(cells.at(1));
      total += *one.value;
      lower += one.lower.value_or(*one.value);
      upper += one.upper.value_or(*one.value);
    }
    const Quantity& sum = number(memory, "total");
    EXPECT_DOUBLE_EQ(*sum.value, total) << name;
    EXPECT_DOUBLE_EQ(*sum.lower, lower) << name;
    EXPECT_DOUBLE_EQ(*sum.upper, upper) << name;
    EXPECT_DOUBLE_EQ(*report.headline.at(0).second.value, total) << name;
    EXPECT_THAT(report.verdict->sentence, HasSubstr(show({total, ReportUnit::bytes, {}, {}, ""}) + " needed")) << name;
    EXPECT_DOUBLE_EQ(*number(memory, "left over").value, 64 * gib - total) << name;
    for (const Section& section : report.sections)
      for (const Chart& chart : section.charts)
        if (chart.id == "budget")
          for (const Series& series : chart.series) bars += series.y.at(0);
    EXPECT_DOUBLE_EQ(bars, total) << name;
    EXPECT_LE(report.headline.size(), 6U) << name;
  }
}

TEST(Judge, MakesTokensASecondFromItsTimes) {
  const Report report = judged("llama-3-8b", 64 * gib);
  const Table& speed = table(report, "speed");
  EXPECT_NEAR(*number(speed, "prompt").value * *number(speed, "time to the first token").value, 4096, 1e-6);
  EXPECT_NEAR(*number(speed, "decode, one sequence").value * *number(speed, "time a token").value, 1, 1e-9);
}

TEST(Judge, SaysWhatItDoesNotKnow) {
  const Report report = judge({made_up_run()}, find_model("gpt2"), default_workload(Purpose::inference), "");
  EXPECT_EQ(report.verdict->answer, Answer::not_judged);
  EXPECT_THAT(report.verdict->sentence, HasSubstr("not known"));
  for (const auto& [name, value] : report.headline) {
    if (!value.value) {
      EXPECT_FALSE(value.reason.empty()) << name;
    }
  }
  const Report pictures = judged("resnet-50", 64 * gib);
  EXPECT_THAT(number(table(pictures, "speed"), "forward pass").reason, HasSubstr("measures no convolutions"));
}

TEST(Judge, TakesARunThatFoundNoDevice) {
  assay::Run run;
  run.info.id = "empty";
  const Report report = judge({run}, find_model("gpt2"), default_workload(Purpose::inference), "");
  EXPECT_EQ(report.verdict->answer, Answer::not_judged);
  EXPECT_THROW(judge({run}, find_model("gpt2"), default_workload(Purpose::inference), "cuda:7"), BadInput);
  EXPECT_THROW(judge({}, find_model("gpt2"), default_workload(Purpose::inference), ""), BadInput);
}

TEST(Judge, PutsTheWorstFindingFirst) {
  assay::Run run = measured_run(64 * gib);
  run.partial = true;
  run.info.ending = Ending::interrupted;
  run.remarks = {"70 of 80 planned cases have no row"};
  run.rows.front().conditions = "other_load";
  run.rows.push_back(made_up_row("gemm/wrong", made_up_gemm(8, 8, 8), 1));
  run.rows.back().status = Status::mistrusted;
  run.rows.push_back(made_up_row("gemm/broken", made_up_gemm(8, 8, 9), 1));
  run.rows.back().status = Status::failed;
  run.rows.back().reason = "the library said no";
  Fact quota{"cpu_quota_cores", 1.5, "cores", "", "", ""}, allowed{"cores_allowed", 2, "cores", "", "", ""};
  run.info.facts = {quota, allowed};
  const Report report = judge({run}, find_model("llama-3-8b"), default_workload(Purpose::inference), "");
  std::string all;
  Severity last = Severity::problem;
  for (const Finding& finding : report.findings) {
    EXPECT_LE(finding.severity, last);
    last = finding.severity;
    all += finding.sentence + " " + finding.evidence + "\n";
  }
  EXPECT_EQ(report.findings.front().severity, Severity::problem);
  for (const char* part : {"impossible or unproven", "gemm/wrong", "gemm/broken", "partial", "70 of 80",
                           "Others used the machine during 1 of", "1.5 of the 2 cores"})
    EXPECT_THAT(all, HasSubstr(part));
  const Table& trouble = table(report, "trouble");
  EXPECT_EQ(trouble.rows.size(), 2U);
  EXPECT_EQ(std::get<std::string>(trouble.rows.at(1).at(2)), "the library said no");
}

TEST(Judge, WarnsOfAContextBeyondTheModelsOwn) {
  Workload workload = default_workload(Purpose::inference);
  workload.context = 16384;
  const Report report = judged("llama-3-8b", 64 * gib, workload);
  std::string all;
  for (const Finding& finding : report.findings) all += finding.sentence;
  EXPECT_THAT(all, HasSubstr("Llama-3-8B was made for 8,192 tokens"));
}

TEST(Verdict, NamesThePriceOfAChangeAndTheCheapestFirst) {
  // Of what then fits, 8 bits change the answers less than 4 do.
  const auto changes = judged("llama-3-8b", 12 * gib).verdict->changes;
  EXPECT_THAT(changes.at(0), testing::StartsWith("8-bit weights: "));
  EXPECT_THAT(changes.at(0), HasSubstr("fits; answers change: check the outputs"));
  EXPECT_THAT(changes.at(1), testing::StartsWith("4-bit weights: "));
  Workload training = default_workload(Purpose::training);
  training.batch = 4;
  EXPECT_THAT(judged("gpt2", 2 * gib, training).verdict->changes,
              testing::Contains(testing::AllOf(HasSubstr("full recompute"), HasSubstr("a third more products"))));
}

TEST(Judge, WarnsOfShortFormatsAndOfSeveralDevices) {
  const auto says = [](const Report& report, const std::string& words) {
    for (const Finding& finding : report.findings)
      if (finding.sentence.find(words) != std::string::npos) return true;
    return false;
  };
  Workload workload = default_workload(Purpose::inference);
  EXPECT_FALSE(says(judged("llama-3-8b", 64 * gib, workload), "precision"));
  EXPECT_FALSE(says(judged("llama-3-8b", 64 * gib, workload), "not one memory"));
  workload.kv = {Element::int8, Scaling::none};
  workload.layout.tensor = 2;
  EXPECT_TRUE(says(judged("llama-3-8b", 64 * gib, workload), "precision"));
  EXPECT_TRUE(says(judged("llama-3-8b", 64 * gib, workload), "not one memory"));
}

TEST(Judge, SaysThatItsBudgetIsOneForAllPrograms) {
  Workload workload = default_workload(Purpose::inference);
  const Report usual = judged("llama-3-8b", 64 * gib, workload);
  workload.framework = Framework::transformers;
  const Report named = judged("llama-3-8b", 64 * gib, workload);
  EXPECT_EQ(number(table(usual, "memory"), "total").value, number(table(named, "memory"), "total").value);
  EXPECT_THAT(table(named, "memory").note, HasSubstr("one for all programs"));
}

TEST(Judge, FillsTheBuyersChecklistFromTheRun) {
  assay::Run run = measured_run(64 * gib);
  const Table blank =
      table(judge({run}, find_model("llama-3-8b"), default_workload(Purpose::inference), ""), "checklist");
  ASSERT_EQ(blank.rows.size(), 10U);
  EXPECT_THAT(std::get<std::string>(blank.rows.at(8).at(1)), testing::StartsWith("____"));  // the host: not measured
  EXPECT_THAT(std::get<std::string>(blank.rows.at(4).at(1)), testing::StartsWith("____"));  // outputs: nobody looked
  EXPECT_THAT(std::get<std::string>(blank.rows.at(1).at(1)), HasSubstr("weights 14.96 GiB"));
  EXPECT_THAT(std::get<std::string>(blank.rows.at(5).at(1)), HasSubstr("64.00 GiB there"));
  EXPECT_THAT(std::get<std::string>(blank.rows.at(3).at(2)), HasSubstr("--framework-counters "));  // watch's option
  Row row;
  row.family = "host";
  row.case_name = "host/storage";
  row.metric = "storage_read_bytes_per_second";
  row.value = 1.606e9;  // 16.06 GB of weights: 10 s
  run.rows.push_back(row);
  const Table filled =
      table(judge({run}, find_model("llama-3-8b"), default_workload(Purpose::inference), ""), "checklist");
  EXPECT_THAT(std::get<std::string>(filled.rows.at(8).at(1)), HasSubstr("load in 10.0 s"));
}

TEST(Judge, TakesEveryModelThroughEveryUse) {
  const assay::Run run = measured_run(64 * gib);
  for (const ModelSpec& model : builtin_models()) {
    for (const Purpose purpose : {Purpose::inference, Purpose::training}) {
      const Report report = judge({run}, model, default_workload(purpose), "");
      ASSERT_TRUE(report.verdict) << model.name;
      EXPECT_FALSE(report.verdict->deciding_term.empty()) << model.name;
      EXPECT_NE(report.verdict->answer, Answer::not_judged) << model.name;
    }
  }
}

TEST(Judge, SurvivesTheLargestWorkloadThatMayBeAsked) {
  Workload workload = default_workload(Purpose::inference);
  workload.batch = 1'000'000;
  workload.context = 100'000'000;
  EXPECT_EQ(judged("llama-3.1-405b", 64 * gib, workload).verdict->answer, Answer::does_not_fit);
}

}  // namespace
}  // namespace assay
