// Whole training steps of GPT-2 124M and Llamas, by precision, micro-batch and what saves memory; and models that
// learn. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "bench/case_formats.h"
#include "bench/case_models.h"
#include "bench/case_sizes.h"
#include "bench/cases.h"
#include "bench/learning.h"
#include "bench/profile.h"
#include "core/models/step.h"

namespace assay {

namespace {

struct Trained {
  std::string name;
  ModelSpec model;
  std::int64_t length;
};

StepSetup setup_for(const DeviceInfo& device, const std::string& precision, std::int64_t batch, std::int64_t length) {
  StepSetup setup = byte_setup(precision);
  setup.fnuz = setup.fp8 && has_fnuz(device);
  setup.attention = attention_on(device);
  setup.batch = batch;
  setup.length = length;
  setup.learning_rate = 6e-4;
  setup.warmup = 2000;
  return setup;
}

// The most bytes that are alive at a time: what every placement takes at least.
double live_peak(const Work& work) {
  std::vector<double> change(work.steps.size() + 1, 0);
  std::vector<std::size_t> first(work.tensors.size(), work.steps.size());
  std::vector<std::size_t> last(work.tensors.size(), 0);
  for (std::size_t i = 0; i < work.steps.size(); ++i) {
    for (const int tensor : work.steps[i].operands) {
      const auto at = static_cast<std::size_t>(tensor);
      first[at] = std::min(first[at], i);
      last[at] = std::max(last[at], i);
    }
  }
  double always = 0;
  for (std::size_t i = 0; i < work.tensors.size(); ++i) {
    const auto size = static_cast<double>(bytes(work.tensors[i]));
    if (work.tensors[i].persistent || first[i] == work.steps.size()) {
      always += size;
    } else {
      change[first[i]] += size;
      change[last[i] + 1] -= size;
    }
  }
  double now = always;
  double peak = always;
  for (const double each : change) peak = std::max(peak, now += each);
  return peak;
}

// Whether the step fits, with a fifth to spare for workspaces, what placing loses, and everybody else.
bool fits(const DeviceInfo& device, const Work& work) {
  const auto room = static_cast<double>(device.memory_available.value_or(device.memory_total.value_or(0)));
  return live_peak(work) * 1.25 <= room;
}

Case step_case(const std::string& name, const ModelSpec& model, StepSetup setup, const std::string& precision,
               const std::string& variant) {
  Case item;
  item.name = name;
  item.family = "train";
  item.work = training_step(model, setup).work;
  item.tokens = setup.batch * setup.length * setup.micro_batches;
  item.precision = precision;
  item.whole_step = true;
  item.variant = variant;
  setup.batch = 2;
  setup.length = 13;
  item.twin = training_step(twin_of(model), setup).work;
  return item;
}

std::string first_word(const std::string& words) { return words.substr(0, words.find(' ')); }

// Every different op of a step alone: the sum of their times is what the step should take. Many of them: each briefly.
void add_ops_alone(std::vector<Case>& cases, const Case& step, std::set<std::string>& seen) {
  for (std::size_t i = 0; i < step.work.steps.size(); ++i) {
    const Op& op = step.work.steps[i].op;
    if (!seen.insert(text(op)).second) continue;
    Case item =
        single_case(fmt::format("{}/step/{:03}_{}", step.name, i + 1, first_word(text(op))), op, step.precision);
    item.cache = "hot";
    item.rank = 2;
    item.limits = profile(ProfileKind::quick).limits;
    cases.push_back(std::move(item));
  }
}

std::string name_of(const Trained& trained, const std::string& precision, std::int64_t batch) {
  return fmt::format("train/{}/{}/{}x{}", trained.name, precision, batch, trained.length);
}

// Micro-batches from 1 to the largest that fits, each twice the one before.
void add_sweep(std::vector<Case>& cases, const DeviceInfo& device, const Trained& trained, const std::string& precision,
               std::int64_t least, std::int64_t most, std::int64_t factor = 2) {
  for (std::int64_t batch = least; batch <= most; batch *= factor) {
    Case item = step_case(name_of(trained, precision, batch), trained.model,
                          setup_for(device, precision, batch, trained.length), precision, "adamw");
    if (!fits(device, item.work)) break;
    const bool there = std::any_of(cases.begin(), cases.end(), [&](const Case& one) { return one.name == item.name; });
    if (!there) cases.push_back(std::move(item));
  }
}

// What takes less memory, each alone.
void add_levers(std::vector<Case>& cases, const DeviceInfo& device, const Trained& trained,
                const std::string& precision, std::int64_t batch) {
  const auto add = [&](const std::string& variant, const StepSetup& setup) {
    Case item = step_case(name_of(trained, precision, batch) + "/" + variant, trained.model, setup, precision, variant);
    item.rank = 2;
    if (fits(device, item.work)) cases.push_back(std::move(item));
  };
  const StepSetup plain = setup_for(device, precision, batch, trained.length);
  StepSetup setup = plain;
  setup.recompute = StepRecompute::selective;
  add("recompute_selective", setup);
  setup.recompute = StepRecompute::full;
  add("recompute_full", setup);
  setup = plain;
  setup.micro_batches = 2;
  add("micro_batches_2", setup);
  setup = plain;
  setup.optimizer = StepOptimizer::adamw8;
  add("adamw8", setup);
  setup = plain;
  setup.lora_rank = 16;
  add("lora_16", setup);
  if (is_processor(device)) {
    setup = plain;
    setup.attention = StepAttention::plain;
    add("attention_plain", setup);
  }
}

void add_processor_steps(std::vector<Case>& cases, const DeviceInfo& device, ProfileKind profile) {
  const Trained trained{"gpt2-124m", gpt2(gpt2_124m, 12), 256};
  std::vector<Case> alone;
  std::set<std::string> seen;
  for (const std::string precision : {"bf16", "fp32"}) {
    add_sweep(cases, device, trained, precision, 4, 4);
    if (!cases.empty()) add_ops_alone(alone, cases.back(), seen);
  }
  add_sweep(cases, device, trained, "bf16", 1, profile == ProfileKind::full ? 64 : 2);
  if (profile == ProfileKind::full) {
    for (const std::string precision : {"fp16", "fp8"}) add_sweep(cases, device, trained, precision, 1, 1);
    add_levers(cases, device, trained, "bf16", 1);
  }
  cases.insert(cases.end(), alone.begin(), alone.end());
}

void add_accelerator_steps(std::vector<Case>& cases, const DeviceInfo& device, ProfileKind profile) {
  const Trained small{"gpt2-124m", gpt2(gpt2_124m, 12), 1024};
  ModelSpec one_billion = llama(llama_1b, 16);
  one_billion.tied_embeddings = true;
  const Trained medium{"llama-3.2-1b", one_billion, 2048};
  std::vector<Case> alone;
  std::set<std::string> seen;
  add_sweep(cases, device, small, "bf16", 16, 16);
  if (profile == ProfileKind::quick) return;
  if (!cases.empty()) add_ops_alone(alone, cases.back(), seen);
  add_sweep(cases, device, small, "bf16", 1, 256, 4);
  for (const std::string precision : {"tf32", "fp16", "fp8"}) add_sweep(cases, device, small, precision, 16, 16);
  add_sweep(cases, device, medium, "bf16", 1, 64, 4);
  if (profile == ProfileKind::full) add_levers(cases, device, medium, "bf16", 1);
  cases.insert(cases.end(), alone.begin(), alone.end());
  for (Case& item : cases) {  // points of curves and single ops, and steps that repeat well
    if (!item.limits) measure_briefly(item, profile);
  }
}

}  // namespace

std::vector<Case> step_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  if (!is_processor(device)) {
    add_accelerator_steps(cases, device, profile);
  } else if (profile != ProfileKind::quick) {
    add_processor_steps(cases, device, profile);
  }
  return cases;
}

std::vector<Case> learning_cases(const DeviceInfo& device, ProfileKind profile) {
  const bool brief = profile == ProfileKind::quick;
  std::vector<Case> cases;
  for (const std::string precision : {"fp32", "bf16", "tf32", "fp16", "fp8"}) {
    if (brief && precision != "fp32" && precision != "bf16") continue;
    StepSetup setup = byte_setup(precision);
    setup.fnuz = setup.fp8 && has_fnuz(device);
    setup.attention = attention_on(device);
    Case item;
    item.name = "train/learn/bytes/" + precision;
    item.family = "train";
    item.training = training_step(byte_model(), setup);
    item.learning_steps = brief ? 20 : 60;
    item.precision = precision;
    item.seconds_expected = brief ? 0.4 : 3;
    item.rank = 2;
    cases.push_back(std::move(item));
  }
  return cases;
}

}  // namespace assay
