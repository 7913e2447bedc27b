// Serving: decoding token by token says the same as reading all tokens at once.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/inference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/error.h"
#include "core/interpreter.h"
#include "tests/core/step_models.h"

namespace assay {
namespace {

InferenceSetup setup_of(std::int64_t batch, std::int64_t context) {
  InferenceSetup setup;
  setup.batch = batch;
  setup.context = context;
  setup.compute = setup.cache = {Element::fp64, Scaling::none};
  return setup;
}

std::size_t find(const Work& work, const std::string& name) {
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    if (work.tensors[i].name == name) return i;
  }
  throw Error("no tensor " + name);
}

// A prompt of 4 at once, against a prompt of 3, its cache, and one more token: the logits of the fourth must agree.
void expect_the_same_by_decoding(const ModelSpec& model) {
  const Work whole = prefill(model, setup_of(2, 4));
  const Work before = prefill(model, setup_of(2, 3));
  const Work more = decode(model, setup_of(2, 4));
  Values all = initial_values(whole, Pattern::typical, 5);
  Values first = initial_values(before, Pattern::typical, 5);
  Values last = initial_values(more, Pattern::typical, 5);
  const std::vector<double> tokens = all[find(whole, "tokens")];  // [2, 4]
  const auto take = [&](Values& values, const Work& work, std::size_t begin, std::size_t count) {
    std::vector<double>& into = values[find(work, "tokens")];
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t i = 0; i < count; ++i) into[b * count + i] = tokens[b * 4 + begin + i];
    }
  };
  take(first, before, 0, 3);
  take(last, more, 3, 1);
  interpret(whole, all, false);
  interpret(before, first, false);
  int caches = 0;
  for (std::size_t i = 0; i < more.tensors.size(); ++i) {
    if (more.tensors[i].category != Category::kv_cache) continue;
    const std::vector<double>& from = first[find(before, more.tensors[i].name)];  // [batch, heads, 3, size]
    const auto row = static_cast<std::size_t>(3 * model.head_size);
    const auto longer = static_cast<std::size_t>(4 * model.head_size);
    for (std::size_t head = 0; head < from.size() / row; ++head) {
      for (std::size_t k = 0; k < row; ++k) last[i][head * longer + k] = from[head * row + k];
    }
    ++caches;
  }
  EXPECT_EQ(caches, 4);  // keys and values of two layers
  interpret(more, last, false);
  const std::vector<double>& want = all[find(whole, "logits")];
  const std::vector<double>& got = last[find(more, "logits")];
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-12 * (1 + std::abs(want[i])));
}

TEST(Serving, DecodesWhatReadingAllAtOnceSaysLikeLlama) { expect_the_same_by_decoding(test::tiny_llama()); }
TEST(Serving, DecodesWhatReadingAllAtOnceSaysLikeGpt2) { expect_the_same_by_decoding(test::tiny_gpt2()); }

TEST(Serving, KeepsItsCacheInTheFormatAskedFor) {
  InferenceSetup setup = setup_of(3, 4);
  setup.compute = {Element::bf16, Scaling::none};
  setup.cache = {Element::fp8_e4m3, Scaling::none};
  const Work work = decode(test::tiny_llama(), setup);
  std::int64_t cached = 0;
  for (const Tensor& tensor : work.tensors) {
    if (tensor.category == Category::kv_cache) cached += bytes(tensor);
  }
  EXPECT_EQ(cached, 3 * kv_bytes(test::tiny_llama(), 4, 8));
}

TEST(Serving, KeepsItsWeightsInFp8WhereAsked) {
  InferenceSetup setup = setup_of(1, 4);
  setup.compute = setup.cache = {Element::bf16, Scaling::none};
  setup.fp8 = true;
  const Work work = decode(test::tiny_llama(), setup);
  const Tensor& weight = work.tensors[find(work, "layer0.attention.qkv.weight")];
  EXPECT_EQ(text(weight.format), "fp8_e4m3.tensor");
  EXPECT_TRUE(weight.persistent);
}

TEST(Serving, RefusesMorePositionsThanTheModelHas) {
  EXPECT_THROW(decode(test::tiny_gpt2(), setup_of(1, 5)), BadInput);
  EXPECT_THROW(prefill(test::tiny_gpt2(), setup_of(1, 0)), BadInput);
}

}  // namespace
}  // namespace assay
