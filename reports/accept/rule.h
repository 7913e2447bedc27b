// The rules by which a rented machine is accepted: data, each with its thresholds and where they come from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/report.h"

namespace assay {

// How an observation is held against the limits.
enum class RuleTest : std::uint8_t {
  below,    // less than the limit is worse
  above,    // more than it is
  outside,  // less than the first or more than the second of two
  words,    // the observed word is the limit
};

enum class RuleScope : std::uint8_t { host, device };

struct Limit {
  std::optional<double> low, high;  // below: low; above: high; outside: both
  std::string word;
  bool set() const { return low || high || !word.empty(); }
};

// One line of reports/accept/rules.csv.
struct Rule {
  std::string id;
  std::vector<int> pains;  // entries of the catalogue of complaints in docs/acceptance.md
  RuleScope scope = RuleScope::host;
  std::string observation;  // its name in Observations
  RuleTest test = RuleTest::below;
  Limit warn, fail;
  ReportUnit unit = ReportUnit::none;
  bool required = false;  // unknown means that the machine cannot be accepted yet
  std::string title;      // what holds where it passes
  std::string why;        // what went wrong for others
  std::string source;     // of the complaint and the limits: an address, or "this project"
  std::string repeat;     // a command; {device}, {run} and {case} are filled in
  std::string advice;
};

const std::vector<Rule>& builtin_rules();
std::vector<Rule> parse_rules(std::string_view csv);  // throws Error naming the rule

// Throws BadInput with the nearest ids.
const Rule& find_rule(const std::string& id);

// "warns below 85 %, fails below 70 %"
std::string thresholds(const Rule& rule);

}  // namespace assay
