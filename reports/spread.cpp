// A memory budget on the fullest of several devices.
// SPDX-License-Identifier: Apache-2.0
#include "reports/spread.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/memory_items.h"
#include "reports/phrase.h"
#include "reports/workload.h"

namespace assay {
namespace {

constexpr double gibi = 1024.0 * 1024 * 1024;

double real(std::int64_t value) { return static_cast<double>(value); }

// Over how many devices an item is shared, and in what words.
struct Share {
  double over = 1;
  std::string words;
};

void divide(Share& share, std::int64_t by, const std::string& what) {
  if (by <= 1) return;
  share.over *= real(by);
  share.words += fmt::format(" / {} ({})", by, what);
}

// Matrices of all experts, as a share of all parameters.
double expert_share(const ModelSpec& model) {
  if (!model.experts) return 0;
  double experts = 0;
  for (const ParameterItem& item : parameter_items(model))
    if (item.name.find("expert") != std::string::npos) experts += real(item.count);
  return experts / real(parameters(model));
}

Share share_of(const MemoryItem& item, const ModelSpec& model, const Workload& workload) {
  const Layout& layout = workload.layout;
  Share share;
  if (item.name == "KV cache") {
    divide(share, std::min(layout.tensor, std::max<std::int64_t>(1, model.kv_heads)), "tensor, by KV heads");
    divide(share, layout.pipeline, "pipeline");
    divide(share, layout.context, "context");
    return share;
  }
  if (is_temporary(item.name)) {  // the first stage of a pipeline holds as many micro-batches as there are stages
    divide(share, layout.tensor, "tensor");
    divide(share, layout.context, "context");
    return share;
  }
  divide(share, layout.tensor, "tensor");
  divide(share, layout.pipeline, "pipeline");
  if (layout.expert > 1 && model.experts) {
    const double experts = expert_share(model);
    const double left = 1 - experts + experts / real(layout.expert);
    share.over /= left;
    share.words += fmt::format(" x {:.3f} (experts over {})", left, layout.expert);
  }
  const bool weights = item.name == "weights" || item.name == "frozen weights";
  const int stage = weights ? 3 : item.name == "gradients" ? 2 : 1;
  if (workload.purpose == Purpose::training && layout.zero_stage >= stage)
    divide(share, layout.data * layout.context, "ZeRO " + std::to_string(layout.zero_stage));
  return share;
}

MemoryItem gathered(const ModelSpec& model, const Workload& workload) {
  const SplitParameters split = split_parameters(model);
  const double each = bits_per_number(workload.weights) / 8;
  const double parallel = real(workload.layout.tensor);
  const double layer = split.matrices / real(std::max<std::int64_t>(1, model.layers)) / parallel;
  MemoryItem item;
  item.name = "gathered weights";
  item.bytes = 2 * layer * each + split.rest / parallel * 2;
  item.lower = layer * each;
  item.upper = item.bytes * 1.2;
  item.formula = fmt::format("2 layers x {} numbers x {} bytes + {} others x 2 bytes", grouped(layer),
                             plain_number(each), grouped(split.rest / parallel));
  item.origin = "arithmetic; a layer and the one fetched meanwhile, embedding and head; lower where they are let go";
  item.changes = "smaller units of sharding";
  item.check = "allocated bytes during the forward pass, less shards and activations";
  return item;
}

MemoryItem collectives() {
  MemoryItem item;
  item.name = "collectives";
  item.bytes = 0.5 * gibi;
  item.lower = 0.1 * gibi;
  item.upper = 1.5 * gibi;
  item.formula = "buffers of the collective library, 0.1 to 1.5 GiB";
  item.origin = "assumed";
  item.changes = "fewer communicators and channels";
  item.check = "device memory after the first collective, less before it";
  return item;
}

}  // namespace

Workload shared_out(const Workload& workload, int cards) {
  Workload shared = workload;
  if (cards <= 1 || workload.layout.devices() > 1) return shared;
  if (workload.purpose == Purpose::inference) {
    shared.layout.tensor = cards;
  } else {
    shared.layout.data = cards;
    shared.layout.zero_stage = 3;
  }
  return shared;
}

std::vector<MemoryItem> spread(std::vector<MemoryItem> items, const ModelSpec& model, const Workload& workload) {
  const Layout& layout = workload.layout;
  if (layout.devices() <= 1) return items;
  for (MemoryItem& item : items) {
    const Share share = share_of(item, model, workload);
    if (share.words.empty()) continue;
    item.bytes /= share.over;
    item.lower /= share.over;
    item.upper /= share.over;
    item.formula = "(" + item.formula + ")" + share.words;
  }
  if (workload.purpose == Purpose::training && layout.zero_stage == 3 && model.kind != ModelKind::convolution)
    items.push_back(gathered(model, workload));
  items.push_back(collectives());
  return items;
}

std::string describe(const Layout& layout) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, std::int64_t size) {
    if (size > 1) parts.push_back(fmt::format("{} {}", name, size));
  };
  add("data", layout.data);
  if (layout.zero_stage > 0) parts.push_back(fmt::format("ZeRO {}", layout.zero_stage));
  add("tensor", layout.tensor);
  add("pipeline", layout.pipeline);
  add("context", layout.context);
  add("experts", layout.expert);
  return joined(parts);
}

}  // namespace assay
