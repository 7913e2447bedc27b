// Which cases a run takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regex>
#include <string>
#include <vector>

namespace assay {

// A regular expression (ECMAScript) that a name must contain; with a leading '-', must not contain. Empty takes all.
class Filter {
 public:
  explicit Filter(const std::string& expression);  // throws BadInput with what is wrong with it
  bool takes(const std::string& name) const;
  const std::string& expression() const { return expression_; }

 private:
  std::string expression_;
  bool negative_ = false;
  std::regex regex_;
};

// What to say where no name passes: the filter, how many there are, and the nearest ones.
std::string nothing_matches(const std::string& expression, const std::vector<std::string>& names);

}  // namespace assay
