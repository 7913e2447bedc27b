// Holds the counts of the built-in models against published figures, to the digit.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "core/error.h"
#include "core/models/model.h"
#include "tests/models/published.h"

namespace assay {
namespace {

TEST(Parameters, EqualThePublishedFiguresToTheDigit) {
  const std::vector<Published> all = published_figures();
  ASSERT_GE(all.size(), 60U);
  for (const Published& row : all) {
    const ModelSpec model = find_model(row.name);
    EXPECT_EQ(std::to_string(parameters(model)), row.parameters) << row.name << " by " << row.source;
    if (!row.active_parameters.empty()) {
      EXPECT_EQ(std::to_string(active_parameters(model)), row.active_parameters) << row.name;
    }
    if (!row.kv_bytes_per_token.empty()) {
      EXPECT_EQ(std::to_string(kv_bytes_per_token(model, 16)), row.kv_bytes_per_token) << row.name;
    }
  }
}

TEST(Parameters, MakeTheSixteenBitWeightsThatArePublished) {
  for (const Published& row : published_figures()) {
    if (row.bf16_gib.empty()) continue;
    std::array<char, 32> shown{};
    const double gib = 2.0 * static_cast<double>(parameters(find_model(row.name))) / (1024.0 * 1024.0 * 1024.0);
    std::snprintf(shown.data(), shown.size(), "%.2f", gib);
    EXPECT_EQ(std::string(shown.data()), row.bf16_gib) << row.name;
  }
}

TEST(Parameters, AreTheSumOfTheirItems) {
  for (const ModelSpec& model : builtin_models()) {
    std::int64_t sum = 0;
    for (const ParameterItem& item : parameter_items(model)) {
      EXPECT_GT(item.count, 0) << model.name << " " << item.name;
      EXPECT_FALSE(item.formula.empty()) << model.name << " " << item.name;
      sum += item.count;
    }
    EXPECT_EQ(sum, parameters(model)) << model.name;
    EXPECT_EQ(sum, model.published_parameters.value_or(sum)) << model.name;
  }
}

TEST(Parameters, ComeWithTheirFormulaInWords) {
  // Llama-3-8B: 128256 tokens of 4096 numbers are 525,336,576.
  const std::vector<ParameterItem> items = parameter_items(find_model("llama-3-8b"));
  ASSERT_FALSE(items.empty());
  EXPECT_EQ(items.front().name, "token embedding");
  EXPECT_EQ(items.front().count, 525336576);
  EXPECT_EQ(items.front().formula, "128256 tokens x 4096");
}

TEST(Parameters, OfGpt3AreTheSumThatItsFormulaGives) {
  // V h + 2048 h + L (12 h^2 + 13 h) + 2 h with V = 50257, h = 12288, L = 96:
  // 617,558,016 + 25,165,824 + 96 x (1,811,939,328 + 159,744) + 24,576 = 174,604,259,328.
  EXPECT_EQ(parameters(find_model("gpt-3-175b")), 174604259328);
}

TEST(Parameters, OfAnExpertThatIsNotUsedAreNotActive) {
  // Mixtral-8x7B: 6 of 8 experts idle, each 3 x 4096 x 14336 = 176,160,768, in 32 layers: 33,822,867,456 less.
  const ModelSpec model = find_model("mixtral-8x7b");
  EXPECT_EQ(parameters(model) - active_parameters(model), 33822867456);
}

TEST(Cache, IsCappedByTheWindowInWindowedLayersOnly) {
  // Gemma-2-9B: 42 layers, 21 with a window of 4096; 2 x 8 x 256 numbers a token and layer.
  // 8192 tokens in 16 bits: (21 x 8192 + 21 x 4096) x 4096 x 2 bytes = 2,113,929,216.
  EXPECT_EQ(kv_bytes(find_model("gemma-2-9b"), 8192, 16), 2113929216);
  // Gemma-3-27B: of 62 layers every sixth is global: 10; 52 see 1024 tokens.
  EXPECT_EQ(windowed_layers(find_model("gemma-3-27b")), 52);
  // Mistral-7B v0.1: all 32 layers see 4096: 32 x 4096 x 2 x 8 x 128 x 2 bytes = 536,870,912.
  EXPECT_EQ(kv_bytes(find_model("mistral-7b-v0.1"), 100000, 16), 536870912);
}

TEST(Cache, OfLatentAttentionIsOneRowAToken) {
  // DeepSeek-V3: (512 + 64) x 61 layers x 2 bytes = 70,272.
  EXPECT_EQ(kv_bytes_per_token(find_model("deepseek-v3"), 16), 70272);
}

TEST(Cache, HalvesWithItsFormat) {
  const ModelSpec model = find_model("llama-3-8b");
  EXPECT_EQ(kv_bytes(model, 8192, 8) * 2, kv_bytes(model, 8192, 16));
}

TEST(Convolutions, OfResNet50MakeThePublishedNumberOfMultiplyAdds) {
  // torchvision publishes 4.09 G multiply-adds for a picture of 224 x 224, the classifier's 2048 x 1000 among them.
  const ModelSpec model = find_model("resnet-50");
  double sum = 2048.0 * 1000.0;
  for (const Convolution& layer : convolutions(model))
    sum += static_cast<double>(layer.input * layer.output * layer.kernel * layer.kernel * layer.side * layer.side);
  EXPECT_NEAR(sum * 1e-9, 4.09, 0.005);
  EXPECT_EQ(convolutions(model).size(), 53U);
}

TEST(Counts, ThatDoNotFitAreRefused) {
  ModelSpec model = find_model("llama-3-8b");
  model.hidden = std::int64_t{1} << 40U;
  model.vocabulary = std::int64_t{1} << 40U;
  EXPECT_THROW(parameters(model), BadInput);
}

}  // namespace
}  // namespace assay
