// The speed of a model on a card that nobody has measured.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "reports/estimate.h"

namespace assay {

struct SpeedEstimate {
  std::optional<Span> tokens_per_second;  // decode of all sequences; training; or one pass where nothing is decoded
  std::optional<Span> first_token;        // seconds; inference alone
  std::string bound;                      // what a token waits for: "memory bandwidth", "starting kernels"
};
// By docs/prediction.md: of the program that the workload names, of serving engines where it names none.
SpeedEstimate estimate_speed(const Demand& demand, const Gpu& gpu, int cards);

}  // namespace assay
