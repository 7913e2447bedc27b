// Plans against hand-worked figures, and what they say where nothing fits.
// SPDX-License-Identifier: Apache-2.0
#include "reports/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "reports/checklist.h"
#include "reports/framework_memory.h"
#include "reports/render.h"

namespace assay {
namespace {

constexpr double gibi = 1024.0 * 1024 * 1024;

Demand chat(const std::string& model, Format weights = {Element::bf16, Scaling::none}) {
  Workload workload = default_workload(Purpose::inference);
  workload.weights = weights;
  return demand(find_model(model), workload);
}

bool says(const Report& report, const std::string& words) {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const Finding& finding) { return finding.sentence.find(words) != std::string::npos; });
}

TEST(Estimate, OneCardHoldsTheWholeBudgetAndSeveralShareWhatLives) {
  const Demand wanted = chat("llama-3-8b");
  EXPECT_NEAR(memory_on_each(wanted, 1).middle, wanted.budget.total(), 1);
  // Shared out: weights 8,030,261,248 x 2 bytes and the cache 4096 x 32 layers x 2 x 8 heads x 128 x 2 bytes = 0.5 GiB.
  const double lives = 8030261248.0 * 2 + 0.5 * gibi;
  // And what the prompt needs, 0.45 GiB with its allocator's share; the runtime is on each, and 0.5 GiB of collectives.
  const double runtime = 0.8 * gibi;
  const double prompt = wanted.budget.total() - lives - runtime;
  EXPECT_NEAR(memory_on_each(wanted, 2).middle, (lives + prompt) / 2 + runtime + 0.5 * gibi, 0.01 * gibi);
}

TEST(Estimate, TheChanceToFitIsTheIntervals) {
  const Span need{10, 8, 14};
  EXPECT_NEAR(probability_of(need, 14), 0.95, 1e-4);
  EXPECT_NEAR(probability_of(need, 10), 0.5, 1e-4);
  EXPECT_NEAR(probability_of(need, 8), 0.05, 1e-4);
  EXPECT_LE(probability_of(need, 1000), 0.99);
}

TEST(Estimate, UsableMemoryIsNearWhatDriversShow) {
  // As drivers list them: H100 SXM 81,559 MiB, L4 23,034 MiB, A100 40 GB 40,960 MiB, T4 15,360 MiB.
  const auto mebibytes = [](const char* name) { return usable_memory(find_gpu(name)) / (1024 * 1024); };
  EXPECT_NEAR(mebibytes("H100 SXM5 80GB"), 81559, 81559 * 0.015);
  EXPECT_NEAR(mebibytes("L4"), 23034, 23034 * 0.015);
  EXPECT_NEAR(mebibytes("A100 SXM4 40GB"), 40960, 40960 * 0.015);
  EXPECT_NEAR(mebibytes("T4"), 15360, 15360 * 0.015);
}

TEST(Estimate, DecodingReadsTheWeightsOnceAToken) {
  const CardEstimate card = estimate(chat("llama-3-8b"), find_gpu("H100 SXM5 80GB"), 1, {});
  ASSERT_TRUE(card.speed);
  // A token reads all weights but the embedding table of 128,256 x 4,096: 7,504,924,672 x 2 bytes at 3.35 TB/s takes
  // 4.48 ms, so nothing decodes more than 223 tokens/s. Engines reach 94 % of what 132 multiprocessors can draw, 3.036
  // TB/s: 5.26 ms; with 0.19 ms of cache and 32 layers started in 0.094 ms each that makes 8.46 ms.
  EXPECT_LT(card.speed->upper, 223);
  EXPECT_NEAR(card.speed->middle, 1 / 8.46e-3, 1);
  EXPECT_LT(card.speed->lower, card.speed->middle);
}

TEST(Estimate, TheProgramDecidesHowFastATokenIs) {
  Workload workload = default_workload(Purpose::inference);
  workload.framework = Framework::transformers;
  const Demand wanted = demand(find_model("llama-3-8b"), workload);
  // Hugging Face's generate() starts 32 layers in 0.572 ms each: 18.3 ms, whatever the memory could do.
  const CardEstimate card = estimate(wanted, find_gpu("H100 SXM5 80GB"), 1, {});
  ASSERT_TRUE(card.speed);
  EXPECT_NEAR(card.speed->middle, 1 / 18.3e-3, 0.5);
}

TEST(Estimate, ABatchOfTrainingIsBoundByArithmetic) {
  Workload workload = default_workload(Purpose::training);
  workload.batch = 8;
  const Demand wanted = demand(find_model("smollm2-360m"), workload);
  const CardEstimate card = estimate(wanted, find_gpu("H100 SXM5 80GB"), 1, {});
  ASSERT_TRUE(card.speed);
  // 6 flops a parameter and token at 989 TFLOP/s: 361,821,120 parameters allow 456,000 tokens/s at the very most.
  EXPECT_LT(card.speed->upper, 456e3);
  EXPECT_GT(card.speed->lower, 10e3);
}

