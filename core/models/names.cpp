// Names that people type for models, and the ones they may have meant.
// SPDX-License-Identifier: Apache-2.0
#include "core/models/names.h"

#include <algorithm>
#include <utility>

#include "core/nearest.h"

namespace assay {

std::string loose(std::string_view name) {
  std::string result;
  for (const char letter : name) {
    if (letter >= 'A' && letter <= 'Z')
      result += static_cast<char>(letter - 'A' + 'a');
    else if ((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9'))
      result += letter;
  }
  return result;
}

std::vector<std::string> suggestions(std::string_view name, const std::vector<std::string>& names, std::size_t most) {
  const std::string wanted = loose(name.substr(0, 100));  // a longer one is near to nothing
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& candidate : names) {
    const std::string letters = loose(candidate);
    const bool holds = !wanted.empty() && letters.find(wanted) != std::string::npos;
    ranked.emplace_back(holds ? 0 : edit_distance(wanted, letters), candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> result;
  for (const auto& [distance, candidate] : ranked) {
    const bool far = distance > std::max<std::size_t>(2, wanted.size() / 2);
    if (result.size() == most || (far && !result.empty())) break;
    result.push_back(candidate);
  }
  return result;
}

}  // namespace assay
