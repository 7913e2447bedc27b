// The items of a memory budget that follow from the model itself.
// SPDX-License-Identifier: Apache-2.0
#include "reports/memory_items.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/activations.h"
#include "reports/phrase.h"
#include "reports/workload.h"

namespace assay {
namespace {

constexpr const char* activations_name = "activations";
constexpr const char* logits_name = "logits";
constexpr double usual_chunk = 2048;  // tokens of a prompt that serving engines read at once by default

double real(std::int64_t value) { return static_cast<double>(value); }
double bytes_of(Format format) { return bits_per_number(format) / 8; }

MemoryItem exact(const std::string& name, double bytes, const std::string& formula) {
  MemoryItem item;
  item.name = name;
  item.bytes = item.lower = item.upper = bytes;
  item.formula = formula;
  item.origin = "arithmetic";
  return item;
}

std::string product(double count, const std::string& what, double each) {
  return grouped(count) + " " + what + " x " + (each >= 1000 ? grouped(each) : plain_number(each)) + " bytes";
}

MemoryItem weights_item(const ModelSpec& model, Format format) {
  if (model.stored_bytes && format == default_workload(Purpose::inference).weights) {
    MemoryItem stored = exact("weights", real(*model.stored_bytes), "the checkpoint's tensors as they are stored");
    stored.origin = "the checkpoint's header";
    stored.changes = "fewer bits a weight; a smaller model";
    stored.check = "size of the checkpoint's files, less their headers";
    return stored;
  }
  const Format usual = compute_format(format);
  const double each = bytes_of(format);
  const bool narrow = each < bytes_of(usual);
  MemoryItem item;
  if (narrow) {
    const SplitParameters split = split_parameters(model);
    item = exact("weights", split.matrices * each + split.rest * bytes_of(usual),
                 product(split.matrices, "numbers in the layers' matrices", each) + " (" + format_name(format) +
                     " with scales) + " + product(split.rest, "others", bytes_of(usual)));
  } else {
    const double count = real(parameters(model));
    item = exact("weights", count * each, product(count, "parameters", each));
  }
  if (model.experts) item.formula += "; all experts are resident, used or not";
  item.changes = narrow ? "fewer bits a weight; a smaller model" : "8-bit or 4-bit weights; a smaller model";
  item.check = "size of the checkpoint's files in this format";
  return item;
}

MemoryItem cache_item(const ModelSpec& model, const Workload& workload) {
  const int width = bits(workload.kv.element);
  const std::int64_t tokens = workload.context + workload.generated;
  const double sequence = real(kv_bytes(model, tokens, width));
  const double token = real(kv_bytes_per_token(model, width));
  std::string formula = product(real(tokens), "tokens", token) + " a token";
  const std::int64_t windowed = windowed_layers(model);
  if (windowed > 0 && tokens > *model.window)
    formula = fmt::format("({} layers x {} tokens + {} windowed layers x {} tokens) x {} bytes a token and layer",
                          model.layers - windowed, grouped(real(tokens)), windowed, grouped(real(*model.window)),
                          plain_number(token / real(model.layers)));
  else if (model.latent)
    formula += fmt::format(" ({} layers x ({} + {}) latent numbers x {} bytes)", model.layers, model.latent->kv_rank,
                           model.latent->rope_head, plain_number(width / 8.0));
  else
    formula += fmt::format(" ({} layers x 2 x {} KV heads x {} x {} bytes)", model.layers, model.kv_heads,
                           model.head_size, plain_number(width / 8.0));
  MemoryItem item =
      exact("KV cache", real(workload.batch) * sequence, "batch " + std::to_string(workload.batch) + " x " + formula);
  item.changes = "a smaller batch or context; an 8-bit cache";
  item.check = "growth of memory from a context of 1 to the full one, divided by the tokens";
  return item;
}

double tokens_of(const Workload& workload) { return real(workload.batch) * real(workload.context); }

std::string tokens_words(const ModelSpec& model, const Workload& workload) {
  if (model.kind == ModelKind::convolution) return std::to_string(workload.batch) + " pictures";
  return grouped(tokens_of(workload)) + " tokens";
}

MemoryItem prompt_item(const ModelSpec& model, const Workload& workload) {
  const double each = bytes_of(compute_format(workload.weights));
  const Numbers widest = widest_numbers(model);
  const double tokens = tokens_of(workload);
  const bool pictures = model.kind == ModelKind::convolution;
  MemoryItem item;
  item.name = activations_name;
  item.bytes = tokens * widest.count * each;
  item.lower = (pictures ? tokens : std::min(tokens, usual_chunk)) * widest.count * each * (pictures ? 0.67 : 1.0);
  item.upper = item.bytes * 1.15;
  item.formula = tokens_words(model, workload) + " x (" + widest.words + ") x " + plain_number(each) + " bytes";
  item.origin =
      pictures ? "arithmetic on the layers' shapes; lower where norms are folded in, upper 15 % more"
               : "arithmetic on the widest moment of one layer, the whole prompt read at once with fused attention; "
                 "lower where it is read in chunks of 2,048; upper 15 % more. Within 3 % of published readings of "
                 "Qwen2.5-0.5B to 32B";
  item.changes = "a smaller batch; reading the prompt in chunks";
  item.check = "peak allocated bytes during the first forward pass, less weights and cache";
  return item;
}

MemoryItem last_logits_item(const ModelSpec& model, const Workload& workload) {
  const double count = real(workload.batch) * real(model.vocabulary);
  MemoryItem item = exact(logits_name, count * 6,
                          fmt::format("batch {} x {} tokens of vocabulary x (2 + 4) bytes: 16 bits and a copy in fp32",
                                      workload.batch, grouped(real(model.vocabulary))));
  item.origin = "arithmetic; of the last token only, as engines do";
  item.changes = "a smaller batch";
  item.check = "batch x vocabulary x 6 bytes";
  return item;
}

struct States {
  double trained = 0;   // numbers that are trained
  std::string words;    // "8,030,261,248 parameters"
  bool master = false;  // a master copy in fp32 beside the weight
};

States trained_states(const ModelSpec& model, const Workload& workload) {
  if (workload.tuning == Tuning::lora) {
    const double count = real(adapter_parameters(model, workload.lora_rank));
    return {count, grouped(count) + " adapter parameters", false};
  }
  const double count = real(parameters(model));
  return {count, grouped(count) + " parameters", bits(workload.weights.element) < 32};
}

MemoryItem optimizer_item(const States& states, Optimizer optimizer) {
  const double master = states.master ? 4 : 0;
  double moments = 8;
  std::string words = "first and second moment in fp32 (4 + 4)";
  if (optimizer == Optimizer::adamw_8bit) {
    moments = 2 * (1 + 4.0 / 256);
    words = "two moments in 8 bits with one fp32 scale for 256 (2 x (1 + 4/256))";
  } else if (optimizer == Optimizer::sgd) {
    moments = 4;
    words = "momentum in fp32 (4)";
  } else if (optimizer == Optimizer::muon) {
    moments = 4;
    words = "momentum in fp32 (4; AdamW on embeddings and norms not counted)";
  } else if (optimizer == Optimizer::adafactor) {
    moments = 0;
    words = "second moment as one row and one column a matrix (nearly nothing)";
  }
  if (states.master) words = "master weight in fp32 (4) + " + words;
  MemoryItem item = exact("optimizer", states.trained * (master + moments),
                          states.words + " x " + plain_number(master + moments) + " bytes: " + words);
  item.changes = "8-bit AdamW; LoRA; sharding over more devices";
  item.check = "allocated bytes after the first step, less weights and gradients";
  return item;
}

MemoryItem adapters_item(const ModelSpec& model, const Workload& workload, const States& states) {
  MemoryItem item = exact("adapters", states.trained * 4,
                          adapter_formula(model, workload.lora_rank) + " = " + states.words + " x 4 bytes (fp32)");
  item.changes = "a smaller rank; fewer matrices with adapters";
  item.check = "trainable parameters that the framework prints";
  return item;
}

MemoryItem saved_item(const ModelSpec& model, const Workload& workload) {
  const Format compute = compute_format(workload.weights);
  const double each = bytes_of(compute), tokens = tokens_of(workload);
  Numbers saved = saved_numbers(model, workload.recompute, compute);
  Numbers least = least_saved_numbers(model, workload.recompute);
  if (workload.recompute == Recompute::full && model.kind != ModelKind::convolution) {
    const Numbers again = one_layer_numbers(model, compute);
    saved = {saved.count + again.count, saved.words + " + one layer computed again: " + again.words};
    least.count += again.count / 2;
  }
  MemoryItem item;
  item.name = activations_name;
  item.bytes = tokens * saved.count * each;
  item.lower = std::min(item.bytes, tokens * least.count * each);
  item.upper = item.bytes * 1.05;
  item.formula = tokens_words(model, workload) + " x (" + saved.words + ") x " + plain_number(each) + " bytes";
  item.origin =
      "arithmetic on what each op saves, run one after the other with fused attention; lower where norms and "
      "activations are fused, upper 5 % more. Within 5 % of published readings of five models";
  item.changes = workload.recompute == Recompute::full ? "a smaller batch or sequence"
                                                       : "recompute selective or full; a smaller batch or sequence";
  item.check = "allocated bytes at the end of the forward pass, less those before it";
  return item;
}

MemoryItem loss_item(const ModelSpec& model, const Workload& workload) {
  const double count = tokens_of(workload) * real(model.vocabulary);
  const double narrow = bytes_of(compute_format(workload.weights));
  MemoryItem item;
  item.name = logits_name;
  item.bytes = count * (narrow + 8);
  item.lower = item.bytes / 8;
  item.upper = count * (narrow + 12);
  item.formula = fmt::format(
      "{} tokens x {} tokens of vocabulary x ({} + 4 + 4) bytes: logits, a copy in fp32, its "
      "gradient",
      grouped(tokens_of(workload)), grouped(real(model.vocabulary)), plain_number(narrow));
  item.origin = "arithmetic; lower where the loss is computed in eight chunks, upper with one more copy in fp32";
  item.changes = "a chunked or fused loss; a smaller batch or sequence";
  item.check = "peak allocated bytes during the loss, less those before it";
  return item;
}

// Gradients come while activations go. Where a framework frees them after each step, they are there at the end of the
// backward pass only, and the peak is the larger of the two moments.
MemoryItem gradient_item(const States& states, double each, double passing_lower) {
  MemoryItem item = exact("gradients", states.trained * each, states.words + " x " + plain_number(each) + " bytes");
  item.lower = std::max(0.0, item.bytes - passing_lower);
  item.origin =
      "arithmetic; kept through the step, as for accumulation over batches; lower where they are freed and come "
      "only as activations go";
  item.changes = "LoRA; freeing gradients as the optimizer takes them; sharding over more devices";
  item.check = "bytes of all gradients after the backward pass";
  return item;
}

bool has_logits(const ModelSpec& model) { return model.kind == ModelKind::decoder; }

}  // namespace

bool is_temporary(const std::string& name) { return name == activations_name || name == logits_name; }

// Where only a number of parameters is known, "7B" is anything from 6.5 to 7.7 billion, caches differ by how many query
// heads share a key (1 to 8), and activations with the width.
void widen_assumed(const ModelSpec& model, std::vector<MemoryItem>& items) {
  if (!model.assumed_shape) return;
  const double shared = real(model.heads) / real(std::max<std::int64_t>(1, model.kv_heads));
  for (MemoryItem& item : items) {
    const bool cache = item.name == "KV cache", passing = is_temporary(item.name);
    item.lower *= cache ? shared / 8 : passing ? 0.6 : 0.93;
    item.upper *= cache ? shared : passing ? 1.6 : 1.1;
    item.lower = std::min(item.lower, item.bytes);
    item.origin += "; of an assumed shape";
  }
}

MemoryBudget inference_items(const ModelSpec& model, const Workload& workload) {
  MemoryBudget budget;
  budget.moment =
      model.kind == ModelKind::decoder ? "while the prompt is read, its cache complete" : "during the forward pass";
  budget.items.push_back(weights_item(model, workload.weights));
  if (model.kind == ModelKind::decoder) budget.items.push_back(cache_item(model, workload));
  budget.items.push_back(prompt_item(model, workload));
  if (has_logits(model)) budget.items.push_back(last_logits_item(model, workload));
  widen_assumed(model, budget.items);
  return budget;
}

MemoryBudget training_items(const ModelSpec& model, const Workload& workload) {
  const States states = trained_states(model, workload);
  const MemoryItem saved = saved_item(model, workload);
  std::vector<MemoryItem> passing{saved};
  if (has_logits(model)) passing.push_back(loss_item(model, workload));
  double passing_lower = 0;
  for (const MemoryItem& item : passing) passing_lower += item.lower;

  MemoryBudget budget;
  budget.moment = "when the loss has been computed and the backward pass begins";
  budget.items.push_back(weights_item(model, workload.weights));
  if (workload.tuning == Tuning::lora) {
    budget.items.back().name = "frozen weights";
    budget.items.push_back(adapters_item(model, workload, states));
  }
  const double gradient = workload.tuning == Tuning::lora ? 4 : bytes_of(compute_format(workload.weights));
  budget.items.push_back(gradient_item(states, gradient, passing_lower));
  budget.items.push_back(optimizer_item(states, workload.optimizer));
  for (MemoryItem& item : passing) budget.items.push_back(std::move(item));
  widen_assumed(model, budget.items);
  return budget;
}

}  // namespace assay
