// Matrix products on an accelerator: squares, layers of real models, decoding, experts, and what else changes them.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "bench/case_formats.h"
#include "bench/case_layers.h"
#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

namespace {

using Names = std::vector<std::string>;

Case gemm_case(const ProductFormat& format, const std::string& name, const Gemm& gemm) {
  Case item = single_case("gemm/" + format.name + "/" + name, gemm, format.name);
  item.cache = "hot";
  item.variant = "default";
  item.phase = "burst";
  return item;
}

Case square_case(const ProductFormat& format, std::int64_t size) {
  return gemm_case(format, "square/" + std::to_string(size), product(format, size, size, size));
}

// The same product under another name, with what the caller changes about it.
Case variant_of(Case item, const std::string& name) {
  item.name += "/" + name;
  return item;
}

Case best_of(const Case& item) {
  Case best = variant_of(item, "best");
  best.preparation.algorithm = Algorithm::best;
  best.variant = "best";
  return best;
}

std::int64_t bytes_of(const Gemm& gemm) {
  const Cost total = cost(Op(gemm));
  return static_cast<std::int64_t>(total.bytes_read + total.bytes_written);
}

double rough_seconds(const DeviceInfo& device, const Gemm& gemm) {
  return cost(Op(gemm)).flops / rough_flops_per_second(device, gemm.a.element);
}

bool fits(const DeviceInfo& device, ProfileKind profile, const Gemm& gemm) {
  return bytes_of(gemm) <= largest_set(device, profile) && rough_seconds(device, gemm) <= longest_execution(profile);
}

bool is_usual(const DeviceInfo& device, const ProductFormat& format) {
  return format.name == usual_format(device).name;
}

// Those of these formats that the device may have, the usual one of this device first.
std::vector<ProductFormat> formats_of(const DeviceInfo& device, const Names& others) {
  std::vector<ProductFormat> formats = {usual_format(device)};
  for (const std::string& name : others) {
    const ProductFormat format = product_format(device, name);
    if (!known_missing(device, format) && !is_usual(device, format)) formats.push_back(format);
  }
  return formats;
}

// Double precision runs at a small part of the rate of the rest on most cards.
std::int64_t largest_square(const ProductFormat& format, ProfileKind profile) {
  if (format.name != "fp64") return 1 << 20;
  return profile == ProfileKind::quick ? 4096 : 8192;
}

std::vector<std::int64_t> square_sizes(const DeviceInfo& device, const ProductFormat& format, ProfileKind profile) {
  if (profile == ProfileKind::quick) {
    if (is_usual(device, format)) return {1024, 2048, 4096, 8192};
    return format.name == "fp64" ? std::vector<std::int64_t>{2048, 4096} : std::vector<std::int64_t>{2048, 8192};
  }
  return {256, 512, 1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384};
}

// The size whose rate stands for the format.
std::int64_t telling_size(const ProductFormat& format) { return format.name == "fp64" ? 4096 : 8192; }

// The sizes that runs are compared by.
bool is_headline(const DeviceInfo& device, const ProductFormat& format, std::int64_t size) {
  return size == telling_size(format) || (is_usual(device, format) && (size == 2048 || size == 4096));
}

// Where all algorithms are tried besides the default: about a hundred executions, which must not take seconds.
bool has_best(const DeviceInfo& device, const ProductFormat& format, std::int64_t size, ProfileKind profile) {
  const double longest = profile == ProfileKind::quick ? 0.02 : 0.05;
  if (rough_seconds(device, product(format, size, size, size)) > longest) return false;
  if (size == telling_size(format) || (is_usual(device, format) && size == 4096)) return true;
  return profile != ProfileKind::quick && (size == 1024 || size == 2048 || size == 4096);
}

// Those that most models are run in.
bool is_swept(const DeviceInfo& device, const ProductFormat& format) {
  return is_usual(device, format) || format.family == "fp8_e4m3";
}

// The others are asked for one number only, which tells what they are worth in a real layer.
std::vector<std::int64_t> tokens_of(const DeviceInfo& device, const ProductFormat& format, ProfileKind profile) {
  if (profile == ProfileKind::quick || !is_swept(device, format)) return {4096};
  return {1, 16, 128, 1024, 4096, 8192};
}

// Which models' layers are worth their time in this format.
bool takes(const DeviceInfo& device, const ProductFormat& format, const Layer& layer, ProfileKind profile) {
  const std::string model = layer.model;
  if (model == "gpt2")
    return is_usual(device, format);  // nobody runs it in less, and its vocabulary is no multiple of 16
  return !layer.large || profile == ProfileKind::full;
}

void add_layers(std::vector<Case>& cases, const ProductFormat& format, const DeviceInfo& device, ProfileKind profile) {
  for (const Layer& layer : layers) {
    if (!takes(device, format, layer, profile)) continue;
    const bool small = std::string(layer.model) == "gpt2";
    for (const std::int64_t tokens : tokens_of(device, format, profile)) {
      if (small && tokens < 1024) continue;  // cold copies of so little would be hundreds
      const Gemm gemm = product(format, tokens, layer.outputs, layer.inputs);
      if (!fits(device, profile, gemm)) continue;
      Case item = gemm_case(format, fmt::format("{}/{}/{}", layer.model, layer.name, tokens), gemm);
      // With few tokens a layer is a read of its weights, which come from memory in a real model.
      if (tokens <= 256) keep_cold(item, device, profile, bytes_of(gemm));
      const bool compared = tokens == 4096 && is_swept(device, format) && std::string(layer.model) == "llama-3-8b";
      if (!compared) measure_briefly(item, profile);
      cases.push_back(item);
    }
  }
}

Gemm attention(const ProductFormat& format, std::int64_t heads, std::int64_t length, std::int64_t head_size,
               bool scores) {
  Gemm gemm = scores ? product(format, length, length, head_size) : product(format, length, head_size, length);
  gemm.batch = heads;
  gemm.transpose_b = scores;
  if (scores) gemm.alpha = head_size == 64 ? 0.125 : 0.0883883476483184405;  // 1 / sqrt(head size)
  return gemm;
}

// The two products of attention done apart: one sequence through Llama-3-8B's 32 heads of 128.
void add_attention(std::vector<Case>& cases, const ProductFormat& format, const DeviceInfo& device,
                   ProfileKind profile) {
  for (const std::int64_t length : {512, 2048, 4096}) {
    if (length == 4096 && profile == ProfileKind::quick) continue;
    for (const bool scores : {true, false}) {
      const Gemm gemm = attention(format, 32, length, 128, scores);
      if (!fits(device, profile, gemm)) continue;
      const std::string name = std::string("attention_") + (scores ? "scores" : "values");
      cases.push_back(gemm_case(format, fmt::format("llama-3-8b/{}/{}", name, length), gemm));
      if (length != 2048) measure_briefly(cases.back(), profile);
    }
  }
}

// Experts of a mixture, each over the tokens that were sent to it: as one batch, every expert taking as many.
void add_experts(std::vector<Case>& cases, const ProductFormat& format, const DeviceInfo& device, ProfileKind profile) {
  for (const Experts& experts : expert_layers) {
    for (const std::int64_t tokens : {16, 128, 512}) {
      if (profile == ProfileKind::quick && (tokens != 128 || experts.count > 8)) continue;
      Gemm gemm = product(format, tokens, experts.outputs, experts.inputs);
      gemm.batch = experts.count;
      if (!fits(device, profile, gemm)) continue;
      cases.push_back(gemm_case(format, fmt::format("{}/{}/{}", experts.model, experts.name, tokens), gemm));
      measure_briefly(cases.back(), profile);
    }
  }
}

void add_data(std::vector<Case>& cases, const Case& square, ProfileKind profile) {
  for (const Pattern pattern : {Pattern::constant, Pattern::integer, Pattern::zero}) {
    if (profile == ProfileKind::quick && pattern == Pattern::zero) continue;
    cases.push_back(variant_of(square, text(pattern) + "_data"));
    cases.back().data = pattern;
    measure_briefly(cases.back(), profile);
  }
}

// Rows of D in steps of a tile, until the first wave of tiles is certainly full: rates climb in steps where tiles or
// waves are left partly empty. A tile of 128 x 256 results to a unit is the largest in use.
void add_steps(std::vector<Case>& cases, const DeviceInfo& device, ProfileKind profile) {
  if (profile == ProfileKind::quick) return;
  constexpr std::int64_t first = 1024;
  constexpr std::int64_t columns = 4096;
  constexpr std::int64_t most = 24;
  const std::int64_t step = profile == ProfileKind::full ? 64 : 128;
  const std::int64_t wave = std::max(device.compute_units.value_or(1), 1) * std::int64_t{128} * 256 / columns;
  const std::int64_t count = std::min((wave + step - 1) / step + 1, most);
  const ProductFormat format = usual_format(device);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t rows = first + i * step;
    const Gemm gemm = product(format, rows, columns, columns);
    if (!fits(device, profile, gemm)) continue;
    cases.push_back(gemm_case(format, fmt::format("steps/{}x4096x4096", rows), gemm));
    measure_briefly(cases.back(), profile);
  }
}

