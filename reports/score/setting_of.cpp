// What the columns of a row say, in the words that the tools of the field use.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <regex>

#include "reports/score/case.h"

namespace assay::score {
namespace {

using predict::Counter;
using predict::Saved;
using predict::Setting;
using predict::Stack;
using predict::Stored;
using predict::Trained;
using predict::Use;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

// The number behind a word: of "fsdp2 4, cp2" 4 behind "fsdp2?" and 2 behind "cp".
std::optional<double> number_behind(const std::string& text, const std::string& word) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(word + "[ =-]?([0-9]+)"))) return std::nullopt;
  return std::stod(found[1]);
}

std::optional<Stored> stored_of(const std::string& precision, const std::string& technique) {
  if (has(precision, "gguf")) {
    if (has(precision, "q4_k_m")) return Stored::gguf_q4_k_m;
    if (has(precision, "q4_0")) return Stored::gguf_q4_0;
    if (has(precision, "q8_0")) return Stored::gguf_q8_0;
    if (has(precision.substr(0, precision.find(',')), "f16")) return Stored::gguf_f16;
    return std::nullopt;
  }
  if (has(precision, "nf4-dq")) return Stored::nf4_double;
  if (has(precision, "nf4") || has(precision, "4-bit base")) return Stored::nf4;
  if (has(technique, "qlora")) return has(technique, "gptq") ? Stored::int4_groups : Stored::nf4;
  if (has(precision, "4-bit")) return Stored::int4_groups;
  if (has(precision, "int8")) return Stored::int8_groups;
  if (has(precision, "int4")) return has(precision, "awq") ? Stored::int4_awq : Stored::int4_groups;
  const bool half = has(precision, "bf16") || has(precision, "fp16") || has(precision, "float8 linear");
  if (half) return Stored::half;
  if (has(precision, "fp8")) return Stored::fp8_blocks;
  if (has(precision, "fp32") || has(precision, "tf32")) return Stored::fp32;
  return std::nullopt;
}

Stack inference_stack(const std::string& technique, const std::string& precision) {
  if (has(precision, "gguf") || has(technique, "llama.cpp")) return Stack::llama_cpp;
  if (has(technique, "vllm") || has(technique, "tensorrt")) return Stack::vllm;
  if (has(technique, "autoawq")) return Stack::awq_fused;
  if (has(technique, "litgpt")) return Stack::litgpt;
  return Stack::transformers;
}

// A trainer's own settings follow from its name, as its users take them.
void read_training(Setting& setting, const Case& row, const std::string& technique, const std::string& layout) {
  setting.use = Use::training;
  const bool adapter = has(technique, "lora") || technique.rfind("adapter", 0) == 0;
  setting.trained = adapter ? Trained::adapter : Trained::everything;
  setting.tables_trained = adapter && has(technique, "embedding");
  setting.rank = number_behind(technique, "\\br");
  setting.adapter_parameters = number_behind(technique, "trainable");
  const bool script = has(technique, "official script");  // its adapters are on every matrix, rank 64
  if (script && !setting.rank) setting.rank = 64;
  const bool packed = has(technique, "packed");
  setting.scaled_outputs = has(technique, "adapter_v2");
  if (has(technique, "unsloth ("))
    setting.stack = Stack::unsloth;
  else if (has(row.note, "Max GPU RAM"))
    setting.stack = Stack::litgpt;
  else if (has(layout, "zero") || has(technique, "deepspeed") || (script && !adapter))
    setting.stack = Stack::deepspeed;
  else if (packed)
    setting.stack = Stack::torchtune;
  else if (has(layout, "fsdp") || has(layout, "cp") || has(layout, "tp"))
    setting.stack = Stack::fsdp;
  else
    setting.stack = adapter ? Stack::trainer : Stack::plain;
  // Preparing a quantised model for training switches the saving of layer inputs on.
  if (has(technique, "ckpt full") || has(technique, "grad checkpoint") || packed || has(technique, "qlora"))
    setting.saved = Saved::layer_inputs;
  else if (has(technique, "selective"))
    setting.saved = Saved::products;
  setting.states_on_host = has(technique, "cpu offload");
  setting.fused_loss = has(technique, "cut cross entropy");
  setting.chunked_loss = packed;
  setting.small_card = has(row.gpu, "24GB");
  setting.prompt = row.length.value_or(0);
}

