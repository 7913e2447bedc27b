// The budget, and durations as people write them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace assay {
namespace {

[[noreturn]] void refuse(std::string_view text) {
  throw BadInput(fmt::format("\"{}\" is no duration: write it like 90s, 10m or 1h30m", text));
}

double unit_seconds(char unit, std::string_view whole) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    default:
      refuse(whole);
  }
}

}  // namespace

double parse_duration(std::string_view text) {
  constexpr double longest = 366.0 * 24 * 3600;
  double seconds = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    double number = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    if (read.ec != std::errc() || !std::isfinite(number) || number < 0) refuse(text);
    rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()));
    if (rest.empty() && seconds > 0) refuse(text);  // "1h30": thirty of what?
    seconds += number * (rest.empty() ? 1 : unit_seconds(rest.front(), text));
    if (!rest.empty()) rest.remove_prefix(1);
  }
  if (!(seconds > 0) || seconds > longest) refuse(text);
  return seconds;
}

std::string duration_text(double seconds) {
  if (seconds < 60 || seconds != std::floor(seconds)) return fmt::format("{:g}s", seconds);
  const auto whole = static_cast<long long>(seconds);
  std::string text;
  if (whole >= 3600) text += fmt::format("{}h", whole / 3600);
  if (whole % 3600 >= 60) text += fmt::format("{}m", whole % 3600 / 60);
  if (whole % 60 > 0) text += fmt::format("{}s", whole % 60);
  return text;
}

Budget::Budget(double seconds, double started) : seconds_(seconds), started_(started) {}

double Budget::cut_off() const {
  if (!limited()) return std::numeric_limits<double>::infinity();
  const double reserve = std::clamp(0.05 * seconds_, 0.2, 2.0);  // for ending a worker and writing what is left
  return started_ + std::max(0.0, seconds_ - reserve);
}

bool Budget::fits(double seconds_expected, double now) const { return now + seconds_expected <= cut_off(); }

std::string Budget::used_up() const { return fmt::format("the budget of {} was used up", duration_text(seconds_)); }

}  // namespace assay
