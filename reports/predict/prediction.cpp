// From a workload and a card to the sizes that the memory model takes, and back to the four counters.
// SPDX-License-Identifier: Apache-2.0
#include "reports/predict/prediction.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "reports/predict/memory.h"

namespace assay {
namespace {

using predict::Stack;
using predict::Stored;

Stack stack_of(const Workload& workload) {
  switch (workload.framework) {
    case Framework::own:
    case Framework::compiled:
    case Framework::megatron:
      return Stack::plain;
    case Framework::usual:
    case Framework::eager:
      if (workload.purpose == Purpose::inference) return Stack::transformers;
      return workload.tuning == Tuning::full ? Stack::plain : Stack::trainer;
    case Framework::fsdp:
      return Stack::fsdp;
    case Framework::deepspeed:
      return Stack::deepspeed;
    case Framework::transformers:
      return workload.purpose == Purpose::inference ? Stack::transformers : Stack::trainer;
    case Framework::vllm:
    case Framework::tensorrt:
      return Stack::vllm;
    case Framework::llama_cpp:
      return Stack::llama_cpp;
  }
  return Stack::plain;
}

Stored stored_of(const Workload& workload) {
  if (workload.framework == Framework::llama_cpp) {
    const int width = bits(workload.weights.element);
    return width >= 16 ? Stored::gguf_f16 : width == 8 ? Stored::gguf_q8_0 : Stored::gguf_q4_k_m;
  }
  const int width = bits(workload.weights.element);
  if (width >= 32) return Stored::fp32;
  if (width == 16) return Stored::half;
  if (width == 4) return workload.purpose == Purpose::training ? Stored::nf4 : Stored::int4_groups;
  return workload.weights.element == Element::int8 ? Stored::int8_groups : Stored::fp8_blocks;
}

predict::Saved saved_of(Recompute recompute) {
  switch (recompute) {
    case Recompute::none:
      return predict::Saved::everything;
    case Recompute::selective:
      return predict::Saved::products;
    case Recompute::full:
      return predict::Saved::layer_inputs;
  }
  return predict::Saved::everything;
}

predict::Setting sizes_of(const Setting& setting, predict::Counter counter) {
  const Workload& workload = setting.workload;
  predict::Setting sizes;
  sizes.model = predict::shape_of(setting.model);
  sizes.use = workload.purpose == Purpose::training ? predict::Use::training : predict::Use::inference;
  sizes.stack = stack_of(workload);
  sizes.stored = stored_of(workload);
  sizes.cache_bytes = bits(workload.kv.element) / 8.0;
  sizes.counter = counter;
  sizes.batch = static_cast<double>(workload.batch);
  sizes.prompt = static_cast<double>(workload.context);
  sizes.generated = static_cast<double>(workload.generated);
  sizes.trained = workload.tuning == Tuning::full ? predict::Trained::everything : predict::Trained::adapter;
  sizes.rank = static_cast<double>(workload.lora_rank);
  sizes.tables_trained = workload.embedding_trained;
  sizes.saved = saved_of(workload.recompute);
  sizes.fused_loss = workload.fused_loss;
  sizes.layout.cards = static_cast<double>(workload.layout.devices());
  sizes.layout.zero_stage = workload.layout.zero_stage;
  if (workload.layout.zero_stage > 0)
    sizes.layout.shards = static_cast<double>(workload.layout.data * workload.layout.context);
  sizes.layout.tensor = static_cast<double>(workload.layout.tensor);
  sizes.layout.pipeline = static_cast<double>(workload.layout.pipeline);
  sizes.layout.context = static_cast<double>(workload.layout.context);
  return sizes;
}

predict::Memory judged(const Setting& setting, predict::Counter counter) {
  predict::Memory memory = predict::predict_memory(sizes_of(setting, counter));
  if (!memory.judged()) throw BadInput("the memory of " + setting.model.title + " is not judged: " + memory.reason);
  return memory;
}

Estimate estimate_of(const predict::Memory& memory) { return {memory.bytes(), memory.lower, memory.upper}; }

void refuse_unmodelled(const Setting& setting) {
  const Workload& workload = setting.workload;
  const std::string model = "the memory of " + setting.model.title + " is not judged: ";
  if (setting.model.kind == ModelKind::convolution)
    throw BadInput(model + "it is a convolutional network, and only transformers are modelled here");
  if (setting.model.latent) throw BadInput(model + "latent attention is not modelled here");
  if (workload.layout.offload || workload.offload_activations)
    throw BadInput(model + "offload to the host is not modelled here");
  if (workload.tuning == Tuning::frozen || workload.tuning == Tuning::adapter)
    throw BadInput(model + "frozen layers and prefix adapters are not modelled here; take full or lora");
  if (workload.purpose == Purpose::training && workload.optimizer != Optimizer::adamw)
    throw BadInput(model + "only AdamW is modelled here");
}

predict::Runtime runtime_of(const Workload& workload) {
  using predict::Runtime;
  const bool serves = workload.purpose == Purpose::inference;
  switch (workload.framework) {
    case Framework::own:
      return serves ? Runtime::engine : Runtime::native;
    case Framework::compiled:
      return serves ? Runtime::engine : Runtime::compiled;
    case Framework::megatron:
      return Runtime::megatron;
    case Framework::usual:
      return serves ? Runtime::engine : Runtime::eager;
    case Framework::eager:
    case Framework::fsdp:
      return serves ? Runtime::transformers : Runtime::eager;
    case Framework::deepspeed:
      return Runtime::deepspeed;
    case Framework::transformers:
      return serves ? Runtime::transformers : Runtime::trainer;
    case Framework::vllm:
    case Framework::tensorrt:
      return Runtime::engine;
    case Framework::llama_cpp:
      return Runtime::llama_cpp;
  }
  return Runtime::eager;
}

predict::Computed computed(const Workload& workload) {
  using predict::Computed;
  if (workload.weights.element == Element::tf32) return Computed::tf32;
  const int width = bits(workload.weights.element);
  if (width >= 32) return Computed::fp32;
  const bool eight = width == 8 && workload.weights.element != Element::int8;
  return eight ? Computed::fp8 : Computed::half;  // what is shorter is unpacked before the product
}

}  // namespace

predict::SpeedSetting speed_setting(const ModelSpec& model, const Workload& workload) {
  if (model.kind == ModelKind::convolution) throw BadInput("the time of convolutions is not judged");
  predict::SpeedSetting setting;
  setting.sizes = sizes_of({model, workload}, predict::Counter::device);
  setting.runtime = runtime_of(workload);
  setting.computed = computed(workload);
  setting.flash = workload.flash;
  setting.accumulation = static_cast<double>(workload.accumulation);
  // A pipeline is kept full by micro-batches; four a stage where the workload does not say.
  setting.in_flight =
      static_cast<double>(workload.accumulation > 1 ? workload.accumulation : 4 * workload.layout.pipeline);
  setting.chunks = static_cast<double>(workload.layout.virtual_stages);
  if (model.experts) {
    setting.expert_count = static_cast<double>(model.experts->count);
    setting.active = static_cast<double>(active_parameters(model)) - setting.sizes.model.rest();
  }
  return setting;
}

std::string text(Counter counter) {
  switch (counter) {
    case Counter::requested:
      return "requested";
    case Counter::allocated:
      return "allocated";
    case Counter::reserved:
      return "reserved";
    case Counter::device:
      return "device";
  }
  return "";
}

const Estimate& MemoryPrediction::of(Counter counter) const {
  switch (counter) {
    case Counter::requested:
      return requested;
    case Counter::allocated:
      return allocated;
    case Counter::reserved:
      return reserved;
    case Counter::device:
      return device;
  }
  return device;
}

// Tensors of a model are large; rounding each to 512 bytes changes nothing that shows, so requested is allocated.
MemoryPrediction predict_memory(const Setting& setting) {
  refuse_unmodelled(setting);
  const predict::Memory device = judged(setting, predict::Counter::device);
  MemoryPrediction prediction;
  const double spread = device.bytes() > 0 ? device.upper / device.bytes() : 1;
  for (const predict::Item& item : device.items)
    prediction.items.push_back(
        {item.name, {item.bytes, item.bytes * (2 - spread), item.bytes * spread}, item.formula, "arithmetic"});
  prediction.moment = device.moment;
  prediction.device = estimate_of(device);
  prediction.allocated = estimate_of(judged(setting, predict::Counter::allocated_peak));
  prediction.requested = prediction.allocated;
  prediction.reserved = estimate_of(judged(setting, predict::Counter::reserved));
  if (setting.workload.purpose == Purpose::inference) {
    prediction.weights = estimate_of(judged(setting, predict::Counter::weights));
    prediction.kv = estimate_of(judged(setting, predict::Counter::kv_cache));
  }
  return prediction;
}

double probability_within(const Estimate& need, double there) {
  constexpr double percentile95 = 1.6449;  // of the standard normal distribution
  const double half = there >= need.value ? need.upper - need.value : need.value - need.lower;
  if (!(half > 0)) return there >= need.value ? 1 : 0;
  const double deviations = (there - need.value) / (half / percentile95);
  return 0.5 * std::erfc(-deviations / std::sqrt(2.0));
}

}  // namespace assay
