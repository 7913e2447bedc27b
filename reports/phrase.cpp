// Small helpers for sentences.
// SPDX-License-Identifier: Apache-2.0
#include "reports/phrase.h"

#include <fmt/format.h>

namespace assay {

std::string shown(double value, ReportUnit unit) { return show(quantity(value, unit)); }
std::string shown_bytes(double value) { return shown(value, ReportUnit::bytes); }
std::string grouped(double whole) { return shown(whole, ReportUnit::count); }
std::string plain_number(double value) { return fmt::format("{:.12g}", value); }

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string all;
  for (const std::string& part : parts) all += (all.empty() ? "" : between) + part;
  return all;
}

Quantity quantity(double value, ReportUnit unit) { return {value, unit, {}, {}, ""}; }

Quantity quantity(double value, double lower, double upper, ReportUnit unit) {
  if (lower == value && upper == value) return quantity(value, unit);
  return {value, unit, lower, upper, ""};
}

Quantity unknown(ReportUnit unit, const std::string& reason) { return {std::nullopt, unit, {}, {}, reason}; }

}  // namespace assay
