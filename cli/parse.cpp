// Strict about everything: a typing error must not become a measurement of something else.
// SPDX-License-Identifier: Apache-2.0
#include "cli/parse.h"

#include <charconv>
#include <cmath>

#include "bench/profile.h"
#include "reports/accept/claim.h"

namespace assay {

double parse_duration(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" || unit == "min" ? 60 : unit == "h" ? 3600 : 0;
  if (failed != std::errc() || factor == 0 || !std::isfinite(number) || number <= 0 || number * factor > 30.0 * 86400) {
    throw BadInput("'" + text + "' is not a duration; write 90s, 10m or 1.5h (at most 30 days)");
  }
  return number * factor;
}

double parse_period(const std::string& option, const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "ms" ? 1e-3 : 0;
  const double seconds = number * factor;
  if (failed != std::errc() || !std::isfinite(seconds) || seconds < 1e-3 || seconds > 60)
    throw BadInput(option + " is a time from 1ms to 60s, such as 20ms or 1s, not '" + text + "'");
  return seconds;
}

std::int64_t parse_whole(const std::string& option, const std::string& text, std::int64_t least) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  constexpr std::int64_t most = std::int64_t{1} << 40U;
  if (failed == std::errc::result_out_of_range || (failed == std::errc() && rest == end && number > most)) {
    throw BadInput(option + " must be at most " + std::to_string(most) + ", not '" + text + "'");
  }
  if (failed != std::errc() || rest != end || number < least) {
    throw BadInput(option + " must be a whole number of at least " + std::to_string(least) + ", not '" + text + "'");
  }
  return number;
}

std::int64_t parse_tokens(const std::string& option, const std::string& text) {
  const bool thousands = !text.empty() && (text.back() == 'k' || text.back() == 'K');
  const std::int64_t number = parse_whole(option, thousands ? text.substr(0, text.size() - 1) : text, 1);
  const std::int64_t tokens = thousands ? number * 1024 : number;
  if (tokens > (std::int64_t{1} << 40U)) throw BadInput(option + " " + text + " is more than any model takes");
  return tokens;
}

double parse_number(const std::string& option, const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || rest != end || !std::isfinite(number) || number < 0)
    throw BadInput(option + " must be a number, not '" + text + "'");
  return number;
}

double parse_price(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  const Claim claim = parse_claim(plain ? text + " USD/h" : text);
  if (!claim.price_per_hour || claim.currency != "USD")
    throw BadInput("--price " + text + ": a price is dollars an hour, such as 2.49USD/h");
  return *claim.price_per_hour;
}

ProfileKind parse_profile(const std::string& text) {
  std::vector<std::pair<std::string, ProfileKind>> choices;
  for (const Profile& profile : profiles()) choices.emplace_back(profile.name, profile.kind);
  return parse_choice("--profile", text, choices);
}

std::pair<std::string, std::string> parse_label(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw BadInput("--label needs a name and a value, as in --label provider=acme; '" + text + "' is neither");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace assay
