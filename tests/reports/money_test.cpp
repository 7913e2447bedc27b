// Prices, power and the stacks' needs, worked by hand.
// SPDX-License-Identifier: Apache-2.0
#include "reports/money.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "reports/stacks.h"

namespace assay {
namespace {

const Gpu& h100() { return find_gpu("H100 SXM5 80GB"); }

TEST(Money, AGivenPriceAnHourIsThePriceOfAllCards) {
  MoneyInput input;
  input.rent = 2.5;
  EXPECT_DOUBLE_EQ(hourly_cost(h100(), 8, input)->typical, 20);
  EXPECT_EQ(hourly_cost(h100(), 8, input)->origin, "given");
}

TEST(Money, ADefaultPriceIsADatedRange) {
  const auto cost = hourly_cost(h100(), 1, {});
  ASSERT_TRUE(cost);
  EXPECT_LT(cost->low, cost->typical);
  EXPECT_LT(cost->typical, cost->high);
  EXPECT_NE(cost->origin.find("published 2026"), std::string::npos) << cost->origin;
}

TEST(Money, AmortisesAPurchaseAndAddsElectricity) {
  MoneyInput input;
  input.purchase = 26298;  // 3 years are 26,298 hours: 1 USD an hour
  // 700 W x 1.35 (host) x 1.35 (cooling) = 1,275.75 W; at 0.12 USD/kWh 0.15309 USD an hour
  EXPECT_NEAR(hourly_cost(h100(), 1, input)->typical, 1 + 0.15309, 1e-5);
  input.residual = 0.25;
  EXPECT_NEAR(hourly_cost(h100(), 1, input)->typical, 0.75 + 0.15309, 1e-5);
}

TEST(Money, CountsTokens) {
  // 3.6 USD an hour at 1,000 tokens/s: 3.6 million tokens an hour, 1 USD a million; twice that where half the hours
  // idle
  MoneyInput input;
  EXPECT_DOUBLE_EQ(cost_per_million_tokens(3.6, 1000, input), 1);
  input.duty = 0.5;
  EXPECT_DOUBLE_EQ(cost_per_million_tokens(3.6, 1000, input), 2);
  EXPECT_NEAR(energy_per_token(*power(h100(), 1, {}), 1000), 1.27575, 1e-9);
}

TEST(Money, ACircuitCarriesFourFifthsOfItsBreaker) {
  // 208 V x 30 A x 0.8 = 4,992 W; three-phase x 1.732 = 8,646 W: 9 cards of 700 W x 1.35 = 945 W
  EXPECT_NEAR((Circuit{208, 30, false}).usable(), 4992, 1e-9);
  EXPECT_NEAR((Circuit{208, 30, true}).usable(), 8646.4, 0.1);
  EXPECT_EQ(cards_on({208, 30, true}, h100(), {}), 9);
  EXPECT_EQ(cards_on({208, 30, false}, h100(), {}), 5);
  EXPECT_EQ(cards_in_rack(40e3, h100(), {}), 42);
  EXPECT_EQ(cooling_of_rack(10e3), "ordinary air cooling");
  EXPECT_EQ(cooling_of_rack(40e3), "liquid or rear-door cooling");
}

TEST(Money, RefusesNumbersThatCannotBe) {
  MoneyInput input;
  input.duty = 1.5;
  EXPECT_THROW(check(input), BadInput);
  input = {};
  input.years = 0;
  EXPECT_THROW(check(input), BadInput);
  EXPECT_NO_THROW(check(MoneyInput{}));
}

bool has(const Support& support, const std::string& name) {
  for (const Stack* stack : support.stacks)
    if (stack->name.starts_with(name)) return true;
  return false;
}

TEST(Stacks, AnAmpereCardHasNoFp8PathAndAnAdaCardHas) {
  // vLLM's table of supported hardware: FP8 (W8A8) from compute capability 8.9.
  const Support old = support(find_gpu("RTX 3090"), StackRole::inference, "fp8");
  EXPECT_FALSE(old.any());
  EXPECT_NE(old.reason.find("8.9"), std::string::npos) << old.reason;
  EXPECT_TRUE(has(support(find_gpu("RTX 4090"), StackRole::inference, "fp8"), "vLLM"));
}

TEST(Stacks, VoltaIsServedByOldReleasesOnly) {
  const Support volta = support(find_gpu("V100 SXM2 32GB"), StackRole::inference, "fp16", "vllm");
  EXPECT_TRUE(has(volta, "vLLM 0.9"));
  EXPECT_FALSE(has(volta, "vLLM 0.21"));
  EXPECT_FALSE(support(find_gpu("V100 SXM2 32GB"), StackRole::inference, "bf16", "vllm").any());
}

TEST(Stacks, NamedTargetsMustMatch) {
  EXPECT_TRUE(has(support(find_gpu("MI300X"), StackRole::inference, "fp8", "vllm"), "SGLang (ROCm)"));
  EXPECT_FALSE(support(find_gpu("MI60"), StackRole::inference, "bf16", "vllm").any());
  EXPECT_TRUE(has(support(find_gpu("MI60"), StackRole::inference, "gguf"), "llama.cpp"));
}

TEST(Stacks, AProfileThatNoStackStandsForLeavesTheChoiceOpen) {
  EXPECT_TRUE(support(h100(), StackRole::training, "bf16", "own").any());
  EXPECT_TRUE(has(support(h100(), StackRole::training, "fp8", "megatron"), "Transformer Engine"));
  EXPECT_FALSE(has(support(h100(), StackRole::training, "bf16", "megatron"), "PyTorch"));
}

TEST(Stacks, EveryLineHasASource) {
  for (const Stack& stack : builtin_stacks()) EXPECT_TRUE(stack.sources.front().starts_with("https://")) << stack.name;
  EXPECT_THROW(parse_stacks("name,profile,role,maker,minimum,maximum,targets,formats,driver,note,source\n"
                            "X,x,serving,V,7.0,,,fp16:7.0,,,https://a.b\n"),
               Error);
}

}  // namespace
}  // namespace assay
