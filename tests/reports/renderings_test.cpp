// Every number of a report is in all four renderings, and looks the same.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "reports/charts.h"
#include "reports/html/assets.h"
#include "reports/render.h"
#include "tests/reports/sample.h"

namespace assay {
namespace {

void collect(const Table& table, std::multiset<std::string>& shown) {
  for (const auto& row : table.rows) {
    for (const Cell& cell : row) {
      if (const auto* quantity = std::get_if<Quantity>(&cell)) shown.insert(show(*quantity));
    }
  }
}

// The looks of every number in the report; those of charts too, as their tables give them.
std::multiset<std::string> numbers(const Report& report) {
  std::multiset<std::string> shown;
  for (const auto& [name, quantity] : report.headline) shown.insert(show(quantity));
  for (const Section& section : report.sections) {
    for (const Table& table : section.tables) collect(table, shown);
    for (const Chart& chart : section.charts) {
      collect(chart_table(chart), shown);
      for (const auto& [name, limit] : chart.limits) shown.insert(show(limit));
    }
  }
  return shown;
}

std::string squeezed(const std::string& text) { return std::regex_replace(text, std::regex("\\s+"), " "); }

std::string page_text(std::string page) {
  for (const std::string_view asset : {page_assets().script, page_assets().style}) {
    const std::size_t at = asset.empty() ? std::string::npos : page.find(asset);
    if (at != std::string::npos) page.erase(at, asset.size());
  }
  const std::size_t block = page.find("<script type");
  if (block != std::string::npos) page.erase(block);
  page = std::regex_replace(page, std::regex("</t[dh]>|</dd>"), " ");
  return squeezed(std::regex_replace(page, std::regex("<[^>]*>"), ""));
}

std::size_t occurrences(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) {
    const bool starts = at == 0 || std::string("0123456789,.-").find(text[at - 1]) == std::string::npos;
    found += starts ? 1 : 0;
  }
  return found;
}

void collect_shown(const nlohmann::json& node, std::string& text) {
  if (node.is_object() && node.contains("shown")) text += node["shown"].get<std::string>() + "\n";
  if (!node.is_structured()) return;
  for (const auto& child : node) collect_shown(child, text);
}

// Each number stands at least as often as the report has it.
void expect_all(const std::multiset<std::string>& wanted, const std::string& text, const std::string& where) {
  ASSERT_GT(wanted.size(), 100U);
  for (auto each = wanted.begin(); each != wanted.end(); each = wanted.upper_bound(*each)) {
    EXPECT_GE(occurrences(text, *each), wanted.count(*each)) << *each << " is missing in " << where;
  }
}

TEST(Renderings, HoldEveryNumberInTheTerminal) {
  // Wide enough that no number is broken over two lines.
  expect_all(numbers(sample_report()), render_terminal(sample_report(), {.width = 240}, {}), "the terminal");
}

TEST(Renderings, HoldEveryNumberInMarkdown) {
  expect_all(numbers(sample_report()), render_markdown(sample_report()), "Markdown");
}

TEST(Renderings, HoldEveryNumberInHtml) {
  expect_all(numbers(sample_report()), page_text(render_html(sample_report())), "HTML");
}

TEST(Renderings, HoldEveryNumberInJson) {
  std::string shown;
  collect_shown(nlohmann::json::parse(render_json(sample_report())), shown);
  // A row of a table gives its x once for all series, a point in JSON gives its own: never fewer.
  expect_all(numbers(sample_report()), shown, "JSON");
}

TEST(Renderings, HoldEverySentence) {
  const Report report = sample_report();
  const std::string terminal = squeezed(render_terminal(report, {.width = 400}, {}));
  const std::string markdown = squeezed(render_markdown(report));
  const std::string html = page_text(render_html(report));
  const std::string json = render_json(report);
  std::vector<std::string> sentences{report.title, report.verdict->sentence, report.verdict->changes.back()};
  for (const Finding& finding : report.findings) sentences.push_back(finding.sentence);
  for (const Section& section : report.sections) {
    sentences.insert(sentences.end(), section.paragraphs.begin(), section.paragraphs.end());
    for (const Chart& chart : section.charts) sentences.push_back(chart.caption);
  }
  for (const std::string& sentence : sentences) {
    for (const std::string& text : {terminal, markdown, html, json}) EXPECT_THAT(text, ::testing::HasSubstr(sentence));
  }
}

}  // namespace
}  // namespace assay
