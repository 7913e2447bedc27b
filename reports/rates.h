// What an op costs here, and how we know: measured, interpolated, peak, published, or not judged.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/op.h"
#include "results/run.h"

namespace assay {

enum class Origin : std::uint8_t { measured, interpolated, peak, published, not_judged };
std::string text(Origin origin);

struct Price {
  std::optional<double> seconds;  // of one execution
  double lower = 0, upper = 0;    // widens with the distance from what was measured
  Origin origin = Origin::not_judged;
  std::string because;  // the rows it comes from, in words
};

// Reads `op` and `seconds` of ok rows of one device and recomputes rates by cost(op). Rows marked `planted` are
// refused.
class Rates {
 public:
  Rates(const std::vector<Run>& runs, const std::string& device);
  Price price(const Op& op) const;
  std::optional<double> peak_flops(Element element) const;  // best measured GEMM, else issue rate
  std::optional<double> memory_bandwidth() const;           // bytes a second, best plain DRAM-size stream

 private:
  struct Known {
    Op op;
    double seconds, lower, upper;
    std::string case_name;
  };
  std::vector<Known> known_;
};

}  // namespace assay
