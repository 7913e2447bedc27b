// Serving: reading prompts and making tokens, by batch, context and what weights and caches are kept in.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/case_formats.h"
#include "bench/case_models.h"
#include "bench/case_sizes.h"
#include "bench/cases.h"
#include "core/models/inference.h"
#include "core/models/step.h"

namespace assay {

namespace {

constexpr Format bf16{Element::bf16, Scaling::none};
constexpr Format fp32{Element::fp32, Scaling::none};

struct Served {
  std::string name;
  ModelSpec model;
};

std::string words(const InferenceSetup& setup) {
  std::string name = text(setup.compute);
  const std::string dialect = setup.fnuz ? "_fnuz" : "";
  if (setup.fp8) name += "_fp8" + dialect + "_weights";
  if (setup.cache != setup.compute) name += "_fp8" + dialect + "_cache";
  return name;
}

bool fits(const DeviceInfo& device, const Work& work) {
  double total = 0;  // all tensors: the cache and the weights are most of them
  for (const Tensor& tensor : work.tensors) {
    if (tensor.persistent) total += static_cast<double>(bytes(tensor));
  }
  const auto room = static_cast<double>(device.memory_available.value_or(device.memory_total.value_or(0)));
  return total * 1.25 <= room;
}

void add(std::vector<Case>& cases, const DeviceInfo& device, const Served& served, InferenceSetup setup, bool prompt) {
  Case item;
  item.name = fmt::format("infer/{}/{}/{}/{}x{}", served.name, words(setup), prompt ? "prefill" : "decode", setup.batch,
                          setup.context);
  item.family = "infer";
  item.work = prompt ? prefill(served.model, setup) : decode(served.model, setup);
  item.tokens = prompt ? setup.batch * setup.context : setup.batch;
  item.token_metric = prompt ? "seconds_to_first_token" : "seconds_per_token";
  item.precision = text(setup.compute);
  item.whole_step = true;
  item.variant = words(setup);
  if (!fits(device, item.work)) return;
  setup.batch = 2;
  setup.context = 13;
  const ModelSpec twin = twin_of(served.model);
  item.twin = prompt ? prefill(twin, setup) : decode(twin, setup);
  cases.push_back(std::move(item));
}

InferenceSetup setup_of(Format compute, std::int64_t batch, std::int64_t context) {
  InferenceSetup setup;
  setup.compute = setup.cache = compute;
  setup.batch = batch;
  setup.context = context;
  return setup;
}

void keep_cache_in_fp8(const DeviceInfo& device, InferenceSetup& setup) {
  setup.fnuz = has_fnuz(device);
  setup.cache = Format{forward_fp8(setup.fnuz), Scaling::none};
}

void add_processor_cases(std::vector<Case>& cases, const DeviceInfo& device, ProfileKind profile) {
  const Served small{"gpt2-124m", gpt2(gpt2_124m, 12)};
  if (profile == ProfileKind::quick) {
    add(cases, device, small, setup_of(bf16, 1, 128), false);
    cases.back().rank = 2;
    return;
  }
  for (const Format compute : {bf16, fp32}) {
    add(cases, device, small, setup_of(compute, 1, 512), true);
    for (const std::int64_t batch : {1, 4, 16, 64}) add(cases, device, small, setup_of(compute, batch, 512), false);
  }
  add(cases, device, small, setup_of(bf16, 1, 1024), false);
  InferenceSetup narrow = setup_of(bf16, 16, 1024);
  add(cases, device, small, narrow, false);
  keep_cache_in_fp8(device, narrow);
  add(cases, device, small, narrow, false);
  if (profile != ProfileKind::full) return;
  ModelSpec one_billion = llama(llama_1b, 16);
  one_billion.tied_embeddings = true;
  const Served medium{"llama-3.2-1b", one_billion};
  add(cases, device, medium, setup_of(bf16, 1, 128), true);
  for (const std::int64_t batch : {1, 8}) add(cases, device, medium, setup_of(bf16, batch, 1024), false);
}

void add_accelerator_cases(std::vector<Case>& cases, const DeviceInfo& device, ProfileKind profile) {
  const Served large{"llama-3-8b", llama(llama_8b, 32)};
  add(cases, device, large, setup_of(bf16, 1, 2048), true);
  const bool brief = profile == ProfileKind::quick;
  for (const std::int64_t batch : {1, 8, 32, 128}) {
    if (brief && batch > 1) break;
    add(cases, device, large, setup_of(bf16, batch, 2048), false);
  }
  if (brief) return;
  for (const std::int64_t context : {512, 8192}) add(cases, device, large, setup_of(bf16, 8, context), false);
  InferenceSetup narrow = setup_of(bf16, 32, 2048);
  keep_cache_in_fp8(device, narrow);
  add(cases, device, large, narrow, false);
  narrow.fp8 = true;
  add(cases, device, large, narrow, false);
}

}  // namespace

std::vector<Case> infer_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  if (is_processor(device)) {
    add_processor_cases(cases, device, profile);
  } else {
    add_accelerator_cases(cases, device, profile);
    for (Case& item : cases) measure_briefly(item, profile);
  }
  return cases;
}

}  // namespace assay
