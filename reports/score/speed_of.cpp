// What the columns of a row say about a speed, and the card that it was measured on.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cmath>
#include <regex>

#include "core/error.h"
#include "reports/card_rates.h"
#include "reports/score/case.h"

namespace assay::score {
namespace {

using predict::Computed;
using predict::Runtime;
using predict::SpeedSetting;
using predict::Stored;
using predict::Trained;
using predict::Use;
using Asked = SpeedCase::Asked;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

std::optional<double> number_in(const std::string& text, const char* pattern) {
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(pattern))) return std::nullopt;
  return std::stod(found[1]);
}

// "DGX-H100", "H100-96GB-HBM2e-500W", "A100": first as it stands, then less what no catalogue knows, then as the module
// that servers have.
const Gpu* card_named(const std::string& name) {
  std::string words = std::regex_replace(name, std::regex("DGX-|HBM[0-9a-z]*|[0-9]+W|[(].*[)]"), " ");
  std::replace(words.begin(), words.end(), '-', ' ');
  if (has(words, "SM100")) words = "B200";
  const std::string plain = std::regex_replace(words, std::regex("[0-9]+ ?GB"), " ");
  for (const std::string& spelling :
       {words, words + " SXM", plain, plain + " SXM", plain + " SXM 80GB", plain + " Blackwell Workstation"}) {
    try {
      return &find_gpu(spelling);
    } catch (const BadInput&) {  // the next spelling
    }
  }
  return nullptr;
}

std::optional<predict::CardRates> card_of(const std::string& name) {
  const Gpu* gpu = name.empty() ? nullptr : card_named(name);
  if (gpu == nullptr) return std::nullopt;
  auto card = card_rates(*gpu);
  const auto watts = number_in(name, "([0-9]+)W");
  if (card && watts && gpu->watts && *watts < *gpu->watts) card->sustained *= *watts / *gpu->watts;
  return card;
}

Runtime training_runtime(const Case& row, const std::string& technique, const std::string& layout) {
  if (has(technique, "c++")) return Runtime::native;
  if (has(row.note, "NeMo") || has(technique, "megatron")) return Runtime::megatron;
  if (has(technique, "compile") && !has(technique, "no compile")) return Runtime::compiled;
  const bool adapter = has(technique, "lora");
  if (has(layout, "zero3") || has(technique, "deepspeed") || (has(technique, "official script") && !adapter))
    return Runtime::deepspeed;
  if (adapter || has(technique, "ckpt full, eager")) return Runtime::trainer;
  return Runtime::eager;
}

Runtime serving_runtime(const std::string& technique) {
  if (has(technique, "vllm") || has(technique, "sglang") || has(technique, "tensorrt")) return Runtime::engine;
  if (has(technique, "llama.cpp")) return Runtime::llama_cpp;
  if (has(technique, "autoawq")) return Runtime::awq_fused;
  if (has(technique, "exllama")) return Runtime::exllama;
  if (has(technique, "litgpt")) return Runtime::litgpt;
  return Runtime::transformers;
}

Computed computed(const std::string& precision, const predict::CardRates& card) {
  if (has(precision, "nvfp4") && card.fp4) return Computed::fp4;
  if ((has(precision, "fp8") || has(precision, "float8")) && card.fp8) return Computed::fp8;
  const bool single = precision.starts_with("fp32") || precision.starts_with("tf32");
  if (single) return card.tf32 ? Computed::tf32 : Computed::fp32;  // what frameworks make of it by default
  return Computed::half;
}

std::optional<double> recomputed(const std::string& technique) {
  if (has(technique, "recompute all") || has(technique, "recompute ffn+norm+att")) return 1;
  if (has(technique, "recompute ffn")) return 0.85;
  if (has(technique, "recompute")) return 0.03;  // what passes element by element
  return std::nullopt;
}

// Experts follow from the parameters; how many a token meets is only known where the name says so ("-A3B").
std::string read_experts(SpeedSetting& setting, const Case& row) {
  const predict::Shape& model = setting.sizes.model;
  const double attention = (2 * model.heads + 2 * model.kv_heads) * model.head_size * model.hidden * model.layers;
  const double each = 3 * model.hidden * model.feed_forward * model.layers;
  const double count = each > 0 ? (model.matrices - attention) / each : 0;
  if (count < 4) return "";
  setting.expert_count = std::round(count);
  const auto active = number_in(row.model, "-A([0-9.]+)B");
  if (!active) return "it has experts, and how many a token meets is not stated";
  setting.active = std::min(model.matrices, *active * 1e9);
  return "";
}

