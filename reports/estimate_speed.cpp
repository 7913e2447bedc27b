// The speed of a model on a card that nobody has measured.
// SPDX-License-Identifier: Apache-2.0
#include "reports/estimate_speed.h"

#include "reports/card_rates.h"

namespace assay {
namespace {

Span around(double middle, double half_width) { return {middle, middle * (1 - half_width), middle * (1 + half_width)}; }

// Inference is shared out by tensors; in training each card has a batch of its own, and states are fully sharded.
void spread(predict::SpeedSetting& setting, bool training, int cards) {
  predict::Layout& layout = setting.sizes.layout;
  if (layout.cards > 1) return;  // the workload says how
  layout.cards = cards;
  (training ? layout.shards : layout.tensor) = cards;
}

}  // namespace

SpeedEstimate estimate_speed(const Demand& demand, const Gpu& gpu, int cards) {
  SpeedEstimate result;
  const auto rates = card_rates(gpu);
  if (!rates || !demand.speed) return result;
  predict::SpeedSetting setting = *demand.speed;
  setting.card = *rates;
  spread(setting, demand.training(), cards);
  const double width = predict::speed_half_width(setting);
  if (demand.training()) {
    result.tokens_per_second =
        around(predict::training_time(setting).tokens_per_second() * setting.sizes.layout.cards, width);
    return result;
  }
  const double batch = setting.sizes.batch;
  const predict::ServingTime time = predict::serving_time(setting);
  result.first_token = around(time.prompt, width);
  result.bound = time.bound;
  result.tokens_per_second =
      around(demand.decodes() ? batch / time.token : batch * setting.sizes.prompt / time.prompt, width);
  return result;
}

}  // namespace assay
