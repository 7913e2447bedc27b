// A workload in a small TOML file.
// SPDX-License-Identifier: Apache-2.0
#include "reports/workload_file.h"

#include <toml++/toml.h>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>

#include "core/error.h"
#include "core/nearest.h"

namespace assay {
namespace {

constexpr std::uintmax_t largest_file = 1U << 20U;

std::int64_t whole(const std::string& where, const std::string& text, std::int64_t least) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  constexpr std::int64_t most = std::int64_t{1} << 40U;
  if (failed != std::errc() || rest != end || number < least || number > most)
    throw BadInput(where + " must be a whole number of at least " + std::to_string(least) + ", not '" + text + "'");
  return number;
}

// "4096", "32k"
std::int64_t tokens(const std::string& where, const std::string& text) {
  const bool thousands = !text.empty() && (text.back() == 'k' || text.back() == 'K');
  return whole(where, thousands ? text.substr(0, text.size() - 1) : text, 1) * (thousands ? 1024 : 1);
}

template <class Value>
Value choice(const std::string& where, const std::string& text,
             const std::vector<std::pair<std::string, Value>>& choices) {
  std::string known;
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    known += (known.empty() ? "" : ", ") + name;
    names.push_back(name);
  }
  throw BadInput(where + " does not know '" + text + "'" + did_you_mean(text, names) + " (one of: " + known + ")");
}

Format number_format(const std::string& where, const std::string& text) {
  return choice<Format>(where, text,
                        {{"fp32", {Element::fp32, Scaling::none}},
                         {"bf16", {Element::bf16, Scaling::none}},
                         {"fp16", {Element::fp16, Scaling::none}},
                         {"fp8", {Element::fp8_e4m3, Scaling::tensor}},
                         {"int8", {Element::int8, Scaling::group128}},
                         {"fp4", {Element::fp4_e2m1, Scaling::block16_e4m3}}});
}

std::string place(const std::string& name, const toml::source_region& source, const std::string& field) {
  return name + ":" + std::to_string(source.begin.line) + ": " + field;
}

// Whole numbers, words and truths alone: nothing else is a workload's.
std::string word_of(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return std::to_string(number->get());
  throw BadInput(where + " must be a word or a whole number");
}

const WorkloadField& field_named(const std::string& where, const std::string& name) {
  std::vector<std::string> names;
  std::string known;
  for (const WorkloadField& field : workload_fields()) {
    if (field.name == name) return field;
    names.push_back(field.name);
    known += (known.empty() ? "" : ", ") + field.name;
  }
  throw BadInput(where + " is no field of a workload" + did_you_mean(name, names) + " (one of: " + known + ")");
}

}  // namespace

const std::vector<WorkloadField>& workload_fields() {
  static const std::vector<WorkloadField> all{
      {"purpose", "inference (the default) or training",
       [](Workload& w, const std::string& where, const std::string& text) {
         w.purpose = choice<Purpose>(where, text, {{"inference", Purpose::inference}, {"training", Purpose::training}});
       }},
      {"batch", "sequences at a time",
       [](Workload& w, const std::string& where, const std::string& text) { w.batch = whole(where, text, 1); }},
      {"context", "tokens a sequence, such as 4096 or 32k",
       [](Workload& w, const std::string& where, const std::string& text) { w.context = tokens(where, text); }},
      {"format", "format of the weights",
       [](Workload& w, const std::string& where, const std::string& text) { w.weights = number_format(where, text); }},
      {"kv", "format of the KV cache",
       [](Workload& w, const std::string& where, const std::string& text) { w.kv = number_format(where, text); }},
      {"lora", "train adapters of this rank only",
       [](Workload& w, const std::string& where, const std::string& text) {
         w.tuning = Tuning::lora;
         w.lora_rank = whole(where, text, 1);
       }},
      {"recompute", "activations computed again: none, selective or full",
       [](Workload& w, const std::string& where, const std::string& text) {
         w.recompute = choice<Recompute>(
             where, text, {{"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}});
       }},
      {"optimizer", "adamw, adamw8bit, sgd, adafactor or muon",
       [](Workload& w, const std::string& where, const std::string& text) {
         w.optimizer = choice<Optimizer>(where, text,
                                         {{"adamw", Optimizer::adamw},
                                          {"adamw8bit", Optimizer::adamw_8bit},
                                          {"sgd", Optimizer::sgd},
                                          {"adafactor", Optimizer::adafactor},
                                          {"muon", Optimizer::muon}});
       }},
      {"accumulation", "micro-batches a step of training",
       [](Workload& w, const std::string& where, const std::string& text) { w.accumulation = whole(where, text, 1); }},
      {"generated", "tokens made after the context, of each sequence",
       [](Workload& w, const std::string& where, const std::string& text) { w.generated = tokens(where, text); }},
      {"framework", "the program that runs it, such as vllm, transformers, llama_cpp, compiled, fsdp, deepspeed",
       [](Workload& w, const std::string& where, const std::string& text) {
         w.framework = choice<Framework>(where, text, framework_names());
       }},
      {"data", "groups of devices with batches of their own",
       [](Workload& w, const std::string& where, const std::string& text) { w.layout.data = whole(where, text, 1); }},
      {"zero", "what these share out: 1 optimizer, 2 gradients too, 3 weights too (FSDP)",
       [](Workload& w, const std::string& where, const std::string& text) {
         w.layout.zero_stage = choice<int>(where, text, {{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}});
       }},
      {"tensor", "devices that share every matrix",
       [](Workload& w, const std::string& where, const std::string& text) { w.layout.tensor = whole(where, text, 1); }},
      {"pipeline", "devices that share the layers",
       [](Workload& w, const std::string& where, const std::string& text) {
         w.layout.pipeline = whole(where, text, 1);
       }},
      {"context-parallel", "devices that share each sequence",
       [](Workload& w, const std::string& where, const std::string& text) {
         w.layout.context = whole(where, text, 1);
       }},
      {"expert-parallel", "devices of the data groups that share the experts",
       [](Workload& w, const std::string& where, const std::string& text) {
         w.layout.expert = whole(where, text, 1);
       }}};
  return all;
}

bool implies_training(const std::string& field) {
  return field == "lora" || field == "recompute" || field == "optimizer" || field == "accumulation" || field == "zero";
}

Workload parse_workload(std::string_view text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw BadInput(name + ":" + std::to_string(error.source().begin.line) + ": " + std::string(error.description()));
  }
  Workload workload = default_workload(Purpose::inference);
  std::string trains;  // the field that only training has
  bool said = false;
  for (const auto& [key, node] : table) {
    const std::string field(key.str());
    const std::string where = place(name, node.source(), field);
    field_named(where, field).set(workload, where, word_of(node, where));
    said = said || field == "purpose";
    if (implies_training(field)) trains = where;
  }
  if (trains.empty()) return workload;
  if (said && workload.purpose == Purpose::inference)
    throw BadInput(trains + " is a field of training, but purpose is inference");
  workload.purpose = Purpose::training;
  return workload;
}

Workload read_workload(const std::filesystem::path& file) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  if (failed) throw BadInput("--workload " + file.string() + ": " + failed.message());
  if (size > largest_file) throw BadInput("--workload " + file.string() + ": larger than 1 MiB");
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw BadInput("--workload " + file.string() + ": cannot be read");
  return parse_workload(text.str(), file.filename().string());
}

}  // namespace assay
