// Memory of a training step: states, what is saved for the way back, the loss, and what a sharded model gathers.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "reports/predict/memory_parts.h"

namespace assay::predict {
namespace {

// Context, handles and workspaces of libraries, beside what tensors take.
constexpr double context_bytes = 1.0e9;
// What an allocator holds beyond its tensors, of a reading that counts it.
constexpr double held_back = 1.03;

// AdamW in mixed precision: weights and gradients in half precision, master copy and two moments in FP32.
constexpr double mixed_states = 16;
// DeepSpeed keeps another gradient in FP32 (18 B sharded); on one card its step makes a copy of all of them (24 B), and
// without that copy it holds 20 B.
constexpr double zero_states = 18, zero_step_alone = 24, zero_alone = 20;
// A table that is trained beside adapters: its copy, gradient, moments in the same format, and what the step makes.
constexpr double trained_table = 11;

bool sharded_weights(const Setting& setting) {
  return setting.layout.zero_stage == 3 || (setting.stack == Stack::fsdp && setting.layout.shards > 1) ||
         (setting.stack == Stack::torchtune && setting.layout.shards > 1);
}

// One layer's tensors for one token: two inputs and outputs of norms with an FP32 copy each, query, keys, values and
// output of attention, and the feed-forward.
double layer_bytes_per_token(const Setting& setting) {
  const Shape& model = setting.model;
  const double half = setting.stored == Stored::fp32 ? 2 : 1;  // twice as wide
  if (model.encoder) return half * (34 * model.hidden + 9 * model.heads * setting.prompt);
  const double query = model.heads * model.head_size, keys = model.kv_heads * model.head_size;
  const double numbers = 4 * model.hidden + 2 * query + 2 * keys + (model.gated ? 3 : 2) * model.feed_forward;
  return half * (2 * numbers + 4 * model.hidden);
}

Item states_item(const std::string& name, double bytes, const std::string& formula) { return {name, bytes, formula}; }

// Layers that are gathered at a time, and both tables.
double window_bytes(const Setting& setting) {
  const Shape& model = setting.model;
  return (2 * model.matrices / model.layers * std::min(bytes_of(setting.stored), 2.0) + 2 * model.embedding() * 2) /
         setting.layout.tensor;
}

// What every matrix gave, kept once more for the gradients of bias and scale: in half precision, and half of it in
// FP32.
double scaled_bytes_per_token(const Setting& setting) {
  const Shape& model = setting.model;
  if (!setting.scaled_outputs) return 0;
  const double query = model.heads * model.head_size, keys = model.kv_heads * model.head_size;
  return model.layers * 3 * (query + 2 * keys + 2 * model.hidden + (model.gated ? 2 : 1) * model.feed_forward);
}

Item activation_item(const Setting& setting) {
  const double tokens = setting.batch * setting.prompt / setting.layout.context;
  const double per_token = (saved_bytes_per_token(setting) + scaled_bytes_per_token(setting)) / setting.layout.tensor /
                           setting.layout.pipeline;
  return {"activations", tokens * per_token, fmt::format("{:.0f} tokens x {:.4g} B", tokens, per_token)};
}

Item loss_item(const Setting& setting) {
  const double tokens = setting.batch * setting.prompt / setting.layout.context;
  const double per_token = logit_bytes_per_token(setting) / setting.layout.tensor;
  return {"loss", tokens * per_token, fmt::format("{:.0f} tokens x {:.4g} B of logits", tokens, per_token)};
}

std::vector<Item> adapter_items(const Setting& setting) {
  const Shape& model = setting.model;
  const bool gptq = setting.stored == Stored::int4_groups;
  double weights = weight_bytes(setting);
  if (gptq) weights += model.rest() * 2;  // prepared for training, what is not quantised becomes FP32
  if (setting.stack == Stack::litgpt && (setting.stored == Stored::nf4 || setting.stored == Stored::nf4_double))
    weights += 0.3 * model.matrices;
  weights /= setting.layout.tensor * setting.layout.pipeline;
  const double shards = setting.layout.shards;
  if (sharded_weights(setting)) weights = weights / shards + window_bytes(setting);
  const double trained = adapter_parameters(setting);
  std::vector<Item> items = {
      states_item("weights", weights, "frozen"),
      states_item("adapters", trained * mixed_states / shards, fmt::format("{:.4g} numbers x 16 B", trained))};
  if (setting.tables_trained)
    items.push_back(
        states_item("trained tables", 2 * model.embedding() * trained_table, "2 x vocabulary x hidden x 11 B"));
  items.push_back(activation_item(setting));
  items.push_back(loss_item(setting));
  return items;
}

std::vector<Item> full_items(const Setting& setting) {
  const Shape& model = setting.model;
  const double shards = setting.layout.shards;
  const double own = model.parameters / (setting.layout.tensor * setting.layout.pipeline);
  const Item activations = activation_item(setting), loss = loss_item(setting);
  if (setting.states_on_host)
    return {states_item("gathered layers", window_bytes(setting), "two layers and both tables in BF16"), activations,
            loss};
  if (setting.stack == Stack::deepspeed) {
    const bool alone = shards <= 1;
    const double stepping = own * (alone ? zero_step_alone : zero_states) / shards;
    const double running = own * (alone ? zero_alone : zero_states) / shards;
    if (stepping > running + activations.bytes + loss.bytes)
      return {states_item("states in the optimizer's step", stepping, fmt::format("{:.4g} parameters x 24 B", own))};
    return {states_item("states", running, fmt::format("{:.4g} parameters / {:.0f}", own, shards)), activations, loss};
  }
  if (setting.stack == Stack::fsdp || shards > 1)
    return {states_item("states", own * mixed_states / shards,
                        fmt::format("{:.4g} parameters x 16 B / {:.0f}", own, shards)),
            states_item("gathered layers", window_bytes(setting), "two layers and both tables in BF16"), activations,
            loss};
  if (setting.stack == Stack::torchtune) {
    const double each = setting.small_card ? 2 : 4;  // BF16 weights, and gradients where no step consumes them at once
    return {states_item("weights and gradients", own * each, fmt::format("{:.4g} parameters x {:.0f} B", own, each)),
            activations, loss};
  }
  const double each = setting.stored == Stored::fp32 ? 16 : 18;
  return {states_item("states", own * each, fmt::format("{:.4g} parameters x {:.0f} B", own, each)), activations, loss};
}

// LitGPT's loader puts the whole model on each card before it is sharded; the layers are then recomputed.
Memory litgpt_sharded(Setting setting) {
  const double whole = weight_bytes(setting), shards = setting.layout.shards;
  setting.saved = Saved::layer_inputs;
  Memory running{adapter_items(setting), "when the loss is computed", "", 0, 0};
  running.items.front() =
      states_item("weights", whole / shards + window_bytes(setting), "a shard and what is gathered");
  const Memory loading{{states_item("whole model", whole, "before it is sharded"),
                        states_item("shard", whole / shards, fmt::format("1/{:.0f} of it", shards)),
                        states_item("gathered layers", window_bytes(setting), "two layers and both tables in BF16")},
                       "while it is loaded",
                       "",
                       0,
                       0};
  return loading.bytes() > running.bytes() ? loading : running;
}

}  // namespace

double adapter_parameters(const Setting& setting) {
  if (setting.adapter_parameters) return *setting.adapter_parameters;
  const Shape& model = setting.model;
  const double rank = setting.rank.value_or(8);
  const double query = model.heads * model.head_size, keys = model.kv_heads * model.head_size;
  const double attention = (model.hidden + query) * 2 + (model.hidden + keys) * (setting.rank ? 2 : 1);
  const double feed_forward = setting.rank ? (model.gated ? 3 : 2) * (model.hidden + model.feed_forward) : 0;
  return model.layers * rank * (attention + feed_forward);
}

double saved_bytes_per_token(const Setting& setting) {
  const Shape& model = setting.model;
  const double layer = layer_bytes_per_token(setting);
  const double query = model.heads * model.head_size, keys = model.kv_heads * model.head_size;
  switch (setting.saved) {
    case Saved::everything:
      return model.layers * layer;
    case Saved::products:  // of every second product, and the attention's output
      return model.layers * 2 * (2 * model.hidden + 2 * query + keys + model.feed_forward) + 2 * layer;
    case Saved::layer_inputs:  // and one layer done again, with its gradients beside it
      break;
  }
  return (setting.stack == Stack::unsloth ? 1 : model.layers * 2 * model.hidden) +
         (setting.stack == Stack::unsloth ? 1 : 2) * layer;
}

// Half precision, FP32, their gradient in FP32 and in half precision.
double logit_bytes_per_token(const Setting& setting) {
  const double vocabulary = setting.model.vocabulary;
  if (setting.fused_loss) return 0;
  if (setting.chunked_loss) return vocabulary * 6 / 4;
  if (setting.trained == Trained::adapter && setting.stored == Stored::int4_groups) return vocabulary * 6;
  return vocabulary * 12;
}

Memory training_memory(const Setting& setting) {
  if (setting.model.matrices <= 0) return not_judged("the parameters of its layers are not known");
  if (setting.stack == Stack::litgpt && setting.layout.shards > 1 && setting.trained == Trained::adapter &&
      setting.counter == Counter::allocated_peak)
    return litgpt_sharded(setting);
  Memory memory;
  memory.items = setting.trained == Trained::adapter ? adapter_items(setting) : full_items(setting);
  memory.moment = "when the loss is computed";
  if (setting.counter != Counter::allocated_peak)
    memory.items.push_back({"context and libraries", context_bytes, "the runtime's own"});
  double factor = setting.counter == Counter::allocated_peak ? 1 : held_back;
  if (setting.all_cards) factor *= setting.layout.cards;
  for (Item& item : memory.items) item.bytes *= factor;
  return memory;
}

double Memory::bytes() const {
  double total = 0;
  for (const Item& item : items) total += item.bytes;
  return total;
}

double half_width(const Setting& setting) {
  if (setting.use == Use::training) return setting.trained == Trained::adapter ? 0.16 : 0.13;
  const bool exact = setting.counter == Counter::weights || setting.counter == Counter::kv_cache;
  if (exact) return 0.01;
  return setting.counter == Counter::device ? 0.1 : 0.065;
}

Memory predict_memory(const Setting& setting) {
  Memory memory = setting.use == Use::inference ? inference_memory(setting) : training_memory(setting);
  memory.lower = memory.bytes() * (1 - half_width(setting));
  memory.upper = memory.bytes() * (1 + half_width(setting));
  return memory;
}

}  // namespace assay::predict