void add_sustained(std::vector<Case>& cases, const DeviceInfo& device, ProfileKind profile) {
  if (profile == ProfileKind::quick) return;
  for (const ProductFormat& format : formats_of(device, {"fp8_e4m3", "nvfp4"})) {
    const Case square = square_case(format, telling_size(format));
    if (!fits(device, profile, std::get<Gemm>(square.work.steps.front().op))) continue;
    cases.push_back(variant_of(square, "sustained"));
    sustain(cases.back(), profile);
  }
}

}  // namespace

std::vector<Case> accelerator_square_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  for (const ProductFormat& format : product_formats(device)) {
    if (known_missing(device, format)) {
      cases.push_back(square_case(format, 2048));
      continue;
    }
    for (const std::int64_t size : square_sizes(device, format, profile)) {
      Case item = square_case(format, size);
      if (size > largest_square(format, profile) || !fits(device, profile, product(format, size, size, size))) continue;
      if (size == telling_size(format) || (is_usual(device, format) && size == 2048)) item.rank = 0;
      const auto curve = is_swept(device, format) ? measure_briefly : measure_at_a_glance;
      if (!is_headline(device, format, size)) curve(item, profile);
      cases.push_back(item);
      if (!has_best(device, format, size, profile)) continue;
      cases.push_back(best_of(item));
      if (!is_usual(device, format)) cases.back().rank = 1;
      if (size != telling_size(format) || !is_swept(device, format)) curve(cases.back(), profile);
    }
  }
  return cases;
}

