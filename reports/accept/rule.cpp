// Reads the table of rules.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/rule.h"

#include <charconv>

#include "core/error.h"
#include "core/nearest.h"
#include "reports/accept/table.h"
#include "reports/phrase.h"

namespace assay {
namespace {

[[noreturn]] void refuse(const std::string& id, const std::string& what) {
  throw Error("reports/accept/rules.csv, rule '" + id + "': " + what);
}

double number(const std::string& id, std::string_view cell) {
  double value = 0;
  const auto [end, failed] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (failed != std::errc() || end != cell.data() + cell.size()) refuse(id, "not a number: " + std::string(cell));
  return value;
}

RuleTest test_of(const std::string& id, const std::string& cell) {
  if (cell == "below") return RuleTest::below;
  if (cell == "above") return RuleTest::above;
  if (cell == "outside") return RuleTest::outside;
  if (cell == "words") return RuleTest::words;
  refuse(id, "unknown test '" + cell + "'");
}

ReportUnit unit_of(const std::string& id, const std::string& cell) {
  for (const ReportUnit unit : {ReportUnit::none, ReportUnit::count, ReportUnit::bytes, ReportUnit::seconds,
                                ReportUnit::bytes_per_second, ReportUnit::share}) {
    if (text(unit) == cell) return unit;
  }
  refuse(id, "unknown unit '" + cell + "'");
}

Limit limit(const std::string& id, RuleTest test, const std::string& cell) {
  Limit limit;
  if (cell.empty()) return limit;
  switch (test) {
    case RuleTest::below:
      limit.low = number(id, cell);
      break;
    case RuleTest::above:
      limit.high = number(id, cell);
      break;
    case RuleTest::outside: {
      const std::size_t colon = cell.find(':');
      if (colon == std::string::npos) refuse(id, "wants two limits: " + cell);
      limit.low = number(id, std::string_view(cell).substr(0, colon));
      limit.high = number(id, std::string_view(cell).substr(colon + 1));
      break;
    }
    case RuleTest::words:
      limit.word = cell;
      break;
  }
  return limit;
}

Rule rule_of(const NamedCells& cells) {
  Rule rule;
  rule.id = cells.at("id");
  std::string_view pains = cells.at("pains");
  while (!pains.empty()) {
    const std::size_t blank = pains.find(' ');
    rule.pains.push_back(static_cast<int>(number(rule.id, pains.substr(0, blank))));
    pains.remove_prefix(blank == std::string_view::npos ? pains.size() : blank + 1);
  }
  const std::string& scope = cells.at("scope");
  if (scope != "host" && scope != "device") refuse(rule.id, "unknown scope '" + scope + "'");
  rule.scope = scope == "host" ? RuleScope::host : RuleScope::device;
  rule.observation = cells.at("observation");
  rule.test = test_of(rule.id, cells.at("test"));
  rule.warn = limit(rule.id, rule.test, cells.at("warn"));
  rule.fail = limit(rule.id, rule.test, cells.at("fail"));
  if (!rule.warn.set() && !rule.fail.set()) refuse(rule.id, "has no limit");
  rule.unit = unit_of(rule.id, cells.at("unit"));
  rule.required = cells.at("required") == "yes";
  rule.title = cells.at("title");
  rule.why = cells.at("why");
  rule.source = cells.at("source");
  rule.repeat = cells.at("repeat");
  rule.advice = cells.at("advice");
  return rule;
}

std::string words_of(const Rule& rule, const Limit& limit) {
  const auto shown = [&](double value) { return show(Quantity{value, rule.unit, {}, {}, ""}); };
  switch (rule.test) {
    case RuleTest::below:
      return "below " + shown(*limit.low);
    case RuleTest::above:
      return "above " + shown(*limit.high);
    case RuleTest::outside:
      return "outside " + shown(*limit.low) + " to " + shown(*limit.high);
    case RuleTest::words:
      break;
  }
  return "where it is '" + limit.word + "'";
}

}  // namespace

std::vector<Rule> parse_rules(std::string_view csv) {
  std::vector<Rule> rules;
  for (const NamedCells& cells : read_table(csv, "reports/accept/rules.csv")) rules.push_back(rule_of(cells));
  return rules;
}

const std::vector<Rule>& builtin_rules() {
  static const std::vector<Rule> rules = parse_rules(rules_csv());
  return rules;
}

const Rule& find_rule(const std::string& id) {
  std::vector<std::string> names;
  for (const Rule& rule : builtin_rules()) {
    if (rule.id == id) return rule;
    names.push_back(rule.id);
  }
  throw BadInput("there is no rule '" + id + "'" + did_you_mean(id, names) + " (assay list rules shows them)");
}

std::string thresholds(const Rule& rule) {
  std::vector<std::string> parts;
  if (rule.warn.set()) parts.push_back("warns " + words_of(rule, rule.warn));
  if (rule.fail.set()) parts.push_back("fails " + words_of(rule, rule.fail));
  return joined(parts);
}

}  // namespace assay
