// What is to be done with a model, made definite.
// SPDX-License-Identifier: Apache-2.0
#include "reports/workload.h"

#include <algorithm>

#include "core/error.h"
#include "core/models/formula.h"
#include "reports/phrase.h"
#include "reports/spread.h"

namespace assay {
namespace {

constexpr std::int64_t most_batch = 1'000'000;
constexpr std::int64_t most_context = 100'000'000;

void check_training(const Workload& workload) {
  if (workload.purpose != Purpose::training) return;
  const int width = bits(workload.weights.element);
  if (workload.tuning == Tuning::full && width < 16)
    throw BadInput("full fine-tuning keeps weights in 16 or 32 bits, not in " + format_name(workload.weights) +
                   "; take bf16 or fp32, or LoRA, which leaves the weights as they are");
  if (workload.tuning == Tuning::lora && (workload.lora_rank < 1 || workload.lora_rank > 65536))
    throw BadInput("the rank of the adapters is " + std::to_string(workload.lora_rank) + "; expected 1 to 65536");
}

void refuse(const std::string& option, std::int64_t value, const std::string& why) {
  throw BadInput(option + " " + std::to_string(value) + ": " + why);
}

void check_layout(const Workload& workload, const ModelSpec& model) {
  constexpr std::int64_t most_devices = 1 << 20;
  const Layout& layout = workload.layout;
  for (const std::int64_t size : {layout.data, layout.tensor, layout.pipeline, layout.context, layout.expert})
    if (size < 1 || size > most_devices)
      throw BadInput("a layout of " + std::to_string(size) + " devices one way; expected 1 to " +
                     std::to_string(most_devices));
  if (layout.devices() > most_devices)
    throw BadInput("the layout takes " + std::to_string(layout.devices()) + " devices; expected at most " +
                   std::to_string(most_devices));
  if (layout.devices() == 1) return;
  if (model.kind == ModelKind::convolution && layout.devices() != layout.data)
    throw BadInput(model.title + " is a convolutional network; only --data shares it out");
  if (model.kind == ModelKind::convolution) return;
  if (layout.pipeline > model.layers)
    refuse("--pipeline", layout.pipeline, model.title + " has " + std::to_string(model.layers) + " layers");
  if (model.heads > 0 && model.heads % layout.tensor != 0)
    refuse("--tensor", layout.tensor,
           "the " + std::to_string(model.heads) + " heads of " + model.title + " cannot be shared out evenly");
  if (layout.expert > 1 && !model.experts) refuse("--expert-parallel", layout.expert, model.title + " has no experts");
  if (model.experts && layout.expert > model.experts->count)
    refuse("--expert-parallel", layout.expert,
           model.title + " has " + std::to_string(model.experts->count) + " experts in a layer");
}

}  // namespace

Workload default_workload(Purpose purpose) {
  Workload workload;
  workload.purpose = purpose;
  workload.weights = workload.kv = Format{Element::bf16, Scaling::none};
  return workload;
}

Workload resolve(const Workload& wanted, const ModelSpec& model) {
  Workload workload = wanted;
  if (workload.batch < 1 || workload.batch > most_batch)
    throw BadInput("the batch is " + std::to_string(workload.batch) + "; expected 1 to " + std::to_string(most_batch));
  if (workload.context < 0 || workload.context > most_context)
    throw BadInput("the context is " + std::to_string(workload.context) + "; expected 1 to " +
                   std::to_string(most_context) + " tokens");
  if (workload.context == 0) workload.context = model.context > 0 ? std::min<std::int64_t>(4096, model.context) : 4096;
  if (model.kind == ModelKind::convolution) {
    workload.context = 1;
    if (workload.purpose == Purpose::training && workload.tuning == Tuning::lora)
      throw BadInput(model.title + " is a convolutional network; LoRA is judged for transformers only");
    if (bits(workload.weights.element) < 16)
      throw BadInput(model.title + " is judged in fp32 or 16 bits, not in " + format_name(workload.weights));
  }
  if (model.position == PositionKind::learned && workload.context > model.positions)
    throw BadInput(model.title + " has learned positions for " + std::to_string(model.positions) +
                   " tokens and cannot take a context of " + std::to_string(workload.context));
  check_training(workload);
  check_layout(workload, model);
  if (workload.framework == Framework::usual)
    workload.framework = workload.purpose == Purpose::inference ? Framework::vllm : Framework::eager;
  return workload;
}

std::string describe(const Workload& workload, const ModelSpec& model) {
  const bool pictures = model.kind == ModelKind::convolution;
  std::string words;
  if (workload.purpose == Purpose::inference)
    words = "inference";
  else if (workload.tuning == Tuning::lora)
    words = "LoRA fine-tuning of rank " + std::to_string(workload.lora_rank);
  else
    words = "full training with " + text(workload.optimizer);
  words += ", batch " + std::to_string(workload.batch);
  words += pictures ? " of 224 x 224 pictures" : " x " + grouped(static_cast<double>(workload.context)) + " tokens";
  words += ", weights " + format_name(workload.weights);
  if (workload.purpose == Purpose::training)
    words += ", recompute " + text(workload.recompute);
  else if (model.kind == ModelKind::decoder)
    words += ", KV cache " + format_name(workload.kv);
  if (workload.generated > 0) words += ", " + grouped(static_cast<double>(workload.generated)) + " tokens more";
  if (workload.layout.devices() > 1) words += ", over " + describe(workload.layout);
  return words;
}

std::string format_name(Format format) { return text(format); }

double bits_per_number(Format format) {
  const double payload = bits(format.element);
  switch (format.scaling) {
    case Scaling::none:
    case Scaling::tensor:  // one number for millions
      return payload;
    case Scaling::block32_ue8m0:
      return payload + 8.0 / 32;
    case Scaling::block16_e4m3:
      return payload + 8.0 / 16;
    case Scaling::group128:
      return payload + 32.0 / 128;
  }
  return payload;
}

Format compute_format(Format weights) {
  switch (weights.element) {
    case Element::fp64:
    case Element::fp32:
    case Element::tf32:
    case Element::fp16:
      return {weights.element == Element::tf32 ? Element::fp32 : weights.element, Scaling::none};
    case Element::bf16:
    case Element::fp8_e4m3:
    case Element::fp8_e5m2:
    case Element::fp8_e4m3_fnuz:
    case Element::fp8_e5m2_fnuz:
    case Element::int8:
    case Element::int32:
    case Element::int64:
    case Element::fp4_e2m1:
    case Element::ue8m0:
      break;
  }
  return {Element::bf16, Scaling::none};
}

std::string text(Recompute recompute) {
  switch (recompute) {
    case Recompute::none:
      return "none";
    case Recompute::selective:
      return "selective";
    case Recompute::full:
      return "full";
  }
  return "";
}

std::string text(Framework framework) {
  for (const auto& [name, value] : framework_names())
    if (value == framework) return name;
  return "usual";
}

const std::vector<std::pair<std::string, Framework>>& framework_names() {
  static const std::vector<std::pair<std::string, Framework>> names{{"own", Framework::own},
                                                                    {"eager", Framework::eager},
                                                                    {"compiled", Framework::compiled},
                                                                    {"fsdp", Framework::fsdp},
                                                                    {"deepspeed", Framework::deepspeed},
                                                                    {"megatron", Framework::megatron},
                                                                    {"vllm", Framework::vllm},
                                                                    {"tensorrt", Framework::tensorrt},
                                                                    {"llama_cpp", Framework::llama_cpp},
                                                                    {"transformers", Framework::transformers}};
  return names;
}

std::string text(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::adamw:
      return "AdamW";
    case Optimizer::adamw_8bit:
      return "8-bit AdamW";
    case Optimizer::sgd:
      return "SGD with momentum";
    case Optimizer::adafactor:
      return "Adafactor";
    case Optimizer::muon:
      return "Muon";
  }
  return "";
}