TEST(Plan, PutsWhatFitsFirstAndTheCheapestOfItBefore) {
  PlanOptions options;
  const auto cards = plan_cards(chat("llama-3-70b"), options);
  ASSERT_EQ(cards.size(), 70U);
  const auto first_not =
      std::find_if(cards.begin(), cards.end(), [](const auto& card) { return card.answer != Answer::fits; });
  EXPECT_GT(first_not - cards.begin(), 3);
  EXPECT_TRUE(std::none_of(first_not, cards.end(), [](const auto& card) { return card.answer == Answer::fits; }));
  for (auto card = cards.begin(); card + 1 != first_not; ++card) {
    if (!card->per_million || !(card + 1)->per_million) continue;
    EXPECT_LE(card->per_million->middle, (card + 1)->per_million->middle);
  }
  options.rank = PlanRank::speed;
  const auto fastest = plan_cards(chat("llama-3-70b"), options);
  EXPECT_GE(fastest[0].speed->middle, fastest[1].speed->middle);
}

TEST(Plan, WhereNothingFitsItSaysHowManyCardsDo) {
  const Report report = plan_catalogue(chat("gpt-3-175b"), {});
  ASSERT_TRUE(report.verdict);
  EXPECT_EQ(report.verdict->answer, Answer::does_not_fit);
  ASSERT_FALSE(report.verdict->changes.empty());
  // 349.2 GB of weights: two cards of 256 GiB or 288 GiB.
  EXPECT_NE(report.verdict->changes.front().find("share it out: 2 x"), std::string::npos)
      << report.verdict->changes.front();
}

TEST(Plan, ACardWithTheMemoryButNoPathDoesNotFit) {
  const Report report = plan_pair(chat("llama-3-8b", {Element::fp8_e4m3, Scaling::tensor}), find_gpu("RTX 3090"), {});
  ASSERT_TRUE(report.verdict);
  EXPECT_EQ(report.verdict->answer, Answer::does_not_fit);
  EXPECT_NE(report.verdict->sentence.find("unsupported"), std::string::npos) << report.verdict->sentence;
}

TEST(Plan, NamesACheaperCardWhereTheChosenOneIsOversized) {
  EXPECT_TRUE(says(plan_pair(chat("llama-3-8b"), find_gpu("B200"), {}), "oversized"));
  EXPECT_FALSE(says(plan_pair(chat("llama-3-8b"), find_gpu("RTX 3090"), {}), "oversized"));
}

TEST(Plan, WarnsOfPrecisionAndOfSeveralCards) {
  PlanOptions options;
  options.cards = 2;
  const Report report =
      plan_pair(chat("llama-3-70b", {Element::int8, Scaling::group128}), find_gpu("H100 SXM5 80GB"), options);
  EXPECT_TRUE(says(report, "precision"));
  EXPECT_TRUE(says(report, "not one memory"));
}

TEST(Plan, TheReverseSaysWhichModelsFit) {
  const Report report = plan_card(find_gpu("T4"), default_workload(Purpose::inference), {});
  ASSERT_TRUE(report.verdict);
  EXPECT_EQ(report.verdict->answer, Answer::fits);
  EXPECT_EQ(report.sections.front().tables.front().rows.size(), builtin_models().size());
}

TEST(Plan, IsWholeInAllFourRenderings) {
  PlanOptions options;
  options.tokens = 1e9;
  for (const Report& report :
       {plan_catalogue(chat("llama-3-8b"), options), plan_pair(chat("llama-3-8b"), find_gpu("L40S"), options),
        plan_everything(default_workload(Purpose::inference), options), blank_checklist()}) {
    for (const std::string& text :
         {render_html(report), render_markdown(report), render_json(report), render_terminal(report, {}, {})}) {
      EXPECT_GT(text.size(), 500U);
      EXPECT_EQ(text.find("nan "), std::string::npos);
    }
  }
}

TEST(Plan, RefusesPricesThatCannotBe) {
  PlanOptions options;
  options.money.duty = 2;
  EXPECT_THROW(plan_catalogue(chat("llama-3-8b"), options), BadInput);
}

TEST(FrameworkMemory, IsReadFromNestedJsonAndSetBesideTheDevice) {
  const auto file = std::filesystem::temp_directory_path() / "assay_framework_memory_test.json";
  std::FILE* out = std::fopen(file.c_str(), "w");
  ASSERT_NE(out, nullptr);
  std::fputs(R"({"allocated_bytes": {"all": {"peak": 1073741824}}, "max_memory_reserved": 2147483648, "name": "x"})",
             out);
  std::fclose(out);
  const auto figures = read_framework_memory(file);
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures.front().name, "allocated_bytes.all.peak");
  const Table table = framework_table(figures, 3 * gibi);
  // 3 GiB on the device less 2 GiB reserved
  EXPECT_EQ(std::get<Quantity>(table.rows.back().back()).value, gibi);
  std::filesystem::remove(file);
  EXPECT_THROW(read_framework_memory(file), BadInput);
}

}  // namespace
}  // namespace assay
