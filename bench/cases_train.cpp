// One decoder block of a GPT-2 and of a Llama, forward and backward, as a whole and step by step.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>
#include <string>

#include "bench/case_models.h"
#include "bench/case_sizes.h"
#include "bench/cases.h"
#include "core/models/decoder.h"

namespace assay {

namespace {

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
      // Of the small model the ops are measured beside its whole step.
      if (!is_processor(device) && block.name == "gpt2") continue;
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