void read_training(SpeedSetting& setting, const Case& row, const std::string& technique, const std::string& layout) {
  predict::Layout& spread = setting.sizes.layout;
  setting.runtime = training_runtime(row, technique, layout);
  setting.accumulation = number_in(row.note + " " + technique, "grad_accum=([0-9]+)").value_or(1);
  setting.recomputed = recomputed(technique);
  setting.optimizer_steps = !has(technique, "fwd+bwd") || has(technique, "adamw");
  setting.streams_weights = has(technique, "shard weights") || has(technique, "quants");
  setting.chunks = number_in(layout, "vp([0-9]+)").value_or(has(layout, "inter") ? 2 : 1);
  const double replicas = spread.cards / (spread.tensor * spread.pipeline * spread.context);
  if (const auto together = number_in(row.note, "GBS=([0-9]+)"))
    setting.in_flight = *together / std::max(1.0, replicas * setting.sizes.batch);
}

void read_serving(SpeedCase& speed, const Case& row, const std::string& technique) {
  SpeedSetting& setting = speed.setting;
  predict::Setting& sizes = setting.sizes;
  setting.runtime = serving_runtime(technique);
  setting.one_row_kernels = has(technique, "gemv");
  setting.flash = setting.runtime != Runtime::transformers || has(technique, "flash");
  setting.matrix_bytes = number_in(row.precision, "([0-9.]+) bpw");
  if (setting.matrix_bytes) *setting.matrix_bytes /= 8;
  if (setting.runtime == Runtime::engine && sizes.layout.tensor == 1) sizes.layout.tensor = sizes.layout.cards;
  const bool reading = has(row.unit, "prefill") || number_in(technique, "\\bpp([0-9]+)") || has(technique, "forward");
  if (has(technique, "forward")) sizes.prompt = row.length.value_or(0);
  if (reading) {
    speed.asked = Asked::prompt;
  } else if (has(row.unit, "prompt+generated")) {
    speed.asked = Asked::whole_request;
  } else if (sizes.prompt > 0 && sizes.generated > 0 && setting.runtime != Runtime::awq_fused) {
    speed.asked = Asked::request;
  } else {
    speed.asked = Asked::token;
    if (sizes.generated == 0) std::swap(sizes.generated, sizes.prompt);
  }
}

}  // namespace

std::variant<SpeedCase, std::string> speed_of(const Case& row) {
  if (!row.value || !(*row.value > 0)) return "its value is missing";
  const auto card = card_of(row.gpu);
  if (!card) return "its card, \"" + row.gpu + "\", is not in the catalogue";
  const auto sizes = sizes_of(row, false, Stored::half);
  if (const auto* reason = std::get_if<std::string>(&sizes)) return *reason;
  const std::string technique = lower(row.technique), layout = lower(row.parallelism);
  SpeedCase speed;
  speed.setting.sizes = std::get<predict::Setting>(sizes);
  speed.setting.card = *card;
  speed.measured = *row.value;
  if (std::string reason = read_experts(speed.setting, row); !reason.empty()) return reason;
  if (row.kind != "train") {
    read_serving(speed, row, technique);
    if (speed.asked == Asked::prompt && !(speed.setting.sizes.prompt > 0))
      return "the length of its prompt is not stated";
    return speed;
  }
  if (!(speed.setting.sizes.prompt > 0 && row.micro_batch)) return "its micro-batch or sequence is not stated";
  speed.setting.computed = computed(lower(row.precision), *card);
  read_training(speed.setting, row, technique, layout);
  if (!has(row.unit, "/gpu")) speed.cards = speed.setting.sizes.layout.cards;
  if (row.measured == "samples_per_s") speed.measured *= speed.setting.sizes.prompt;
  return speed;
}

double predicted_rate(const SpeedCase& speed) {
  const predict::Setting& sizes = speed.setting.sizes;
  if (speed.asked == Asked::training) return predict::training_time(speed.setting).tokens_per_second() * speed.cards;
  const predict::ServingTime time = predict::serving_time(speed.setting);
  const double whole = time.prompt + sizes.generated * time.token;
  switch (speed.asked) {
    case Asked::prompt:
      return sizes.batch * sizes.prompt / time.prompt;
    case Asked::request:
      return sizes.batch * sizes.generated / whole;
    case Asked::whole_request:
      return sizes.batch * (sizes.prompt + sizes.generated) / whole;
    case Asked::training:
    case Asked::token:
      break;
  }
  return sizes.batch / time.token;
}

}  // namespace assay::score
