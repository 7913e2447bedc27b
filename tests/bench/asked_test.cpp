// The step that somebody asked for, as cases.
// SPDX-License-Identifier: Apache-2.0
#include "bench/asked.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace assay {
namespace {

using ::testing::ElementsAre;

DeviceInfo card(double gibibytes) {
  DeviceInfo device;
  device.id = "fake:0";
  device.backend = "fake";
  device.compute_units = 100;
  device.clock_hertz = 1.5e9;
  device.memory_total = device.memory_available = static_cast<std::int64_t>(gibibytes * 1073741824.0);
  return device;
}

std::vector<std::string> names(const std::vector<Case>& cases) {
  std::vector<std::string> all;
  for (const Case& item : cases) all.push_back(item.name);
  return all;
}

// GPT-2's 124,439,808 parameters take 18 bytes each with AdamW in bf16: 2.1 GiB before any activation.
Asked gpt2_training() {
  Asked asked;
  asked.model = "gpt2";
  asked.training = true;
  asked.context = 128;
  return asked;
}

TEST(Asked, IsOneStepWhereThereIsPlentyOfRoom) {
  EXPECT_THAT(names(asked_cases(card(80), ProfileKind::quick, gpt2_training())),
              ElementsAre("asked/train/gpt2/bf16/1x128"));
}

TEST(Asked, GrowsWhereTheLimitIsNear) {
  const auto cases = asked_cases(card(4), ProfileKind::quick, gpt2_training());
  ASSERT_GE(cases.size(), 2U);
  EXPECT_EQ(cases[0].name, "asked/train/gpt2/bf16/1x128");
  EXPECT_EQ(cases[1].name, "asked/train/gpt2/bf16/2x128");
  for (const Case& item : cases) EXPECT_EQ(item.rank, 0);
  EXPECT_EQ(cases[1].tokens, 256);
}

TEST(Asked, ShrinksWhereItHasNoRoomAndStillTriesWhatWasAsked) {
  Asked asked = gpt2_training();
  asked.batch = 256;
  const auto cases = names(asked_cases(card(4), ProfileKind::quick, asked));
  EXPECT_EQ(cases.front(), "asked/train/gpt2/bf16/256x128");
  EXPECT_GE(cases.size(), 2U);
  EXPECT_NE(cases.back(), "asked/train/gpt2/bf16/256x128");
}

TEST(Asked, ServesAPromptAndATokenAfterIt) {
  Asked asked;
  asked.model = "llama-3.2-1b";
  asked.batch = 2;
  asked.context = 64;
  EXPECT_THAT(names(asked_cases(card(80), ProfileKind::quick, asked)),
              ElementsAre("asked/infer/llama-3.2-1b/bf16/prefill/2x64", "asked/infer/llama-3.2-1b/bf16/decode/2x64"));
}

TEST(Asked, TravelsWhole) {
  Asked asked = gpt2_training();
  asked.recompute = "full";
  asked.lora_rank = 8;
  asked.short_optimizer = true;
  EXPECT_EQ(to_json(asked_from(to_json(asked))), to_json(asked));
}

TEST(Asked, SaysWhatCannotBeBuilt) {
  Asked asked;
  asked.model = "mixtral-8x7b";
  asked.context = 64;
  EXPECT_THROW(asked_cases(card(80), ProfileKind::quick, asked), BadInput);
  asked = gpt2_training();
  asked.recompute = "some";
  EXPECT_THROW(asked_cases(card(80), ProfileKind::quick, asked), BadInput);
}

}  // namespace
}  // namespace assay
