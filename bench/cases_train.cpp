// One decoder block of a GPT-2 and of a Llama, forward and backward, as a whole and step by step.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>
#include <string>

#include "bench/case_sizes.h"
#include "bench/cases.h"
#include "core/models/decoder.h"

namespace assay {

namespace {

// The dimensions of one block; the rest follows from the kind of model.
struct Dimensions {
  std::int64_t hidden, heads, kv_heads, head_size, feed_forward;
};

// GPT-2: layer norm, learned positions (outside of the block), biases, GELU.
ModelSpec gpt2(const Dimensions& size) {
  ModelSpec model;
  model.name = "gpt2";
  model.type = "gpt2";
  model.layers = 1;
  model.hidden = size.hidden;
  model.heads = size.heads;
  model.kv_heads = size.kv_heads;
  model.head_size = size.head_size;
  model.feed_forward = size.feed_forward;
  model.vocabulary = 50257;
  model.tied_embeddings = true;
  model.mlp = MlpKind::plain;
  model.norm = NormStyle::layer;
  model.position = PositionKind::learned;
  model.positions = 1024;
  model.attention_bias = model.output_bias = model.mlp_bias = true;
  return model;
}

// Llama: RMS norm, rotary positions, grouped keys, no biases, SwiGLU.
ModelSpec llama(const Dimensions& size) {
  ModelSpec model;
  model.name = "llama";
  model.type = "llama";
  model.layers = 1;
  model.hidden = size.hidden;
  model.heads = size.heads;
  model.kv_heads = size.kv_heads;
  model.head_size = size.head_size;
  model.feed_forward = size.feed_forward;
  model.vocabulary = 128256;
  return model;
}

// From the models' configurations: GPT-2 124M, Llama-3.2-1B, Llama-3-8B.
constexpr Dimensions gpt2_124m = {768, 12, 12, 64, 3072};
constexpr Dimensions llama_1b = {2048, 32, 8, 64, 8192};
constexpr Dimensions llama_8b = {4096, 32, 8, 128, 14336};
// Small enough for the interpreter, with an odd number of everything that code likes to be even.
constexpr Dimensions gpt2_twin = {48, 3, 3, 16, 112};
constexpr Dimensions llama_twin = {96, 6, 2, 16, 176};

struct Block {
  std::string name;
  ModelSpec model;
  ModelSpec twin;
};

std::vector<Block> blocks(const DeviceInfo& device) {
  std::vector<Block> all = {{"gpt2", gpt2(gpt2_124m), gpt2(gpt2_twin)}};
  if (is_processor(device)) {
    all.push_back({"llama-3.2-1b", llama(llama_1b), llama(llama_twin)});
  } else {
    all.push_back({"llama-3-8b", llama(llama_8b), llama(llama_twin)});
  }
  return all;
}

std::int64_t tokens(const DeviceInfo& device, ProfileKind profile, const Block& block) {
  if (!is_processor(device)) return profile == ProfileKind::quick ? 2048 : 4096;
  const bool small = block.name == "gpt2";
  if (profile == ProfileKind::quick) return small ? 256 : 64;
  return small ? 1024 : 512;
}

Case block_case(const Block& block, Element element, std::int64_t length, bool optimizer) {
  BlockSetup setup;
  setup.length = length;
  setup.compute = Format{element, Scaling::none};
  setup.optimizer = optimizer;
  Case item;
  item.name = fmt::format("train/{}/{}/{}{}", block.name, text(element), length, optimizer ? "/adamw" : "");
  item.family = "train";
  item.work = decoder_block(block.model, setup);
  setup.batch = 2;
  setup.length = 13;
  item.twin = decoder_block(block.twin, setup);
  item.precision = text(element);
  item.whole_step = true;
  item.variant = optimizer ? "adamw" : "default";
  return item;
}

std::string first_word(const std::string& words) { return words.substr(0, words.find(' ')); }

// Every different op of a block alone: the sum of their times is what the block should take.
std::vector<Case> steps_alone(const Case& block, std::set<std::string>& seen) {
  std::vector<Case> cases;
  for (std::size_t i = 0; i < block.work.steps.size(); ++i) {
    const Op& op = block.work.steps[i].op;
    if (!seen.insert(text(op)).second) continue;
    Case item =
        single_case(fmt::format("{}/step/{:02}_{}", block.name, i + 1, first_word(text(op))), op, block.precision);
    item.cache = "hot";
    item.rank = 2;
    cases.push_back(item);
  }
  return cases;
}

}  // namespace

std::vector<Case> train_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  std::vector<Case> alone;
  std::set<std::string> seen;
  for (const Block& block : blocks(device)) {
    for (const Element element : {Element::fp32, Element::bf16}) {
      cases.push_back(block_case(block, element, tokens(device, profile, block), false));
      if (profile == ProfileKind::quick) continue;
      if (!is_processor(device) && element == Element::fp32) {  // nobody trains in it there
        measure_briefly(cases.back(), profile);
        continue;
      }
      for (Case& step : steps_alone(cases.back(), seen)) {
        if (!is_processor(device)) measure_briefly(step, profile);
        alone.push_back(std::move(step));
      }
      cases.push_back(block_case(block, element, tokens(device, profile, block), true));
    }
  }
  cases.insert(cases.end(), alone.begin(), alone.end());
  return cases;
}

}  // namespace assay