std::vector<Case> accelerator_layer_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  const Names brief = {"fp8_e4m3"};
  const Names all = {"fp8_e4m3", "nvfp4", "int8"};
  for (const ProductFormat& format : formats_of(device, profile == ProfileKind::quick ? brief : all)) {
    const bool usual = is_usual(device, format);
    const bool swept = is_swept(device, format);
    if (swept || profile == ProfileKind::full) add_layers(cases, format, device, profile);
    if (usual) add_attention(cases, format, device, profile);
    if (usual || (swept && profile != ProfileKind::quick)) add_experts(cases, format, device, profile);
  }
  return cases;
}

std::vector<Case> accelerator_decode_cases(const DeviceInfo& device, ProfileKind profile) {
  const bool quick = profile == ProfileKind::quick;
  const Names brief = {"fp8_e4m3", "fp16"};
  const Names all = {"fp8_e4m3", "fp16", "nvfp4", "mxfp8", "int8"};
  std::vector<Case> cases;
  for (const ProductFormat& format : formats_of(device, quick ? brief : all)) {
    const bool usual = is_usual(device, format);
    const bool telling = usual || (format.family == "fp8_e4m3" && !quick);
    for (const std::int64_t rows : {1, 2, 4, 8, 16, 32, 64, 128}) {
      if (rows != 1 && rows != 32 && !(telling && (rows == 8 || !quick))) continue;
      const Gemm gemm = product(format, rows, 4096, 4096);
      Case item = gemm_case(format, fmt::format("decode/{}x4096x4096", rows), gemm);
      keep_cold(item, device, profile, bytes_of(gemm));
      if (rows == 1 && usual) item.rank = 0;
      if ((rows != 1 && rows != 32) || !telling) measure_briefly(item, profile);
      cases.push_back(item);
      if ((rows != 1 && rows != 32) || !telling) continue;
      cases.push_back(best_of(item));
      cases.back().rank = 1;
      measure_briefly(cases.back(), profile);
    }
  }
  return cases;
}

std::vector<Case> accelerator_variant_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  const Names varied = profile == ProfileKind::quick ? Names{} : Names{"fp8_e4m3", "nvfp4"};
  for (const ProductFormat& format : formats_of(device, varied)) {
    const Case square = square_case(format, telling_size(format));
    if (fits(device, profile, std::get<Gemm>(square.work.steps.front().op))) add_data(cases, square, profile);
  }
  const ProductFormat usual = usual_format(device);
  for (const bool first : {true, false}) {
    Gemm gemm = product(usual, 4096, 4096, 4096);
    (first ? gemm.transpose_a : gemm.transpose_b) = true;
    cases.push_back(gemm_case(usual, std::string("square/4096/") + (first ? "transpose_a" : "transpose_b"), gemm));
    measure_briefly(cases.back(), profile);
  }
  cases.push_back(variant_of(square_case(usual, 4096), "cold"));
  keep_cold(cases.back(), device, profile, bytes_of(std::get<Gemm>(cases.back().work.steps.front().op)));
  measure_briefly(cases.back(), profile);
  add_steps(cases, device, profile);
  add_sustained(cases, device, profile);
  // A quick look has few of them and does without another worker; the longer ones leave them for the end.
  if (profile != ProfileKind::quick) {
    for (Case& item : cases) item.rank = 2;
  }
  return cases;
}

}  // namespace assay
