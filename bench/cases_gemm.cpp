// Matrix products: squares, layers of real models, decode shapes, and what layout, data and caches change.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

namespace {

// D, the accumulator and the layout that go with inputs of this element, as training and inference use them. Matrix
// units of GPUs read elements of 8 bits along K alone, and weights are stored for that: B is [n, k].
Gemm product(const DeviceInfo& device, Element element, std::int64_t m, std::int64_t n, std::int64_t k) {
  Gemm gemm;
  gemm.m = m;
  gemm.n = n;
  gemm.k = k;
  gemm.a = gemm.b = Format{element, Scaling::none};
  gemm.d = gemm.a;
  if (element == Element::fp64) gemm.accumulate = Element::fp64;
  if (element == Element::tf32) gemm.d.element = Element::fp32;
  if (element == Element::int8) gemm.accumulate = gemm.d.element = Element::int32;
  if (bits(element) == 8 && element != Element::int8) {
    gemm.a.scaling = gemm.b.scaling = Scaling::tensor;
    gemm.d.element = Element::bf16;
  }
  if (bits(element) == 8 && !is_processor(device)) gemm.transpose_b = true;
  return gemm;
}

Case gemm_case(const std::string& name, const Gemm& gemm) {
  Case item = single_case("gemm/" + text(gemm.a.element) + "/" + name, gemm, text(gemm.a.element));
  item.cache = "hot";
  item.variant = "default";
  return item;
}

double rough_seconds(const DeviceInfo& device, const Gemm& gemm) {
  return cost(Op(gemm)).flops / rough_flops_per_second(device, gemm.a.element);
}

std::int64_t bytes_of(const Gemm& gemm) {
  const Cost total = cost(Op(gemm));
  return static_cast<std::int64_t>(total.bytes_read + total.bytes_written);
}

bool fits(const DeviceInfo& device, ProfileKind profile, const Gemm& gemm) {
  return bytes_of(gemm) <= largest_set(device, profile) && rough_seconds(device, gemm) <= longest_execution(profile);
}

// Formats to sweep. A processor is asked once for those it rarely has: the answer is a reason, not a curve.
std::vector<Element> swept(const DeviceInfo& device) {
  if (is_processor(device)) return {Element::fp32, Element::bf16, Element::int8, Element::fp64};
  return {Element::bf16, Element::fp32, Element::fp8_e4m3, Element::fp16, Element::tf32, Element::int8, Element::fp64};
}

std::vector<std::int64_t> square_sizes(const DeviceInfo& device, ProfileKind profile) {
  if (is_processor(device)) {
    if (profile == ProfileKind::quick) return {256, 512, 1024, 2048};
    return {256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096};
  }
  if (profile == ProfileKind::quick) return {1024, 2048, 4096, 8192};
  return {256, 512, 1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384};
}

struct Layer {
  const char* model;
  const char* name;
  std::int64_t inputs;   // k
  std::int64_t outputs;  // n
};

// Shapes from the models' own configurations: GPT-2 (hidden 768, feed-forward 3072, vocabulary 50257) and Llama-3-8B
// (hidden 4096, 32 query and 8 key-value heads of 128, feed-forward 14336). Queries, keys and values, and gate and up,
// are one product each.
constexpr std::array<Layer, 9> layers = {{
    {"gpt2", "qkv", 768, 2304},
    {"gpt2", "out", 768, 768},
    {"gpt2", "up", 768, 3072},
    {"gpt2", "down", 3072, 768},
    {"gpt2", "head", 768, 50257},
    {"llama-3-8b", "qkv", 4096, 6144},
    {"llama-3-8b", "out", 4096, 4096},
    {"llama-3-8b", "gate_up", 4096, 28672},
    {"llama-3-8b", "down", 14336, 4096},
}};

// Tokens in one pass: as many as people use, as far as there is time. The same for all layers of a model.
std::int64_t tokens_for(const DeviceInfo& device, ProfileKind profile, const Layer& layer) {
  const bool small = std::string(layer.model) == "gpt2";
  if (!is_processor(device)) return profile == ProfileKind::quick ? 4096 : 8192;
  if (profile == ProfileKind::quick) return small ? 512 : 128;
  return small ? 2048 : 512;
}

std::vector<Element> layer_formats(const DeviceInfo& device, ProfileKind profile) {
  if (!is_processor(device)) return {Element::bf16, Element::fp8_e4m3};
  if (profile == ProfileKind::quick) return {Element::bf16};
  return {Element::bf16, Element::fp32};
}

// On a processor, filling two hundred million weights three times takes longer than multiplying them, and the largest
// products alone would take a tenth of a quick look.
bool too_large_for_quick(const DeviceInfo& device, ProfileKind profile, const Layer& layer, const Gemm& gemm) {
  if (!is_processor(device) || profile != ProfileKind::quick) return false;
  return layer.inputs * layer.outputs > 50'000'000 || rough_seconds(device, gemm) > longest_execution(profile);
}

void keep_cold(Case& item, const DeviceInfo& device, ProfileKind profile, std::int64_t bytes) {
  const Copies copies = cold_copies(device, profile, bytes);
  item.preparation.operand_copies = copies.count;
  item.cache = "cold";
  if (!copies.far) item.conditions.push_back("near_cache");
}

Gemm attention(const DeviceInfo& device, Element element, std::int64_t heads, std::int64_t length,
               std::int64_t head_size, bool scores) {
  Gemm gemm = scores ? product(device, element, length, length, head_size)
                     : product(device, element, length, head_size, length);
  gemm.batch = heads;
  gemm.transpose_b = scores;
  if (scores) gemm.alpha = head_size == 64 ? 0.125 : 0.0883883476483184405;  // 1 / sqrt(head size)
  return gemm;
}

}  // namespace

