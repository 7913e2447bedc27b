// Verdicts on made-up runs: what is found, what stays the same under changes that do not matter, and policies.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "reports/gate/fit.h"
#include "reports/gate/gate_report.h"
#include "reports/render.h"
#include "tests/gate/made_up_sides.h"

namespace assay::gate {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(GateVerdict, NothingChangedIsOk) {
  const Gate found = gate(made_up_runs(), {});
  for (const MetricVerdict& one : found.metrics) EXPECT_EQ(one.verdict, Verdict::ok) << text(one.key) << one.reason;
  EXPECT_EQ(found.metrics.size(), 4U);
  EXPECT_EQ(exit_code_of(found, {}), 0);
}

TEST(GateVerdict, ASlowdownIsFoundWithItsSize) {
  const Gate found = gate(made_up_runs(8, 0.03), {});
  const MetricVerdict& one = verdict_of(found, product);
  EXPECT_EQ(one.verdict, Verdict::slower);
  EXPECT_NEAR(*worse_by(one).value, 0.03, 1e-3);  // the shift is a median of pairs, so the wobble moves it a little
  EXPECT_GT(*worse_by(one).lower, 0);
  EXPECT_LT(*worse_by(one).upper, 0.05);
  EXPECT_EQ(verdict_of(found, "capacity/context").verdict, Verdict::ok);
  EXPECT_EQ(exit_code_of(found, {}), 1);
}

TEST(GateVerdict, SwappingTheSidesMirrorsTheVerdict) {
  GateRuns runs = made_up_runs(8, 0.03);
  std::swap(runs.before, runs.after);
  const Gate found = gate(runs, {});
  EXPECT_EQ(verdict_of(found, product).verdict, Verdict::faster);
  EXPECT_EQ(exit_code_of(found, {}), 0);
  const double there = gate(made_up_runs(8, 0.03), {}).together->estimate->shift;
  EXPECT_DOUBLE_EQ(found.together->estimate->shift, -there);
}

TEST(GateVerdict, OrderOfRunsAndCommonFactorsChangeNothing) {
  GateRuns runs = made_up_runs(8, 0.03);
  const Estimate first = *verdict_of(gate(runs, {}), product).estimate;
  std::reverse(runs.before.begin(), runs.before.end());
  std::rotate(runs.after.begin(), runs.after.begin() + 3, runs.after.end());
  for (auto* side : {&runs.before, &runs.after})
    each(*side, [](assay::Run& run) { row_of(run, product).value = *row_of(run, product).value * 1000; });
  const Estimate second = *verdict_of(gate(runs, {}), product).estimate;
  EXPECT_NEAR(first.shift, second.shift, 1e-12);
  EXPECT_NEAR(first.scale, second.scale, 1e-12);
}

TEST(GateVerdict, MoreMemoryForTheContextAndLessToAllocateAreWorse) {
  GateRuns runs = made_up_runs();
  each(runs.after, [](assay::Run& run) {
    row_of(run, "capacity/context").value = 0.6 * gib;
    row_of(run, "capacity/allocatable").value = 57 * gib;
  });
  const Gate found = gate(runs, {});
  EXPECT_EQ(verdict_of(found, "capacity/context").verdict, Verdict::slower);
  EXPECT_NEAR(*worse_by(verdict_of(found, "capacity/context")).value, 0.2, 1e-9);
  EXPECT_EQ(verdict_of(found, "capacity/allocatable").verdict, Verdict::slower);
  EXPECT_NEAR(*worse_by(verdict_of(found, "capacity/allocatable")).value, 60.0 / 57 - 1, 1e-9);
  EXPECT_EQ(verdict_of(found, product).verdict, Verdict::ok);
}

TEST(GateVerdict, TooNoisyRunsAreInconclusiveAndSayWhatTheyCouldShow) {
  GateRuns runs = made_up_runs(3);
  each(runs.after, [](assay::Run& run) {
    row_of(run, product).value = *row_of(run, product).value * (run.info.id == "after-0" ? 1.04 : 1);
  });
  const MetricVerdict one = verdict_of(gate(runs, {}), product);
  EXPECT_EQ(one.verdict, Verdict::inconclusive);
  EXPECT_THAT(one.reason, HasSubstr("add runs"));
  EXPECT_GT(one.estimate->smallest_found, std::log1p(0.02));
}

TEST(GateVerdict, InconclusivePassesOnlyWhereThatIsThePolicy) {
  GateRules rules;
  const GateRuns runs = made_up_runs(2);  // too few for any verdict
  EXPECT_EQ(exit_code_of(gate(runs, rules), rules), 2);
  rules.inconclusive_passes = true;
  EXPECT_EQ(exit_code_of(gate(runs, rules), rules), 0);
  EXPECT_EQ(exit_code_of(gate(made_up_runs(8, 0.03), rules), rules), 1);
}

TEST(GateVerdict, EqualInCyclesAndSlowerInTimeNamesTheClock) {
  GateRuns runs = made_up_runs(8, 0.05);
  each(runs.after, [](assay::Run& run) {
    row_of(run, product).clock_hertz = 1.5e9 / 1.05;
    row_of(run, stream).clock_hertz = 1.5e9;
  });
  const Gate found = gate(runs, {});
  EXPECT_THAT(remark(verdict_of(found, product)), HasSubstr("equal in cycles"));
  EXPECT_THAT(remark(verdict_of(found, product)), HasSubstr("1.50 GHz before and is 1.43 GHz after"));
  EXPECT_THAT(remark(verdict_of(found, stream)), HasSubstr("in cycles too"));
}

TEST(GateVerdict, AnotherKernelOfTheSameLibraryIsAHint) {
  GateRuns runs = made_up_runs(8, 0.05);
  each(runs.after, [](assay::Run& run) { row_of(run, product).method = "madeup 1.2 kernel 9"; });
  const MetricVerdict one = verdict_of(gate(runs, {}), product);
  EXPECT_EQ(one.verdict, Verdict::slower);
  EXPECT_THAT(one.hints, Contains(HasSubstr("kernel 7 before, madeup 1.2 kernel 9 after")));
}

TEST(GateVerdict, TogetherSeesWhatEachAloneDoesNot) {
  GateRuns runs;
  // Eight metrics, each with its own scatter of 1.5 %, all of them 1 % slower after.
  Draws random(5);
  for (std::size_t i = 0; i < 8; ++i) {
    for (auto* side : {&runs.before, &runs.after}) {
      const bool after = side == &runs.after;
      assay::Run run = made_up_card(after ? "after" : "before", i);
      run.rows.resize(1);
      const Row first = run.rows.front();
      for (int metric = 0; metric < 8; ++metric) {
        Row row = first;
        row.case_name = "gemm/" + std::to_string(metric);
        row.value = (after ? 1.01 : 1.0) * std::exp(0.006 * random.normal());
        run.rows.push_back(row);
      }
      run.rows.erase(run.rows.begin());
      side->push_back(run);
    }
  }
  const Gate found = gate(runs, {});
  ASSERT_TRUE(found.together.has_value());
  EXPECT_EQ(found.together->verdict, Verdict::slower);
  EXPECT_EQ(exit_code_of(found, {}), 1);
}

TEST(GateVerdict, SuspicionNeedsFreshRunsAndTheyDecide) {
  GateRuns runs = made_up_runs();
  // One of many metrics moved by 1.5 % with a scatter of about 0.9 %: at 5 %, yes; against forty, no.
  Draws random(11);
  for (auto* side : {&runs.before, &runs.after})
    for (assay::Run& run : *side)
      for (int metric = 0; metric < 40; ++metric) {
        Row row = row_of(run, product);
        row.case_name = "gemm/" + std::to_string(metric);
        row.value = 1e-3 * std::exp(0.002 * random.normal());
        run.rows.push_back(row);
      }
  const std::vector<double> low{0, 0.01, -0.01, 0.012, -0.004, 0.006, 0.002, -0.008};
  for (std::size_t i = 0; i < 8; ++i) {
    row_of(runs.before[i], "gemm/7").value = 1e-3 * std::exp(low[i]);
    row_of(runs.after[i], "gemm/7").value = 1e-3 * std::exp(low[(i + 3) % 8] + 0.0125);
  }
  const Gate first = gate(runs, {});
  EXPECT_EQ(verdict_of(first, "gemm/7").verdict, Verdict::inconclusive);
  EXPECT_TRUE(verdict_of(first, "gemm/7").suspected);
  EXPECT_EQ(exit_code_of(first, {}), 2);

  runs.fresh_before = runs.before;
  runs.fresh_after = runs.after;
  for (auto* side : {&runs.fresh_before, &runs.fresh_after})
    each(*side, [](assay::Run& run) { run.info.id += "-fresh"; });
  const Gate again = gate(runs, {});
  EXPECT_EQ(verdict_of(again, "gemm/7").verdict, Verdict::slower);
  EXPECT_TRUE(verdict_of(again, "gemm/7").by_fresh);

  for (std::size_t i = 0; i < 8; ++i)
    row_of(runs.fresh_after[i], "gemm/7").value = 1e-3 * std::exp(low[(i + 3) % 8] / 3);
  for (std::size_t i = 0; i < 8; ++i) row_of(runs.fresh_before[i], "gemm/7").value = 1e-3 * std::exp(low[i] / 3);
  EXPECT_EQ(verdict_of(gate(runs, {}), "gemm/7").verdict, Verdict::ok);
}

TEST(GateVerdict, OneDriverLoadASideIsWidenedAndSaysSo) {
  GateRules rules;
  rules.allowance.subjects = {"driver"};
  GateRuns runs = made_up_runs(8, 0.02);
  const auto set = [](const std::string& driver, bool one_load) {
    return [=](assay::Run& run) {
      run.info.devices.front().driver = driver;
      if (one_load) run.info.facts.back().text = driver;
    };
  };
  each(runs.before, set("1.0", false));
  each(runs.after, set("2.0", false));
  const Gate many = gate(runs, rules);
  EXPECT_FALSE(many.one_load_a_side);
  EXPECT_EQ(verdict_of(many, product).units, "driver loads");
  each(runs.before, set("1.0", true));
  each(runs.after, set("2.0", true));
  const Gate one = gate(runs, rules);
  EXPECT_TRUE(one.one_load_a_side);
  // 0.4 % from load to load on both sides: 0.57 % on top of what the runs scatter.
  const Estimate &narrow = *verdict_of(many, product).estimate, &wide = *verdict_of(one, product).estimate;
  EXPECT_NEAR(wide.error, std::hypot(narrow.error, 0.004 * std::sqrt(2)), 1e-12);
  EXPECT_THAT(error_rates(one, rules), HasSubstr("do not hold"));
  EXPECT_THAT(error_rates(many, rules), HasSubstr("2 suites of 40"));
  EXPECT_THAT(render_markdown(gate_report(one, runs, rules)), HasSubstr("no error rate is promised"));
}

TEST(GateVerdict, ALoadWithSeveralRunsCountsOnce) {
  GateRules rules;
  rules.allowance.subjects = {"driver"};
  GateRuns runs = made_up_runs(8, 0.03);
  for (auto* side : {&runs.before, &runs.after})
    for (std::size_t i = 0; i < 8; ++i) (*side)[i].info.labels["driver_load"] = std::to_string(i / 2);
  const Gate found = gate(runs, rules);
  EXPECT_EQ(found.loads_before, 4U);
  EXPECT_EQ(verdict_of(found, product).units, "driver loads");
}

TEST(GateVerdict, RepetitionsAreProcessStarts) {
  GateRuns runs{{made_up_card("before", 0)}, {made_up_card("after", 0)}, {}, {}};
  for (auto* side : {&runs.before, &runs.after}) {
    const std::vector<Row> first = side->front().rows;
    for (int repetition = 1; repetition < 5; ++repetition)
      for (Row row : first) {
        row.repetition = repetition;
        row.value = *row.value * (1 + wobble()[static_cast<std::size_t>(repetition)]);
        side->front().rows.push_back(row);
      }
  }
  const Gate found = gate(runs, {});
  EXPECT_EQ(found.starts_before, 5U);
  EXPECT_EQ(verdict_of(found, product).verdict, Verdict::ok);
}

TEST(GateVerdict, OnlyNamedMetricsAreGatedAndWithTheirBars) {
  GateRules rules;
  rules.metrics = parse_metrics("bar = 0.02\n[[metric]]\ncase = \"^memory/\"\nbar = \"10 %\"\n", "gate.toml");
  const GateRuns runs = made_up_runs(8, 0.03);
  const Gate found = gate(runs, rules);
  EXPECT_FALSE(verdict_of(found, product).gated);
  EXPECT_EQ(verdict_of(found, product).verdict, Verdict::slower);  // it informs
  EXPECT_EQ(verdict_of(found, stream).verdict, Verdict::ok);
  EXPECT_EQ(exit_code_of(found, rules), 0);
  rules.metrics =
      parse_metrics("[[metric]]\ncase = \"^memory/\"\nbar = 0.1\n[[metric]]\ncase = \"^fft/\"\n", "gate.toml");
  const Gate missing = gate(runs, rules);
  EXPECT_THAT(missing.missing, ::testing::ElementsAre("^fft/"));
  EXPECT_EQ(exit_code_of(missing, rules), 2);
}

TEST(GateVerdict, WhatIsNeitherTimeNorMemoryInforms) {
  GateRuns runs = made_up_runs();
  for (auto* side : {&runs.before, &runs.after})
    each(*side, [&](assay::Run& run) {
      Row row = row_of(run, "capacity/context");
      row.case_name = "train/learns";
      row.metric = "loss_after_200_steps";
      row.better = "lower";
      row.value = side == &runs.after ? 2.0 : 1.0;
      run.rows.push_back(row);
    });
  const Gate found = gate(runs, {});
  EXPECT_EQ(verdict_of(found, "train/learns").verdict, Verdict::slower);
  EXPECT_FALSE(verdict_of(found, "train/learns").gated);
  EXPECT_EQ(exit_code_of(found, {}), 0);
}

TEST(GateVerdict, AModelThatNoLongerFitsIsBroken) {
  EXPECT_EQ(fit_verdict(Answer::fits, Answer::does_not_fit), Verdict::broken);
  EXPECT_EQ(fit_verdict(Answer::tight, Answer::does_not_fit), Verdict::broken);
  EXPECT_EQ(fit_verdict(Answer::fits, Answer::tight), Verdict::ok);
  EXPECT_EQ(fit_verdict(Answer::does_not_fit, Answer::does_not_fit), Verdict::ok);
  EXPECT_EQ(fit_verdict(Answer::fits, Answer::not_judged), Verdict::inconclusive);
  GateRuns runs;
  for (std::size_t i = 0; i < 3; ++i) {
    assay::Run before = measured_run(64 * gib), after = measured_run(4 * gib);
    before.info.id = "before" + std::to_string(i);
    after.info.id = "after" + std::to_string(i);
    runs.before.push_back(before);
    runs.after.push_back(after);
  }
  const ModelSpec model = find_model("llama-3-8b");  // 15 GiB of weights
  GateRules rules;
  rules.model = &model;
  rules.workload = default_workload(Purpose::inference);
  const Gate found = gate(runs, rules);
  ASSERT_EQ(found.fits.size(), 1U);
  EXPECT_EQ(found.fits.front().verdict, Verdict::broken);
  EXPECT_EQ(exit_code_of(found, rules), 1);
}

TEST(GateVerdict, SaysWhenAllMovedInOneDirection) {
  GateRuns runs = made_up_runs(8, 0.03);
  for (auto* side : {&runs.before, &runs.after})
    for (assay::Run& run : *side)
      for (int metric = 0; metric < 6; ++metric) {
        Row row = row_of(run, product);
        row.case_name = "gemm/" + std::to_string(metric);
        run.rows.push_back(row);
      }
  EXPECT_THAT(render_markdown(gate_report(gate(runs, {}), runs, {})),
              HasSubstr("All 8 metrics that moved became worse"));
}

}  // namespace
}  // namespace assay::gate
