// Element and row operations between the products of a model, on tensors beyond the caches: they live on bandwidth.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/case_sizes.h"
#include "bench/cases.h"

namespace assay {

namespace {

constexpr std::int64_t columns = 4096;      // the hidden size of 7 to 8 billion parameter models
constexpr std::int64_t vocabulary = 32768;  // between Llama-2's 32,000 and GPT-2's 50,257; a round number of lines

// Makes ops whose operands take about `bytes` together.
class OpsOfSize {
 public:
  OpsOfSize(Format format, std::int64_t bytes) : format_(format), bytes_(bytes), width_(bits(format.element) / 8) {}

  Op pointwise(PointwiseKind kind) const {
    Pointwise op;
    op.kind = kind;
    op.format = format_;
    const bool gated = kind == PointwiseKind::swiglu || kind == PointwiseKind::swiglu_backward;
    op.rows = gated ? rows_of(kind == PointwiseKind::swiglu ? 3 * columns : 5 * columns) : 1;
    op.columns = gated ? columns : elements_for(kind == PointwiseKind::gelu ? 2 : 3);
    return op;
  }

  Op softmax(Direction direction) const {
    Softmax op;
    op.direction = direction;
    op.rows = rows_of((direction == Direction::forward ? 2 : 3) * columns);
    op.columns = columns;
    op.format = format_;
    return op;
  }

  Op norm(NormKind kind, Direction direction) const {
    Norm op;
    op.kind = kind;
    op.direction = direction;
    op.rows = rows_of((direction == Direction::forward ? 2 : 3) * columns);
    op.columns = columns;
    op.format = format_;
    return op;
  }

  Op cross_entropy() const {
    CrossEntropy op;
    op.rows = rows_of(2 * vocabulary);
    op.columns = vocabulary;
    op.format = format_;
    return op;
  }

  // Master and two moments in fp32, the gradient, and the weight where it is another number than the master.
  Op adamw() const {
    AdamW op;
    op.weight = op.gradient = format_;
    op.count = bytes_ / (12 + (format_.element == Element::fp32 ? 4 : 2 * width_));
    return op;
  }

  Op cast(Element to) const {
    Cast op;
    op.from = format_;
    op.to = Format{to, Scaling::none};
    op.count = bytes_ / (width_ + bits(to) / 8);
    return op;
  }

 private:
  std::int64_t elements_for(std::int64_t arrays) const { return std::max<std::int64_t>(bytes_ / (arrays * width_), 1); }
  std::int64_t rows_of(std::int64_t elements) const { return std::max<std::int64_t>(bytes_ / (elements * width_), 1); }

  Format format_;
  std::int64_t bytes_;
  std::int64_t width_;
};

struct Named {
  std::string name;
  Op op;
};

// What a quick look needs to price the rest of a model with.
std::vector<Named> essential(const OpsOfSize& make, Element element) {
  const Element other = element == Element::bf16 ? Element::fp32 : Element::bf16;
  return {{"adamw", make.adamw()},
          {"rmsnorm", make.norm(NormKind::rms, Direction::forward)},
          {"softmax", make.softmax(Direction::forward)},
          {"gelu", make.pointwise(PointwiseKind::gelu)},
          {"cross_entropy", make.cross_entropy()},
          {"cast_to_" + text(other), make.cast(other)}};
}

std::vector<Named> further(const OpsOfSize& make) {
  return {{"swiglu", make.pointwise(PointwiseKind::swiglu)},
          {"residual_add", make.pointwise(PointwiseKind::add)},
          {"layernorm", make.norm(NormKind::layer, Direction::forward)},
          {"gelu_backward", make.pointwise(PointwiseKind::gelu_backward)},
          {"swiglu_backward", make.pointwise(PointwiseKind::swiglu_backward)},
          {"softmax_backward", make.softmax(Direction::backward)},
          {"rmsnorm_backward", make.norm(NormKind::rms, Direction::backward)},
          {"layernorm_backward", make.norm(NormKind::layer, Direction::backward)}};
}

}  // namespace

std::vector<Case> row_op_cases(const DeviceInfo& device, ProfileKind profile) {
  const bool brief = profile == ProfileKind::quick && is_processor(device);
  DramSet set = dram_set(device, profile);
  if (brief) set.bytes = std::min<std::int64_t>(set.bytes, 256 << 20);  // filling takes longer than measuring
  const bool far = set.far && set.bytes >= 4 * last_cache_bytes(device);
  const bool one_format = brief || (profile == ProfileKind::quick && !is_processor(device));
  const std::vector<Element> formats =
      one_format ? std::vector<Element>{Element::bf16} : std::vector<Element>{Element::bf16, Element::fp32};
  std::vector<Case> cases;
  for (const Element element : formats) {
    const OpsOfSize make(Format{element, Scaling::none}, set.bytes);
    std::vector<Named> ops = essential(make, element);
    if (!brief) {
      for (Named& named : further(make)) ops.push_back(std::move(named));
    }
    for (const Named& named : ops) {
      Case item = single_case("memory/" + named.name + "/" + text(element) + "/dram", named.op, text(element));
      item.cache = "cold";
      if (!far) item.conditions.push_back("near_cache");
      if (!is_processor(device)) measure_briefly(item, profile);
      cases.push_back(item);
    }
  }
  return cases;
}

}  // namespace assay