std::vector<Case> gemm_square_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  for (const Element element : swept(device)) {
    for (const std::int64_t size : square_sizes(device, profile)) {
      const Gemm gemm = product(device, element, size, size, size);
      if (!fits(device, profile, gemm)) continue;
      Case item = gemm_case("square/" + std::to_string(size), gemm);
      if (size == 1024 || size == 2048 || size == 8192) item.rank = 0;
      cases.push_back(item);
    }
  }
  if (is_processor(device)) {
    for (const Element element : {Element::fp16, Element::fp8_e4m3}) {
      cases.push_back(gemm_case("square/1024", product(device, element, 1024, 1024, 1024)));
    }
  }
  return cases;
}

std::vector<Case> gemm_layer_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  for (const Element element : layer_formats(device, profile)) {
    for (const Layer& layer : layers) {
      const std::int64_t tokens = tokens_for(device, profile, layer);
      const Gemm gemm = product(device, element, tokens, layer.outputs, layer.inputs);
      if (bytes_of(gemm) > largest_set(device, profile) || too_large_for_quick(device, profile, layer, gemm)) continue;
      cases.push_back(gemm_case(fmt::format("{}/{}/{}", layer.model, layer.name, tokens), gemm));
    }
    for (const bool scores : {true, false}) {
      // One sequence of 512 through 12 heads of 64 (GPT-2), or 32 heads of 128 (Llama-3-8B) where there is time.
      const bool small = is_processor(device);
      const Gemm gemm = attention(device, element, small ? 12 : 32, 512, small ? 64 : 128, scores);
      if (bits(element) < 16 || !fits(device, profile, gemm)) continue;
      cases.push_back(gemm_case(
          std::string(small ? "gpt2" : "llama-3-8b") + "/attention_" + (scores ? "scores" : "values") + "/512", gemm));
    }
  }
  return cases;
}

std::vector<Case> gemm_decode_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  const std::vector<Element> formats = is_processor(device)
                                           ? std::vector<Element>{Element::bf16, Element::fp32}
                                           : std::vector<Element>{Element::bf16, Element::fp16, Element::fp8_e4m3};
  for (const Element element : formats) {
    for (const std::int64_t rows : {1, 8, 32}) {
      if (profile == ProfileKind::quick && is_processor(device) && element == Element::fp32 && rows > 1) continue;
      const Gemm gemm = product(device, element, rows, 4096, 4096);
      Case item = gemm_case("decode/" + std::to_string(rows) + "x4096x4096", gemm);
      keep_cold(item, device, profile, bytes_of(gemm));
      if (rows == 1) item.rank = 0;
      cases.push_back(item);
    }
  }
  return cases;
}

std::vector<Case> gemm_variant_cases(const DeviceInfo& device, ProfileKind profile) {
  const std::int64_t size = is_processor(device) ? 1024 : 4096;
  const Element element = is_processor(device) ? Element::fp32 : Element::bf16;
  const std::string square = "square/" + std::to_string(size) + "/";
  const Gemm plain = product(device, element, size, size, size);
  std::vector<Case> cases;
  const bool brief = is_processor(device) && profile == ProfileKind::quick;
  for (const Pattern pattern : {Pattern::constant, Pattern::zero, Pattern::integer}) {
    if (brief && pattern != Pattern::constant) continue;
    Case item = gemm_case(square + text(pattern) + "_data", plain);
    item.data = pattern;
    cases.push_back(item);
  }
  for (const bool first : {true, false}) {
    if (brief && first) continue;
    Gemm gemm = plain;
    (first ? gemm.transpose_a : gemm.transpose_b) = true;
    cases.push_back(gemm_case(square + (first ? "transpose_a" : "transpose_b"), gemm));
  }
  if (!brief) {
    cases.push_back(gemm_case(square + "cold", plain));
    keep_cold(cases.back(), device, profile, bytes_of(plain));
  }
  Case best = gemm_case(square + "best", plain);
  best.preparation.algorithm = Algorithm::best;
  best.variant = "best";
  cases.push_back(best);
  for (Case& item : cases) item.rank = 2;
  return cases;
}

}  // namespace assay
