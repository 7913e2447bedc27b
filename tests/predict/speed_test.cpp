// Speed that is predicted, against figures worked by hand.
// SPDX-License-Identifier: Apache-2.0
#include "reports/predict/speed.h"

#include <gtest/gtest.h>

namespace assay::predict {
namespace {

// 100 multiprocessors, 2 TB/s, 300 TFLOP/s of which 80 % last.
CardRates made_up_card() {
  CardRates card;
  card.generation = Generation::ampere;
  card.bandwidth = 2e12;
  card.half = 300e12;
  card.fp32 = 20e12;
  card.units = 100;
  card.hertz = 1.5e9;
  card.sustained = 0.8;
  card.link = 300e9;
  card.host_link = 25e9;
  return card;
}

SpeedSetting llama_2_7b(Runtime runtime) {
  SpeedSetting setting;
  setting.sizes.model = *shape_from_figures(6738415616, 32, 4096, 32, 32, 11008, 32000);
  setting.card = made_up_card();
  setting.runtime = runtime;
  return setting;
}

// Read for a token: 6,476,005,376 x 2 B of matrices and 32,000 x 4,096 x 2 B of head = 13,214,154,752 B. Over 0.94 x 2
// TB/s that is 7.0288 ms; 32 layers take 0.145 ms each to start: 4.64 ms.
TEST(Speed, DecodesAsFastAsMemoryIsReadAndKernelsAreStarted) {
  const ServingTime time = serving_time(llama_2_7b(Runtime::engine));
  EXPECT_NEAR(time.token, 7.0288e-3 + 4.64e-3, 1e-6);
  EXPECT_EQ(time.bound, "memory bandwidth");
}

// 2 x 32 layers x 32 heads x 128 x 2 B = 524,288 B a token; halfway through 100 tokens after 950 there are 1,000.
TEST(Speed, ReadsTheCacheOfEverySequence) {
  SpeedSetting setting = llama_2_7b(Runtime::engine);
  const double alone = serving_time(setting).token;
  setting.sizes.batch = 4;
  setting.sizes.prompt = 950;
  setting.sizes.generated = 100;
  EXPECT_NEAR(serving_time(setting).token - alone, 4 * 1000 * 524288.0 / (0.94 * 2e12), 1e-9);
}

// generate() starts 32 layers in 0.88 ms each; memory alone would take 13,214,154,752 / (0.61 x 2e12) = 10.8 ms.
TEST(Speed, IsBoundByStartingKernelsInEagerPython) {
  const ServingTime time = serving_time(llama_2_7b(Runtime::transformers));
  EXPECT_NEAR(time.token, 32 * 0.88e-3, 1e-9);
  EXPECT_EQ(time.bound, "starting kernels");
}

TEST(Speed, StartsKernelsFasterOnNewerHosts) {
  SpeedSetting setting = llama_2_7b(Runtime::transformers);
  setting.card.year = 2022;
  EXPECT_NEAR(serving_time(setting).token, 32 * 0.88e-3 * 0.65, 1e-9);
}

// One row of a product cannot draw more than 23 GB/s a multiprocessor: 50 of them see 1.15 of the 2 TB/s.
TEST(Speed, CannotReadFasterThanItsMultiprocessors) {
  SpeedSetting setting = llama_2_7b(Runtime::engine);
  setting.card.units = 50;
  EXPECT_NEAR(serving_time(setting).token, 13214154752.0 / (0.94 * 1.15e12) + 4.64e-3, 1e-6);
}

// Reading a prompt is arithmetic: 2 x 6,476,005,376 x 2,048 flops at 0.486 x 240 TFLOP/s, and attention's
// 2 x 32 x 32 x 128 x 2,048^2 at 0.95 of it.
TEST(Speed, ReadsAPromptAtTheRateOfProducts) {
  SpeedSetting setting = llama_2_7b(Runtime::engine);
  setting.sizes.prompt = 2048;
  const double products = 2 * 6476005376.0 * 2048 / (0.486 * 240e12);
  const double attention = 2.0 * 32 * 32 * 128 * 2048 * 2048 / (0.95 * 240e12);
  EXPECT_NEAR(serving_time(setting).prompt, products + attention + 4.64e-3, 1e-6);
}

SpeedSetting training(Runtime runtime) {
  SpeedSetting setting = llama_2_7b(runtime);
  setting.sizes.use = Use::training;
  setting.sizes.prompt = 2048;
  setting.sizes.batch = 4;
  return setting;
}

// No step is faster than its products at the sustained rate: 3 x 2 x (6,476,005,376 + 131,072,000) flops a token
// at 240 TFLOP/s are 6,054 tokens/s; and published steps of such models keep more than half of that.
TEST(Speed, TrainsBelowTheRateOfItsProducts) {
  const double most = 240e12 / (6 * (6476005376.0 + 131072000.0));
  const double rate = training_time(training(Runtime::eager)).tokens_per_second();
  EXPECT_LT(rate, most);
  EXPECT_GT(rate, most / 2);
}

TEST(Speed, SlowsByAThirdWhereTheForwardPassIsDoneTwice) {
  SpeedSetting setting = training(Runtime::eager);
  const double plain = training_time(setting).tokens_per_second();
  setting.sizes.saved = Saved::layer_inputs;
  const double again = training_time(setting).tokens_per_second();
  EXPECT_NEAR(plain / again, 4.0 / 3, 0.06);
}

// Of a pipeline of 4 stages with 12 micro-batches, 3 in 15 steps are bubbles.
TEST(Speed, LeavesBubblesInAPipeline) {
  SpeedSetting setting = training(Runtime::megatron);
  setting.card.link = 1e18;
  const double alone = training_time(setting).tokens_per_second();
  setting.sizes.layout.pipeline = 4;
  setting.in_flight = 12;
  EXPECT_NEAR(training_time(setting).tokens_per_second() / alone, 12.0 / 15, 0.03);
}

// 13.5 GB of weights gathered twice and reduced once over 0.75 x 300 GB/s: 3 x 13,476,831,232 / 225e9 = 180 ms.
TEST(Speed, GathersWeightsThatAreSharedOut) {
  SpeedSetting setting = training(Runtime::eager);
  setting.sizes.layout.cards = setting.sizes.layout.shards = 8;
  EXPECT_NEAR(training_time(setting).exchange, 3 * 13476831232.0 / 225e9, 1e-6);
}

}  // namespace
}  // namespace assay::predict
