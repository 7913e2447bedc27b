// Finding a model by what people type.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "core/models/model.h"
#include "core/models/names.h"

namespace assay {
namespace {

std::string refusal(const std::string& name) {
  try {
    find_model(name);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(BuiltinModels, AreAtLeastFortyWithNamesThatNeverCollide) {
  std::set<std::string> names;
  for (const ModelSpec& model : builtin_models()) {
    EXPECT_TRUE(names.insert(loose(model.name)).second) << model.name;
    EXPECT_FALSE(model.source.empty()) << model.name;
    EXPECT_EQ(find_model(model.name).name, model.name);
    EXPECT_EQ(find_model(model.title).name, model.name);
  }
  EXPECT_GE(names.size(), 40U);
}

TEST(FindModel, TakesAnyCaseAndTheMaker) {
  for (const char* name : {"llama-3-8b", "Llama-3-8B", "LLAMA 3 8B", "meta-llama/Meta-Llama-3-8B", "Meta-Llama-3-8B",
                           "meta-llama/Llama-3-8B"})
    EXPECT_EQ(find_model(name).name, "llama-3-8b") << name;
  EXPECT_EQ(find_model("Qwen/Qwen2.5-7B").name, "qwen2.5-7b");
  EXPECT_EQ(find_model("GPT-2").name, "gpt2");
}

TEST(FindModel, TakesWhatWasTunedForItsOrigin) {
  EXPECT_EQ(find_model("meta-llama/Meta-Llama-3-8B-Instruct").name, "llama-3-8b");
  EXPECT_EQ(find_model("Qwen/Qwen2.5-7B-Instruct").name, "qwen2.5-7b");
  EXPECT_EQ(find_model("google/gemma-2-9b-it").name, "gemma-2-9b");
  EXPECT_EQ(find_model("Llama-2-13b-chat-hf").name, "llama-2-13b");
}

TEST(FindModel, TakesABareNumberOfParameters) {
  const ModelSpec model = find_model("7B");
  EXPECT_TRUE(model.assumed_shape);
  EXPECT_NEAR(static_cast<double>(parameters(model)), 7e9, 0.02 * 7e9);
  EXPECT_NEAR(static_cast<double>(parameters(find_model("350M"))), 350e6, 0.06 * 350e6);
  EXPECT_THROW(find_model("7 B"), BadInput);
  EXPECT_THROW(find_model("0B"), BadInput);
  EXPECT_THROW(find_model("-7B"), BadInput);
  EXPECT_THROW(find_model("1e9B"), BadInput);
}

TEST(FindModel, SuggestsNearNames) {
  EXPECT_THAT(refusal("lama-3-8b"), testing::HasSubstr("llama-3-8b"));
  EXPECT_THAT(refusal("mixtral"), testing::HasSubstr("mixtral-8x7b, mixtral-8x22b"));
  EXPECT_THAT(refusal("somebody/qwen2.5-7"), testing::HasSubstr("qwen2.5-7b"));
  EXPECT_THAT(refusal("/no/such/config.json"), testing::HasSubstr("no such file"));
}

TEST(FindModel, RefusesNothingAndNonsenseInOneLine) {
  for (const std::string& name : {std::string(), std::string("\0x", 2), std::string(100000, 'a'), std::string("///"),
                                  std::string("\x1b[31mred"), std::string("..")}) {
    const std::string said = refusal(name);
    EXPECT_FALSE(said.empty());
    EXPECT_LT(said.size(), 600U);
    EXPECT_EQ(said.find('\x1b'), std::string::npos);
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace assay
