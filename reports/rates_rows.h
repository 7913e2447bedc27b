// Which rows of a run speak for an op.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/rates.h"

namespace assay {

struct RateRows {
  std::vector<Known> known;
  std::size_t planted = 0, unreadable = 0;
};
RateRows rate_rows(const std::vector<Run>& runs, const std::string& device);

// Whether a comma-separated list of conditions names one.
bool has_condition(const Row& row, const std::string& condition);

}  // namespace assay
