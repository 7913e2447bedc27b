// Filters by regular expression, and what to say when they take nothing.
// SPDX-License-Identifier: Apache-2.0
#include "bench/filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/nearest.h"

namespace assay {
namespace {

// In words, because std::regex_error::what() differs between libraries and says little.
std::string meaning(std::regex_constants::error_type code) {
  using namespace std::regex_constants;
  if (code == error_brack) return "a [ without its ]";
  if (code == error_paren) return "a ( without its ), or the other way round";
  if (code == error_brace || code == error_badbrace) return "a bad { }";
  if (code == error_badrepeat) return "a *, + or ? with nothing before it to repeat";
  if (code == error_escape) return "a bad \\ sequence";
  if (code == error_range) return "a bad range such as [z-a]";
  if (code == error_backref) return "a reference to a group that does not exist";
  if (code == error_ctype || code == error_collate) return "an unknown character class";
  return "it is too complicated";
}

std::regex compile(const std::string& expression, const std::string& whole) {
  try {
    return std::regex(expression, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    throw BadInput(fmt::format("the filter \"{}\" is no regular expression: {}", whole, meaning(error.code())));
  }
}

// The distance from the filter to the nearest stretch of the name that begins at a part of it ("square" in
// "gemm/fp32/square/512"), so that a short filter is not far from every long name.
std::size_t distance(const std::string& expression, const std::string& name) {
  std::size_t best = std::numeric_limits<std::size_t>::max();
  for (std::size_t start = 0; start != std::string::npos;) {
    best = std::min(best, edit_distance(expression, std::string_view(name).substr(start, expression.size())));
    start = name.find('/', start);
    if (start != std::string::npos) ++start;
  }
  return best;
}

}  // namespace

Filter::Filter(const std::string& expression)
    : expression_(expression),
      negative_(!expression.empty() && expression.front() == '-'),
      regex_(compile(negative_ ? expression.substr(1) : expression, expression)) {}

bool Filter::takes(const std::string& name) const {
  return expression_.empty() || std::regex_search(name, regex_) != negative_;
}

std::string nothing_matches(const std::string& expression, const std::vector<std::string>& names) {
  std::string sentence = fmt::format("no case matches the filter \"{}\" ({} are known)", expression, names.size());
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : names) near.emplace_back(distance(expression, name), name);
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  near.erase(
      std::remove_if(near.begin(), near.end(),
                     [&](const auto& one) { return one.first > std::max<std::size_t>(1, expression.size() / 2); }),
      near.end());
  if (near.size() > 3) near.resize(3);
  std::vector<std::string> quoted;
  for (const auto& one : near) quoted.push_back(one.second);
  if (!quoted.empty()) sentence += fmt::format("; near it: {}", fmt::join(quoted, ", "));
  return sentence + "; `assay list benchmarks` shows all";
}

}  // namespace assay
