// The speed of a model on a card that nobody has measured.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "reports/estimate.h"

namespace assay {

struct SpeedEstimate {
  std::optional<Span> tokens_per_second;  // decode of all sequences; training; or one pass where nothing is decoded
  std::optional<Span> first_token;        // seconds; inference alone
};
// Op by op the slower of arithmetic and memory, at the shares of published peaks that published benchmarks reach.
SpeedEstimate estimate_speed(const Demand& demand, const Gpu& gpu, int cards);

}  // namespace assay
