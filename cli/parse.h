// Words of the command line into values, each with a sentence for what cannot be understood.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/case.h"
#include "core/error.h"
#include "core/format.h"
#include "core/nearest.h"

namespace assay {

// "90", "90s", "10m", "1.5h" in seconds. Throws BadInput for anything else, and for nothing or less.
double parse_duration(const std::string& text);

// "20ms", "0.5s", "1": a time between looks in seconds, 1 ms to 60 s. Throws BadInput.
double parse_period(const std::string& option, const std::string& text);

// "4096", "4k" (4096), "128k" (131072): a number of tokens. Throws BadInput below 1 or beyond 2^40.
std::int64_t parse_tokens(const std::string& option, const std::string& text);

// A whole number of at least `least`. Throws BadInput.
std::int64_t parse_whole(const std::string& option, const std::string& text, std::int64_t least);

// A number that is not negative: "2", "0.35", "2e9". Throws BadInput.
double parse_number(const std::string& option, const std::string& text);

// "2.49 USD/h", "2.49USD/h", "$2.49/h" or "2.49": USD an hour. Throws BadInput.
double parse_price(const std::string& text);

ProfileKind parse_profile(const std::string& text);

// "key=value". Throws BadInput without '=' or with an empty key.
std::pair<std::string, std::string> parse_label(const std::string& text);

// One of a list of words. Throws BadInput that lists them.
template <class Value>
Value parse_choice(const std::string& option, const std::string& text,
                   const std::vector<std::pair<std::string, Value>>& choices) {
  std::string known;
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (name == text) return value;
    known += (known.empty() ? "" : ", ") + name;
    names.push_back(name);
  }
  throw BadInput(option + " does not know '" + text + "'" + did_you_mean(text, names) + " (one of: " + known + ")");
}

}  // namespace assay
