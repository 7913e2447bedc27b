// Scales numbers for people.
// SPDX-License-Identifier: Apache-2.0
#include "bench/figures.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace assay {
namespace {

std::string digits(double value) {
  const double size = std::fabs(value);
  const int before = size < 1 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
  return before >= 3 ? fmt::format("{:.0f}", value) : fmt::format("{:.{}f}", value, 3 - before);
}

std::string by_thousands(double value, const char* unit) {
  constexpr std::array prefixes = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t step = 0;
  while (std::fabs(value) >= 999.5 && step + 1 < prefixes.size()) {
    value /= 1000;
    ++step;
  }
  return fmt::format("{} {}{}", digits(value), prefixes[step], unit);
}

std::string bytes(double value) {
  constexpr std::array units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t step = 0;
  while (std::fabs(value) >= 1024 && step + 1 < units.size()) {
    value /= 1024;
    ++step;
  }
  return fmt::format("{} {}", step == 0 ? fmt::format("{:.0f}", value) : digits(value), units[step]);
}

std::string seconds(double value) {
  const double size = std::fabs(value);
  if (size >= 1) return digits(value) + " s";
  if (size >= 1e-3) return digits(value * 1e3) + " ms";
  if (size >= 1e-6) return digits(value * 1e6) + " us";
  return digits(value * 1e9) + " ns";
}

int telling(const Row& row) {
  if (!row.value) return 0;
  if (row.unit == "flop/s") return 5;
  if (row.unit == "B/s") return 4;
  if (row.metric.rfind("seconds_per_", 0) == 0) return 3;  // of a load or a launch: rather than of thousands of them
  return row.metric == "seconds" ? 2 : 1;
}

}  // namespace

std::string figure(double value, const std::string& unit) {
  if (!std::isfinite(value)) return "unknown";
  if (unit == "flop/s") return by_thousands(value, "FLOP/s");
  if (unit == "B/s") return by_thousands(value, "B/s");
  if (unit == "B") return bytes(value);
  if (unit == "s") return seconds(value);
  if (unit == "1" && value != std::floor(value)) return digits(value);  // a ratio; counts are whole
  if (unit.empty() || unit == "1") return fmt::format("{:g}", value);
  return fmt::format("{:g} {}", value, unit);
}

const Row* headline(const std::vector<Row>& rows) {
  const Row* best = nullptr;
  for (const Row& row : rows)
    if (telling(row) > (best == nullptr ? 0 : telling(*best))) best = &row;
  return best;
}

}  // namespace assay
