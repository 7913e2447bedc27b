// Memory that is predicted, against figures worked by hand.
// SPDX-License-Identifier: Apache-2.0
#include "reports/predict/memory.h"

#include <gtest/gtest.h>

#include "core/error.h"
#include "reports/predict/prediction.h"

namespace assay {
namespace {

// Llama 2 7B as its card states it.
predict::Shape llama_2_7b() { return *predict::shape_from_figures(6738415616, 32, 4096, 32, 32, 11008, 32000); }

// 32 x (4 x 4096^2 + 3 x 4096 x 11008) = 6,476,005,376 in matrices of layers.
TEST(Memory, TellsMatricesOfLayersFromTheRest) {
  const predict::Shape shape = llama_2_7b();
  EXPECT_TRUE(shape.gated);
  EXPECT_FALSE(shape.tied);
  EXPECT_DOUBLE_EQ(shape.head_size, 128);
  EXPECT_DOUBLE_EQ(shape.matrices, 6476005376.0);
  EXPECT_DOUBLE_EQ(shape.rest(), 262410240.0);
}

// 7 billion parameters x 2 bytes: 6,738,415,616 x 2 = 13,476,831,232.
TEST(Memory, TakesTwoBytesAParameterInHalfPrecision) {
  predict::Setting setting;
  setting.model = llama_2_7b();
  EXPECT_DOUBLE_EQ(predict::weight_bytes(setting), 13476831232.0);
}

// GPTQ's int4: 6,476,005,376 x (0.5 + 2.5/128) + 262,410,240 x 2 = 3,238,002,688 + 126,484,480 + 524,820,480.
TEST(Memory, CountsScalesAndZeroesOfGroups) {
  predict::Setting setting;
  setting.model = llama_2_7b();
  setting.stored = predict::Stored::int4_groups;
  EXPECT_DOUBLE_EQ(predict::weight_bytes(setting), 3889307648.0);
}

// Llama 3 8B over llama.cpp: 2 x 32 layers x 8 heads x 128 x 2 bytes x 8192 tokens = 1 GiB; its log says 1024 MiB.
TEST(Memory, GivesGroupedHeadsTheirCache) {
  predict::Setting setting;
  setting.model = *predict::shape_from_figures(8030261248, 32, 4096, 32, 8, 14336, 128256);
  setting.stack = predict::Stack::llama_cpp;
  setting.stored = predict::Stored::gguf_q4_k_m;
  setting.prompt = 8192;
  setting.counter = predict::Counter::kv_cache;
  EXPECT_DOUBLE_EQ(predict::predict_memory(setting).bytes(), 1073741824.0);
}

// The compute buffer that llama.cpp logs for it is 560 MiB: scores 512 x 8192 x 32 x 4 B = 512 MiB, a mask of 512 x
// 8192 x 4 B = 16 MiB, and four rows of 512 x 4096 x 4 B = 8 MiB each.
TEST(Memory, LaysOutLlamasComputeBuffer) {
  predict::Setting setting;
  setting.model = *predict::shape_from_figures(8030261248, 32, 4096, 32, 8, 14336, 128256);
  setting.stack = predict::Stack::llama_cpp;
  setting.stored = predict::Stored::gguf_q4_k_m;
  setting.prompt = 8192;
  setting.counter = predict::Counter::activation;
  EXPECT_DOUBLE_EQ(predict::predict_memory(setting).bytes(), 560.0 * 1048576);
}

// FSDP over 8 cards: 16 bytes of states a parameter over 8 is 2 bytes each: 13,476,831,232.
TEST(Memory, SharesStatesOverCards) {
  predict::Setting setting;
  setting.model = llama_2_7b();
  setting.use = predict::Use::training;
  setting.stack = predict::Stack::fsdp;
  setting.layout.cards = setting.layout.shards = 8;
  setting.batch = 1;
  setting.prompt = 2048;
  const predict::Memory memory = predict::predict_memory(setting);
  ASSERT_TRUE(memory.judged());
  EXPECT_EQ(memory.items.front().name, "states");
  EXPECT_DOUBLE_EQ(memory.items.front().bytes, 13476831232.0);
}

// Two layers of 32 in BF16, 2 x 6,476,005,376 / 32 x 2 B = 809,500,672, and both tables, 2 x 32000 x 4096 x 2 B =
// 524,288,000, are all that is on the card where the states wait in the host's memory.
TEST(Memory, LeavesOnlyWhatIsGatheredWhereStatesAreOnTheHost) {
  predict::Setting setting;
  setting.model = llama_2_7b();
  setting.use = predict::Use::training;
  setting.stack = predict::Stack::fsdp;
  setting.states_on_host = true;
  setting.layout.cards = setting.layout.shards = 8;
  setting.prompt = 2048;
  const predict::Memory memory = predict::predict_memory(setting);
  EXPECT_EQ(memory.items.front().name, "gathered layers");
  EXPECT_DOUBLE_EQ(memory.items.front().bytes, 1333788672.0);
}

// Adapters that scale what matrices give keep it once more, 3 bytes a number: 32 layers x 3 x (4096 + 2 x 4096 + 2 x
// 4096 + 2 x 11008) = 4,079,616 bytes a token.
TEST(Memory, KeepsTheOutputsThatAdaptersScale) {
  predict::Setting setting;
  setting.model = llama_2_7b();
  setting.use = predict::Use::training;
  setting.stack = predict::Stack::litgpt;
  setting.trained = predict::Trained::adapter;
  setting.adapter_parameters = 4279744;
  setting.prompt = 1304;
  const double plain = predict::predict_memory(setting).bytes();
  setting.scaled_outputs = true;
  EXPECT_NEAR(predict::predict_memory(setting).bytes() - plain, 1304 * 4079616.0, 1);
}

// LitGPT over two cards holds the whole model while it is loaded: 13,476,831,232 bytes and half of them once more.
TEST(Memory, HoldsTheWholeModelWhileLitgptLoadsIt) {
  predict::Setting setting;
  setting.model = llama_2_7b();
  setting.use = predict::Use::training;
  setting.stack = predict::Stack::litgpt;
  setting.trained = predict::Trained::adapter;
  setting.adapter_parameters = 4194304;
  setting.prompt = 1304;
  setting.layout.cards = setting.layout.shards = 2;
  const predict::Memory memory = predict::predict_memory(setting);
  EXPECT_EQ(memory.moment, "while it is loaded");
  EXPECT_DOUBLE_EQ(memory.items[0].bytes + memory.items[1].bytes, 1.5 * 13476831232.0);
}

// A need of 10 between 8 and 12: as likely as not within 10, nineteen in twenty within 12, one in twenty within 8.
TEST(Memory, ReadsAProbabilityOffTheInterval) {
  const Estimate need{10, 8, 12};
  EXPECT_NEAR(probability_within(need, 10), 0.5, 1e-9);
  EXPECT_NEAR(probability_within(need, 12), 0.95, 1e-4);
  EXPECT_NEAR(probability_within(need, 8), 0.05, 1e-4);
}

TEST(Memory, RefusesWhatIsNotModelled) {
  Setting setting;
  setting.model.kind = ModelKind::convolution;
  setting.model.title = "ResNet-50";
  EXPECT_THROW(predict_memory(setting), BadInput);
}

}  // namespace
}  // namespace assay
