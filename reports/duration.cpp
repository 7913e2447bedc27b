// How long a model's work takes here.
// SPDX-License-Identifier: Apache-2.0
#include "reports/duration.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "reports/phrase.h"

namespace assay {
namespace {

PartTime& part_of(std::vector<PartTime>& parts, const std::string& name) {
  for (PartTime& part : parts)
    if (part.part == name) return part;
  parts.push_back({});
  parts.back().part = name;
  return parts.back();
}

Price price_of(const PartOp& op, const Rates& rates) {
  try {
    return rates.price(op.op);
  } catch (const Error& error) {  // sizes beyond 63 bits
    return {{}, 0, 0, Origin::not_judged, error.what()};
  }
}

double flops_of(const PartOp& op) {
  try {
    return cost(op.op).flops * op.count;
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

Duration duration(const std::vector<PartOp>& ops, const Rates& rates) {
  Duration total;
  std::map<std::string, double> longest;
  for (const PartOp& op : ops) {
    const double flops = flops_of(op);
    total.flops += flops;
    const Price price = price_of(op, rates);
    if (!price.seconds) {
      total.unpriced_flops += flops;
      const std::string why = op.part + ": " + price.because;
      if (std::find(total.unpriced.begin(), total.unpriced.end(), why) == total.unpriced.end())
        total.unpriced.push_back(why);
      continue;
    }
    PartTime& part = part_of(total.parts, op.part);
    const double seconds = *price.seconds * op.count;
    part.seconds += seconds;
    part.lower += price.lower * op.count * op.least_share;
    part.upper += price.upper * op.count;
    part.flops += flops;
    part.by_origin[price.origin] += seconds;
    total.by_origin[price.origin] += seconds;
    if (seconds > longest[op.part]) {
      longest[op.part] = seconds;
      part.because = price.because;
    }
  }
  for (const PartTime& part : total.parts) {
    total.seconds += part.seconds;
    total.lower += part.lower;
    total.upper += part.upper;
  }
  return total;
}

std::string origins(const std::map<Origin, double>& by_origin) {
  double sum = 0;
  for (const auto& [origin, seconds] : by_origin) sum += seconds;
  std::vector<std::string> parts;
  for (const auto& [origin, seconds] : by_origin)
    if (sum > 0 && seconds / sum >= 0.005)
      parts.push_back(fmt::format("{:.0f} % {}", 100 * seconds / sum, text(origin)));
  return joined(parts);
}

}  // namespace assay