SplitParameters split_parameters(const ModelSpec& model) {
  SplitParameters split;
  for (const ParameterItem& item : parameter_items(model))
    (item.layer_matrix ? split.matrices : split.rest) += static_cast<double>(item.count);
  return split;
}

namespace {

// Inputs + outputs of all matrices of attention in one layer: an adapter of rank r on them has r times as many numbers.
Formula attention_edges(const ModelSpec& model) {
  const Formula hidden(model.hidden), heads(model.heads);
  if (model.latent) {
    const LatentAttention& latent = *model.latent;
    const Formula keys = heads * (Formula(latent.nope_head) + Formula(latent.rope_head));
    const Formula queries =
        latent.query_rank > 0 ? Formula(2) * Formula(latent.query_rank) + hidden + keys : hidden + keys;
    const Formula down = hidden + Formula(latent.kv_rank) + Formula(latent.rope_head);
    const Formula up = Formula(latent.kv_rank) + heads * (Formula(latent.nope_head) + Formula(latent.value_head));
    return queries + down + up + heads * Formula(latent.value_head) + hidden;
  }
  const Formula queries = heads * Formula(model.head_size), keys = Formula(model.kv_heads) * Formula(model.head_size);
  return Formula(2) * (hidden + queries) + Formula(2) * (hidden + keys);
}

Formula feed_forward_edges(const ModelSpec& model, std::int64_t width) {
  return Formula(model.mlp == MlpKind::gated ? 3 : 2) * (Formula(model.hidden) + Formula(width));
}

Formula adapters(const ModelSpec& model, std::int64_t rank) {
  const std::int64_t dense = model.experts ? model.experts->dense_layers : model.layers;
  Formula edges = Formula(model.layers, "layers") * attention_edges(model);
  if (dense > 0) edges = edges + Formula(dense, "layers") * feed_forward_edges(model, model.feed_forward);
  if (model.experts) {
    const Experts& experts = *model.experts;
    const Formula sparse(model.layers - dense, "layers");
    edges = edges + sparse * Formula(experts.count, "experts") * feed_forward_edges(model, experts.width);
    const std::int64_t shared = experts.shared_width > 0 ? experts.shared_width : experts.shared * experts.width;
    if (shared > 0) edges = edges + sparse * feed_forward_edges(model, shared);
  }
  if (model.pooler) edges = edges + Formula(2) * Formula(model.hidden);
  return Formula(rank, "(rank)") * edges;
}

}  // namespace

std::int64_t adapter_parameters(const ModelSpec& model, std::int64_t rank) { return adapters(model, rank).value(); }
std::string adapter_formula(const ModelSpec& model, std::int64_t rank) { return adapters(model, rank).words(); }

}  // namespace assay
