// Matrix products on a processor: squares, layers of real models, decode shapes, and what layout and data change.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "bench/case_layers.h"
#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

namespace {

// D and the accumulator that go with inputs of this element, as training and inference use them.
Gemm product_of(Element element, std::int64_t m, std::int64_t n, std::int64_t k) {
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

std::vector<std::int64_t> square_sizes(ProfileKind profile) {
  if (profile == ProfileKind::quick) return {256, 512, 1024, 2048};
  return {256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096};
}

// Tokens in one pass: as many as people use, as far as there is time. The same for all layers of a model.
std::int64_t tokens_for(ProfileKind profile, const Layer& layer) {
  const bool small = std::string(layer.model) == "gpt2";
  if (profile == ProfileKind::quick) return small ? 512 : 128;
  return small ? 2048 : 512;
}

std::vector<Element> layer_formats(ProfileKind profile) {
  if (profile == ProfileKind::quick) return {Element::bf16};
  return {Element::bf16, Element::fp32};
}

// Filling two hundred million weights three times takes longer than multiplying them, and the largest products alone
// would take a tenth of a quick look.
bool too_large_for_quick(const DeviceInfo& device, ProfileKind profile, const Layer& layer, const Gemm& gemm) {
  if (profile != ProfileKind::quick) return false;
  return layer.inputs * layer.outputs > 50'000'000 || rough_seconds(device, gemm) > longest_execution(profile);
}

Gemm attention(Element element, std::int64_t heads, std::int64_t length, std::int64_t head_size, bool scores) {
  Gemm gemm = scores ? product_of(element, length, length, head_size) : product_of(element, length, head_size, length);
  gemm.batch = heads;
  gemm.transpose_b = scores;
  if (scores) gemm.alpha = head_size == 64 ? 0.125 : 0.0883883476483184405;  // 1 / sqrt(head size)
  return gemm;
}

}  // namespace

std::vector<Case> gemm_square_cases(const DeviceInfo& device, ProfileKind profile) {
  if (!is_processor(device)) return accelerator_square_cases(device, profile);
  std::vector<Case> cases;
  for (const Element element : {Element::fp32, Element::bf16, Element::int8, Element::fp64}) {
    for (const std::int64_t size : square_sizes(profile)) {
      const Gemm gemm = product_of(element, size, size, size);
      if (!fits(device, profile, gemm)) continue;
      Case item = gemm_case("square/" + std::to_string(size), gemm);
      if (size == 1024 || size == 2048) item.rank = 0;
      cases.push_back(item);
    }
  }
  // Asked once for what it rarely has: the answer is a reason, not a curve.
  for (const Element element : {Element::fp16, Element::fp8_e4m3}) {
    cases.push_back(gemm_case("square/1024", product_of(element, 1024, 1024, 1024)));
  }
  return cases;
}

std::vector<Case> gemm_layer_cases(const DeviceInfo& device, ProfileKind profile) {
  if (!is_processor(device)) return accelerator_layer_cases(device, profile);
  std::vector<Case> cases;
  for (const Element element : layer_formats(profile)) {
    for (const Layer& layer : layers) {
      if (layer.large) continue;
      const std::int64_t tokens = tokens_for(profile, layer);
      const Gemm gemm = product_of(element, tokens, layer.outputs, layer.inputs);
      if (bytes_of(gemm) > largest_set(device, profile) || too_large_for_quick(device, profile, layer, gemm)) continue;
      cases.push_back(gemm_case(fmt::format("{}/{}/{}", layer.model, layer.name, tokens), gemm));
    }
    for (const bool scores : {true, false}) {
      const Gemm gemm = attention(element, 12, 512, 64, scores);  // one sequence of 512 through GPT-2's 12 heads of 64
      if (!fits(device, profile, gemm)) continue;
      cases.push_back(gemm_case(std::string("gpt2/attention_") + (scores ? "scores" : "values") + "/512", gemm));
    }
  }
  return cases;
}

std::vector<Case> gemm_decode_cases(const DeviceInfo& device, ProfileKind profile) {
  if (!is_processor(device)) return accelerator_decode_cases(device, profile);
  std::vector<Case> cases;
  for (const Element element : {Element::bf16, Element::fp32}) {
    for (const std::int64_t rows : {1, 8, 32}) {
      if (profile == ProfileKind::quick && element == Element::fp32 && rows > 1) continue;
      const Gemm gemm = product_of(element, rows, 4096, 4096);
      Case item = gemm_case("decode/" + std::to_string(rows) + "x4096x4096", gemm);
      keep_cold(item, device, profile, bytes_of(gemm));
      if (rows == 1) item.rank = 0;
      cases.push_back(item);
    }
  }
  return cases;
}

std::vector<Case> gemm_variant_cases(const DeviceInfo& device, ProfileKind profile) {
  if (!is_processor(device)) return accelerator_variant_cases(device, profile);
  const Gemm plain = product_of(Element::fp32, 1024, 1024, 1024);
  const std::string square = "square/1024/";
  std::vector<Case> cases;
  const bool brief = profile == ProfileKind::quick;
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
