// A card of the catalogue as predictions of speed see it.
// SPDX-License-Identifier: Apache-2.0
#include "reports/card_rates.h"

#include <map>

#include "reports/embedded.h"

namespace assay {
namespace {

const std::map<std::string, Sustained>& measured_shares() {
  static const std::map<std::string, Sustained> all = [] {
    std::map<std::string, Sustained> shares;
    for (const EmbeddedRow& row : read_embedded(sustained_csv(), "reports/sustained.csv")) {
      const auto share = row.number("share");
      if (!share) row.refuse("share", "must not be empty");
      row.required("source");
      shares[row.required("name")] = {*share, row.required("what")};
    }
    return shares;
  }();
  return all;
}

predict::Generation generation(const Gpu& gpu) {
  if (gpu.architecture == "Hopper") return predict::Generation::hopper;
  if (gpu.architecture.starts_with("Blackwell")) return predict::Generation::blackwell;
  if (gpu.architecture == "Ampere" || gpu.architecture == "Ada") return predict::Generation::ampere;
  return predict::Generation::older;
}

// NVIDIA's racks of 72 are one link; other machines hold eight cards.
double linked(const Gpu& gpu) { return gpu.name.starts_with("GB") ? 72 : 8; }

}  // namespace

Sustained sustained(const Gpu& gpu) {
  const auto found = measured_shares().find(gpu.name);
  if (found != measured_shares().end()) return found->second;
  return {0.8, "assumed: nobody's measurement of this card is at hand, others keep 0.54 to 0.94"};
}

std::optional<predict::CardRates> card_rates(const Gpu& gpu) {
  const auto half = gpu.bf16 ? gpu.bf16 : gpu.fp16;
  if (!half || !gpu.bandwidth) return std::nullopt;
  predict::CardRates card;
  card.generation = generation(gpu);
  card.year = gpu.year.value_or(2020);
  card.bandwidth = *gpu.bandwidth;
  card.half = *half;
  card.fp32 = gpu.fp32.value_or(*half / 8);
  card.tf32 = gpu.tf32;
  card.fp8 = gpu.fp8;
  card.fp4 = gpu.fp4;
  card.half_accumulate = gpu.fp16_accumulate.value_or(*half);
  card.units = gpu.units.value_or(0);
  card.hertz = gpu.boost_hertz.value_or(0);
  card.sustained = sustained(gpu).share;
  card.link = gpu.link_bandwidth.value_or(0);
  card.host_link = gpu.host_bandwidth.value_or(16e9);
  card.linked = linked(gpu);
  return card;
}

}  // namespace assay