void read_layout(Setting& setting, const Case& row, const std::string& layout) {
  setting.layout.cards = row.cards.value_or(1);
  setting.layout.tensor = number_behind(layout, "tp").value_or(1);
  setting.layout.pipeline = number_behind(layout, "pp").value_or(1);
  setting.layout.context = number_behind(layout, "cp").value_or(1);
  setting.layout.zero_stage = static_cast<int>(number_behind(layout, "zero").value_or(0));
  double shards = 1;
  if (has(layout, "fsdp")) shards = number_behind(layout, "fsdp2?").value_or(setting.layout.cards);
  if (setting.layout.zero_stage > 0) shards = setting.layout.cards;
  setting.layout.shards = shards * setting.layout.context;  // a context's cards share the states too
}

std::optional<Counter> counter_of(const Case& row) {
  const bool says_peak = has(row.note, "max_memory") || has(row.note, "peak");
  if (row.measured == "weights") return Counter::weights;
  if (row.measured == "kv_cache") return Counter::kv_cache;
  if (row.measured == "activation") return Counter::activation;
  if (row.measured == "peak_reserved") return Counter::reserved;
  if (row.measured == "device_used") return Counter::device;
  if (row.measured != "peak_alloc") return std::nullopt;
  // A reading of a served model whose counter is not named is what it takes when it is done.
  const bool named = row.kind == "train" || says_peak || has(lower(row.technique), "autoawq");
  return named ? Counter::allocated_peak : Counter::allocated_after;
}

}  // namespace

std::variant<Setting, std::string> setting_of(const Case& row) {
  if (!row.has_architecture()) return "its architecture is not stated";
  const auto counter = counter_of(row);
  if (!counter) return "it measures \"" + row.measured + "\", which is no memory";
  if (!bytes_of(row)) return "its unit, \"" + row.unit + "\", is none of memory";
  auto sizes = sizes_of(row, *counter == Counter::kv_cache, std::nullopt);
  if (auto* setting = std::get_if<Setting>(&sizes)) setting->counter = *counter;
  return sizes;
}

std::variant<Setting, std::string> sizes_of(const Case& row, bool cache_alone, std::optional<Stored> otherwise) {
  if (!row.has_architecture()) return "its architecture is not stated";
  const auto shape =
      predict::shape_from_figures(row.parameters.value_or(0), *row.layers, *row.hidden, *row.heads,
                                  row.kv_heads.value_or(0), row.feed_forward.value_or(0), row.vocabulary.value_or(0));
  if (!shape) return "its architecture is not whole";
  if (shape->matrices <= 0 && !cache_alone) return "parameters, feed-forward or vocabulary are not stated";
  const std::string precision = lower(row.precision), technique = lower(row.technique), layout = lower(row.parallelism);
  auto stored = stored_of(precision, technique);
  if (!stored) stored = otherwise;
  if (!stored) return "its weights, \"" + row.precision + "\", are not known";
  Setting setting;
  setting.model = *shape;
  setting.model.encoder = has(lower(row.model), "bert");
  setting.stored = *stored;
  setting.batch = row.micro_batch.value_or(1);
  read_layout(setting, row, layout);
  if (row.kind == "train") {
    read_training(setting, row, technique, layout);
    setting.all_cards = has(row.note, "sum over");
    return setting;
  }
  setting.stack = inference_stack(technique, precision);
  setting.all_cards = has(row.note, "summed") || has(row.note, "sum over");
  setting.cache_bytes = has(technique, "int8 kv") ? 1 : 2;
  setting.prompt = row.context.value_or(0);
  setting.generated = row.length.value_or(0);
  if (setting.stack == Stack::awq_fused) {  // there both are given, and the context holds them together
    setting.prompt = row.length.value_or(0);
    setting.generated = std::max(row.context.value_or(0) - setting.prompt, 0.0);
  }
  return setting;
}

}  // namespace assay::score
