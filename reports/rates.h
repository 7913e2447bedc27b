// What an op costs here, and how we know: measured, interpolated, peak, published, or not judged.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
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

// One op and what it took: the median over repetitions of the row that speaks for it.
struct Known {
  Op op;
  Cost cost;  // flops as the back end counted them, where it did
  double seconds = 0, lower = 0, upper = 0;
  std::string case_name;
  std::string cache;
};

// Reads `op` and `seconds` of ok rows of one device and recomputes rates by cost(op). Rows marked `planted` are
// refused. Of several rows for one op the typical data and the default algorithm count, cold before hot.
class Rates {
 public:
  Rates(const std::vector<Run>& runs, const std::string& device);
  Price price(const Op& op) const;
  std::optional<double> peak_flops(Element element) const;  // best measured GEMM, else issue rate
  std::optional<double> memory_bandwidth() const;           // bytes a second, best plain DRAM-size stream

  // Bytes a second of the best plain stream over about so many bytes: of those that write too, or of all.
  std::optional<double> bandwidth_at(double working_set, bool reads_only = false) const;

  // Seconds that starting any op takes: the least measured launch; 0 where none was measured.
  double launch() const;

  const std::vector<Known>& known() const { return known_; }
  std::size_t planted() const { return planted_; }        // rows refused
  std::size_t unreadable() const { return unreadable_; }  // rows whose op this version does not know

 private:
  std::optional<Price> same(const Op& op) const;
  Price price_product(const Gemm& op) const;
  Price price_stream(const Op& op) const;
  std::optional<double> roofline(const Gemm& op) const;  // seconds by the measured peaks

  std::vector<Known> known_;
  std::map<double, double> mixed_, reads_;  // bandwidth by working set
  std::size_t planted_ = 0, unreadable_ = 0;
};

}  // namespace assay
