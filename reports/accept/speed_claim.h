// "H100 is 30x A100 at inference", held against runs of both.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reports/accept/claim.h"
#include "reports/accept/machine.h"

namespace assay {

struct SpeedAnswer {
  std::optional<double> ratio;  // the most that any op shows; none where the two do not share one
  std::string words;            // how it is known, or why not
};

// Over all ops that both measured alike (same op, data, cache): whole steps of a model are made of these, so no model
// can gain more than the op that gains most.
SpeedAnswer check_speed_claim(const SpeedClaim& claim, const std::vector<const Machine*>& machines);

}  // namespace assay
