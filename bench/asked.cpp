// A model's own step at the size that somebody wants it.
// SPDX-License-Identifier: Apache-2.0
#include "bench/asked.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/case_formats.h"
#include "bench/case_models.h"
#include "bench/case_sizes.h"
#include "bench/cases.h"
#include "bench/learning.h"
#include "core/error.h"
#include "core/models/inference.h"
#include "core/models/step.h"

namespace assay {
namespace {

constexpr int most_sizes = 8;  // doublings of the asked batch

double room(const DeviceInfo& device) {
  return static_cast<double>(device.memory_available.value_or(device.memory_total.value_or(0)));
}

// What a back end will take at least: everything that is alive at the fullest step.
double need(const Work& work) { return static_cast<double>(plan(work, 64).peak); }

StepRecompute recompute(const std::string& word) {
  for (const StepRecompute known : {StepRecompute::none, StepRecompute::selective, StepRecompute::full})
    if (text(known) == word) return known;
  throw BadInput("no recompute '" + word + "'; take none, selective or full");
}

StepSetup training_setup(const DeviceInfo& device, const Asked& asked, std::int64_t batch) {
  StepSetup setup = byte_setup(asked.precision);
  setup.fnuz = setup.fp8 && has_fnuz(device);
  setup.attention = attention_on(device);
  setup.batch = batch;
  setup.length = asked.context;
  setup.micro_batches = asked.micro_batches;
  setup.recompute = recompute(asked.recompute);
  if (asked.short_optimizer) setup.optimizer = StepOptimizer::adamw8;
  setup.lora_rank = asked.lora_rank;
  setup.learning_rate = 6e-4;
  setup.warmup = 2000;
  return setup;
}

InferenceSetup serving_setup(const DeviceInfo& device, const Asked& asked, std::int64_t batch) {
  InferenceSetup setup;
  setup.compute = byte_setup(asked.precision).compute;
  setup.cache = setup.compute;
  setup.fp8 = asked.precision == "fp8";
  setup.fnuz = (setup.fp8 || asked.short_cache) && has_fnuz(device);
  if (asked.short_cache) setup.cache = Format{forward_fp8(setup.fnuz), Scaling::none};
  setup.batch = batch;
  setup.context = asked.context;
  return setup;
}

Case whole(const std::string& name, const std::string& family, const Asked& asked, Work work, Work twin) {
  Case item;
  item.name = name;
  item.family = family;
  item.work = std::move(work);
  item.twin = std::move(twin);
  item.precision = asked.precision;
  item.whole_step = true;
  item.variant = "asked";
  item.rank = 0;
  return item;
}

std::string name_of(const ModelSpec& model) {
  std::string plain;
  for (const char letter : model.name)
    plain += std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '.' || letter == '-' ? letter : '_';
  return plain.empty() ? "model" : plain;
}

std::vector<Case> cases_of(const DeviceInfo& device, const ModelSpec& model, const Asked& asked, std::int64_t batch) {
  std::vector<Case> cases;
  const ModelSpec twin = twin_like(model);
  const std::string size = fmt::format("{}x{}", batch, asked.context);
  if (asked.training) {
    StepSetup setup = training_setup(device, asked, batch);
    Work work = training_step(model, setup).work;
    setup.batch = 2;
    setup.length = 13;
    cases.push_back(whole(fmt::format("asked/train/{}/{}/{}", name_of(model), asked.precision, size), "train", asked,
                          std::move(work), training_step(twin, setup).work));
    cases.back().tokens = batch * asked.context * asked.micro_batches;
    return cases;
  }
  InferenceSetup setup = serving_setup(device, asked, batch);
  InferenceSetup small = setup;
  small.batch = 2;
  small.context = 13;
  for (const bool prompt : {true, false}) {
    const auto build = prompt ? prefill : decode;
    cases.push_back(whole(
        fmt::format("asked/infer/{}/{}/{}/{}", name_of(model), asked.precision, prompt ? "prefill" : "decode", size),
        "infer", asked, build(model, setup), build(twin, small)));
    cases.back().tokens = prompt ? batch * asked.context : batch;
    cases.back().token_metric = prompt ? "seconds_to_first_token" : "seconds_per_token";
  }
  return cases;
}

bool has_room(const DeviceInfo& device, const std::vector<Case>& cases) {
  return std::all_of(cases.begin(), cases.end(), [&](const Case& item) { return need(item.work) <= room(device); });
}

}  // namespace

nlohmann::json to_json(const Asked& asked) {
  return {{"model", asked.model},         {"training", asked.training},
          {"batch", asked.batch},         {"context", asked.context},
          {"precision", asked.precision}, {"short_cache", asked.short_cache},
          {"recompute", asked.recompute}, {"short_optimizer", asked.short_optimizer},
          {"lora_rank", asked.lora_rank}, {"micro_batches", asked.micro_batches}};
}

Asked asked_from(const nlohmann::json& from) {
  Asked asked;
  from.at("model").get_to(asked.model);
  from.at("training").get_to(asked.training);
  from.at("batch").get_to(asked.batch);
  from.at("context").get_to(asked.context);
  from.at("precision").get_to(asked.precision);
  from.at("short_cache").get_to(asked.short_cache);
  from.at("recompute").get_to(asked.recompute);
  from.at("short_optimizer").get_to(asked.short_optimizer);
  from.at("lora_rank").get_to(asked.lora_rank);
  from.at("micro_batches").get_to(asked.micro_batches);
  return asked;
}

std::vector<Case> asked_cases(const DeviceInfo& device, ProfileKind profile, const Asked& asked) {
  const ModelSpec model = find_model(asked.model);
  std::vector<Case> all;
  const auto take = [&](std::vector<Case> cases) {
    for (Case& item : cases) {
      estimate(item, device, profile);
      all.push_back(std::move(item));
    }
  };
  try {
    std::vector<Case> wanted = cases_of(device, model, asked, asked.batch);
    const bool there = has_room(device, wanted);
    const bool near = !there || std::any_of(wanted.begin(), wanted.end(),
                                            [&](const Case& item) { return need(item.work) * 4 > room(device); });
    take(std::move(wanted));
    if (!near) return all;
    std::int64_t batch = asked.batch;
    for (int size = 0; size < most_sizes; ++size) {
      if (!there && batch == 1) break;
      batch = there ? batch * 2 : batch / 2;
      std::vector<Case> other = cases_of(device, model, asked, batch);
      const bool fits = has_room(device, other);
      if (fits) take(std::move(other));
      if (fits != there) break;
    }
  } catch (const Unsupported& error) {
    throw BadInput("--model " + asked.model + ": no step of it can be run here: " + error.what());
  }
  return all;
}

}  // namespace assay
