// Every one of the 74 collected complaints has a rule, or a written reason why not.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "reports/accept/rule.h"

namespace assay {
namespace {

constexpr int complaints = 74;

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Lines "| 17 | name | rules or reason |" of docs/acceptance.md, by number.
std::map<int, std::vector<std::string>> table() {
  std::map<int, std::vector<std::string>> rows;
  std::ifstream file(std::string(ASSAY_SOURCE_DIR) + "/docs/acceptance.md");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| ", 0) != 0 || std::isdigit(static_cast<unsigned char>(line[2])) == 0) continue;
    std::vector<std::string> cells;
    std::istringstream parts(line.substr(1));
    for (std::string cell; std::getline(parts, cell, '|');) cells.push_back(trimmed(cell));
    if (cells.size() == 3) rows[std::stoi(cells.at(0))] = cells;  // the table of exit codes has two
  }
  return rows;
}

std::map<int, std::set<std::string>> rules_by_complaint() {
  std::map<int, std::set<std::string>> rules;
  for (const Rule& rule : builtin_rules())
    for (const int pain : rule.pains) rules[pain].insert(rule.id);
  return rules;
}

TEST(Complaints, AreAllInTheTable) {
  const auto rows = table();
  for (int number = 1; number <= complaints; ++number) EXPECT_EQ(rows.count(number), 1U) << number;
  EXPECT_EQ(rows.size(), static_cast<std::size_t>(complaints));
}

TEST(Complaints, EachHasItsRulesOrAReason) {
  const auto rules = rules_by_complaint();
  for (const auto& [number, cells] : table()) {
    ASSERT_EQ(cells.size(), 3U) << number;
    const auto found = rules.find(number);
    if (found == rules.end()) {
      EXPECT_EQ(cells[2].rfind("no rule: ", 0), 0U) << number;
      EXPECT_GT(cells[2].size(), 40U) << number << ": a reason is a sentence";
      continue;
    }
    std::set<std::string> named;
    std::istringstream words(cells[2]);
    for (std::string word; words >> word;) {
      if (word.size() > 2 && word.front() == '`') named.insert(word.substr(1, word.find('`', 1) - 1));
    }
    EXPECT_EQ(named, found->second) << number;
  }
}

TEST(Rules, CarryAllThatExplainNeeds) {
  std::set<std::string> ids;
  for (const Rule& rule : builtin_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.title.empty() || rule.why.empty() || rule.advice.empty()) << rule.id;
    EXPECT_TRUE(rule.source == "this project" || rule.source.rfind("https://", 0) == 0) << rule.id;
    EXPECT_EQ(rule.repeat.rfind("assay ", 0), 0U) << rule.id;
    EXPECT_FALSE(thresholds(rule).empty()) << rule.id;
  }
}

}  // namespace
}  // namespace assay
