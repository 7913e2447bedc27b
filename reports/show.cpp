// How a number looks to people: the only place that scales, rounds and names units.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string>

#include "reports/report.h"

namespace assay {
namespace {

// One step of a unit's ladder: 1 GiB is {2^30, "GiB"}. A step is used until the rounded number reaches `limit`.
struct Step {
  double factor;
  const char* name;
  double limit;
};

constexpr double kilo = 1e3, mega = 1e6, giga = 1e9, tera = 1e12, peta = 1e15, exa = 1e18;
constexpr double kibi = 1024, mebi = kibi * kibi, gibi = kibi * mebi, tebi = kibi * gibi, pebi = kibi * tebi;
constexpr double endless = HUGE_VAL;

constexpr std::array plain_steps{Step{1, "", endless}};
// Memory is compared with cards of tens of GiB, so GiB goes on where other ladders would step to TiB.
constexpr std::array byte_steps{Step{1, "B", kibi},       Step{kibi, "KiB", kibi}, Step{mebi, "MiB", kibi},
                                Step{gibi, "GiB", 100e3}, Step{tebi, "TiB", kibi}, Step{pebi, "PiB", endless}};
constexpr std::array second_steps{
    Step{1e-9, "ns", 1000}, Step{1e-6, "us", 1000}, Step{1e-3, "ms", 1000},    Step{1, "s", 120},
    Step{60, "min", 120},   Step{3600, "h", 72},    Step{86400, "days", 1000}, Step{365.25 * 86400, "years", endless}};
// Data sheets say "3,350 GB/s" and "1,979 TFLOP/s", so these two go on as well.
constexpr std::array bandwidth_steps{Step{1, "B/s", 1000},      Step{kilo, "kB/s", 1000},  Step{mega, "MB/s", 1000},
                                     Step{giga, "GB/s", 100e3}, Step{tera, "TB/s", 100e3}, Step{peta, "PB/s", endless}};
constexpr std::array flop_steps{Step{1, "FLOP/s", 1000},      Step{kilo, "kFLOP/s", 1000}, Step{mega, "MFLOP/s", 1000},
                                Step{giga, "GFLOP/s", 1000},  Step{tera, "TFLOP/s", 10e3}, Step{peta, "PFLOP/s", 1000},
                                Step{exa, "EFLOP/s", endless}};
constexpr std::array token_steps{Step{1, "tokens/s", endless}};
constexpr std::array share_steps{Step{0.01, "%", endless}};
constexpr std::array hertz_steps{Step{1, "Hz", 1000}, Step{kilo, "kHz", 1000}, Step{mega, "MHz", 1000},
                                 Step{giga, "GHz", endless}};

constexpr std::array dollar_steps{Step{1, "USD", endless}};
constexpr std::array watt_steps{Step{1, "W", 10e3}, Step{kilo, "kW", 10e3}, Step{mega, "MW", endless}};
constexpr std::array joule_steps{Step{1e-3, "mJ", 1000}, Step{1, "J", 10e3}, Step{kilo, "kJ", 10e3},
                                 Step{mega, "MJ", endless}};

std::span<const Step> ladder(ReportUnit unit) {
  switch (unit) {
    case ReportUnit::none:
    case ReportUnit::count:
      return plain_steps;
    case ReportUnit::bytes:
      return byte_steps;
    case ReportUnit::seconds:
      return second_steps;
    case ReportUnit::bytes_per_second:
      return bandwidth_steps;
    case ReportUnit::flops_per_second:
      return flop_steps;
    case ReportUnit::tokens_per_second:
      return token_steps;
    case ReportUnit::share:
      return share_steps;
    case ReportUnit::hertz:
      return hertz_steps;
    case ReportUnit::dollars:
      return dollar_steps;
    case ReportUnit::watts:
      return watt_steps;
    case ReportUnit::joules:
      return joule_steps;
  }
  return plain_steps;
}

// The step that a person means by zero: "0 s", "0 B".
Step base_step(ReportUnit unit) {
  for (const Step& step : ladder(unit)) {
    if (step.factor == 1) return step;
  }
  return ladder(unit).front();
}

// 1.5 with 2 decimals is "1.50". The point is set by hand, because printf's follows the locale.
std::string fixed(double magnitude, int decimals) {
  std::array<char, 64> buffer{};  // callers stay below 1e18 x 10^6
  std::snprintf(buffer.data(), buffer.size(), "%.0f", std::round(magnitude * std::pow(10.0, decimals)));
  std::string digits = buffer.data();
  if (digits.size() <= static_cast<std::size_t>(decimals)) {
    digits.insert(0, static_cast<std::size_t>(decimals) + 1 - digits.size(), '0');
  }
  std::string fraction = digits.substr(digits.size() - static_cast<std::size_t>(decimals));
  std::string whole = digits.substr(0, digits.size() - static_cast<std::size_t>(decimals));
  for (std::size_t at = whole.size(); at > 3; at -= 3) whole.insert(at - 3, 1, ',');
  return fraction.empty() ? whole : whole + "." + fraction;
}

int digits_before_point(double magnitude) {
  return magnitude < 1 ? 1 : static_cast<int>(std::floor(std::log10(magnitude))) + 1;
}

// How many decimals give `significant` digits; small numbers get more, so that 0.0123 is not 0.01.
int decimals_for(double magnitude, int significant) {
  if (magnitude == 0) return 0;
  if (magnitude >= 1) return std::max(0, significant - digits_before_point(magnitude));
  const int zeros = static_cast<int>(std::ceil(-std::log10(magnitude))) - 1;  // 0.0123 has one after the point
  return std::min(significant + zeros, 6);
}

double rounded_to(double magnitude, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(magnitude * scale) / scale;
}

// 1,234,567 with four significant digits is 1,235,000.
double round_whole(double magnitude, int significant) {
  const int surplus = digits_before_point(magnitude) - significant;
  if (surplus <= 0) return magnitude;
  const double unit = std::pow(10.0, surplus);
  return std::round(magnitude / unit) * unit;
}

struct Look {
  int significant = 3;
  int most_decimals = 6;
  bool trim = false;   // drop zeros after the point
  bool exact = false;  // every digit of a whole number
};

Look look_of(ReportUnit unit) {
  switch (unit) {
    case ReportUnit::none:
      return {.significant = 3, .trim = true, .exact = true};
    case ReportUnit::count:
      return {.significant = 4, .trim = true, .exact = true};
    case ReportUnit::bytes:
      return {.significant = 4, .most_decimals = 2};  // 9.50 GiB, 14.96 GiB, 512.0 MiB
    case ReportUnit::share:
      return {.significant = 3, .trim = true};
    case ReportUnit::seconds:
    case ReportUnit::bytes_per_second:
    case ReportUnit::flops_per_second:
    case ReportUnit::tokens_per_second:
    case ReportUnit::hertz:
    case ReportUnit::dollars:
    case ReportUnit::watts:
    case ReportUnit::joules:
      return {};
  }
  return {};
}

std::string trimmed(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

// A number too long to read digit by digit: 3.14 × 10^23.
std::string power_of_ten(double magnitude) {
  int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
  double mantissa = magnitude / std::pow(10.0, exponent);
  if (std::round(mantissa * 100) >= 1000) {
    mantissa /= 10;
    exponent += 1;
  }
  return fixed(mantissa, 2) + " × 10^" + std::to_string(exponent);
}

// Asked twice, because 9.999 with two decimals becomes 10.00: one digit too many.
int decimals_of(double magnitude, const Look& look) {
  const int first = std::min(decimals_for(magnitude, look.significant), look.most_decimals);
  return std::min(decimals_for(rounded_to(magnitude, first), look.significant), look.most_decimals);
}

// `magnitude` is not negative and already in the step's unit.
std::string digits(double magnitude, const Look& look, int decimals) {
  if (magnitude >= 1e18) return power_of_ten(magnitude);
  const bool whole = magnitude == std::floor(magnitude);
  if (look.exact && whole) return fixed(magnitude, 0);
  if (magnitude >= 1000) return fixed(look.exact ? std::round(magnitude) : round_whole(magnitude, 4), 0);
  const std::string number = fixed(magnitude, decimals);
  return look.trim ? trimmed(number) : number;
}

bool is_zero(const std::string& number) { return number.find_first_not_of("0.,") == std::string::npos; }

std::string with_sign(double value, const std::string& number) {
  return std::signbit(value) && !is_zero(number) ? "-" + number : number;
}

// The smallest step in which the rounded number stays below the step's limit.
Step step_for(double magnitude, ReportUnit unit, const Look& look) {
  for (const Step& step : ladder(unit)) {
    const double scaled = magnitude / step.factor;
    if (scaled >= step.limit) continue;
    const double shown = scaled >= 1000 ? round_whole(scaled, 4) : scaled;
    if (rounded_to(shown, decimals_of(scaled, look)) < step.limit) return step;
  }
  return ladder(unit).back();
}

std::string with_unit(const std::string& number, const Step& step) {
  return *step.name == '\0' ? number : number + " " + step.name;
}

std::optional<double> known(const std::optional<double>& value) {
  return value && std::abs(*value) < 1e300 ? value : std::nullopt;  // false for NaN, too
}

// A bound of an interval, in the unit and with the decimals of the value that it belongs to.
std::string bound(double value, const Step& step, const Look& look, int decimals) {
  const double magnitude = std::abs(value) / step.factor;
  std::string number = digits(magnitude, look, decimals);
  if (is_zero(number) && magnitude > 0) number = digits(magnitude, look, decimals_for(magnitude, 2));
  return with_sign(value, number);
}

std::string interval(const Quantity& quantity, const Step& step, const Look& look, int decimals) {
  const auto lower = known(quantity.lower);
  const auto upper = known(quantity.upper);
  if (lower && upper) {
    return " (" + bound(*lower, step, look, decimals) + " to " + bound(*upper, step, look, decimals) + ")";
  }
  if (lower) return " (at least " + bound(*lower, step, look, decimals) + ")";
  if (upper) return " (at most " + bound(*upper, step, look, decimals) + ")";
  return "";
}

std::string show_value(double value, const Step& step, const Look& look, int decimals) {
  const double magnitude = std::abs(value) / step.factor;
  std::string number = digits(magnitude, look, decimals);
  if (is_zero(number) && magnitude > 0) return "about " + with_unit("0", step);  // below every digit that we print
  return with_unit(with_sign(value, number), step);
}

}  // namespace

std::string show(const Quantity& quantity) {
  const auto value = known(quantity.value);
  if (!value) return "unknown";
  Look look = look_of(quantity.unit);
  const double magnitude = std::abs(*value);
  const Step step = magnitude == 0 ? base_step(quantity.unit) : step_for(magnitude, quantity.unit, look);
  if (quantity.unit == ReportUnit::bytes && step.factor == 1) look = {.significant = 4, .trim = true, .exact = true};
  const int decimals = decimals_of(magnitude / step.factor, look);
  return show_value(*value, step, look, decimals) + interval(quantity, step, look, decimals);
}

std::string show_short(double value, ReportUnit unit) {
  if (!known(value)) return "unknown";
  const Look look{.significant = 4, .trim = true, .exact = look_of(unit).exact};
  const double magnitude = std::abs(value);
  const Step step = magnitude == 0 ? base_step(unit) : step_for(magnitude, unit, look);
  return show_value(value, step, look, decimals_for(magnitude / step.factor, 3));
}

std::string text(ReportUnit unit) {
  switch (unit) {
    case ReportUnit::none:
      return "none";
    case ReportUnit::count:
      return "count";
    case ReportUnit::bytes:
      return "bytes";
    case ReportUnit::seconds:
      return "seconds";
    case ReportUnit::bytes_per_second:
      return "bytes_per_second";
    case ReportUnit::flops_per_second:
      return "flops_per_second";
    case ReportUnit::tokens_per_second:
      return "tokens_per_second";
    case ReportUnit::share:
      return "share";
    case ReportUnit::hertz:
      return "hertz";
    case ReportUnit::dollars:
      return "dollars";
    case ReportUnit::watts:
      return "watts";
    case ReportUnit::joules:
      return "joules";
  }
  return "none";
}

std::string text(Severity severity) {
  switch (severity) {
    case Severity::good:
      return "good";
    case Severity::info:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::problem:
      return "problem";
  }
  return "note";
}

std::string text(Answer answer) {
  switch (answer) {
    case Answer::fits:
      return "fits";
    case Answer::tight:
      return "tight";
    case Answer::does_not_fit:
      return "does not fit";
    case Answer::not_judged:
      return "not judged";
  }
  return "not judged";
}

std::string sign(Answer answer, bool ascii) {
  switch (answer) {
    case Answer::fits:
      return ascii ? "[ok]" : "✓";
    case Answer::tight:
      return ascii ? "[~]" : "~";
    case Answer::does_not_fit:
      return ascii ? "[x]" : "✗";
    case Answer::not_judged:
      return ascii ? "[?]" : "?";
  }
  return "?";
}

}  // namespace assay
