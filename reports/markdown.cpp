// A report as Markdown with GitHub's tables, for issues, wikis and pull requests.
// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <string>
#include <vector>

#include "reports/charts.h"
#include "reports/render.h"
#include "reports/text.h"

namespace assay {
namespace {

bool is_word(const std::string& text, std::size_t at) {
  return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0);
}

// Underscores inside a word mark nothing ("head_dim"); escaping them would only make the source harder to read.
bool marks_nothing(const std::string& text, std::size_t at) {
  return text[at] == '_' && at > 0 && is_word(text, at - 1) && is_word(text, at + 1);
}

// "# x", "- x", "1. x" at the start of a paragraph would be a heading or a list.
std::string guard_start(const std::string& text) {
  if (text.empty()) return text;
  if (std::string("#-+=").find(text.front()) != std::string::npos) return "\\" + text;
  const std::size_t after = text.find_first_not_of("0123456789");
  if (after == 0 || after == std::string::npos || (text[after] != '.' && text[after] != ')')) return text;
  if (after + 1 < text.size() && text[after + 1] != ' ') return text;  // "1.20 TFLOP/s" is no list
  return text.substr(0, after) + "\\" + text.substr(after);
}

// Outside text that shows as itself: no markup, no HTML, no table border.
std::string plain(const std::string& outside) {
  const std::string text = clean(outside);
  std::string safe;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '<') {
      safe += "&lt;";
    } else if (letter == '>') {
      safe += "&gt;";
    } else if (letter == '&') {
      safe += "&amp;";
    } else {
      if (std::string("\\`*_[]|~$").find(letter) != std::string::npos && !marks_nothing(text, at)) safe += '\\';
      safe += letter;
    }
  }
  return guard_start(safe);
}

std::string markdown(const Table& table) {
  std::string text;
  if (!table.title.empty()) text += "**" + plain(table.title) + "**\n\n";
  std::string rule;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    text += "| " + plain(table.columns[column]) + " ";
    rule += is_numeric(table, column) ? "| ---: " : "| --- ";
  }
  text += "|\n" + rule + "|\n";
  for (const auto& row : table.rows) {
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      text += "| " + (column < row.size() ? plain(words(row[column])) : std::string()) + " ";
    }
    text += "|\n";
  }
  text += "\n";
  if (!table.note.empty()) text += plain(table.note) + "\n\n";
  return text;
}

std::string markdown(const Verdict& verdict) {
  std::string text = "## " + sign(verdict.answer, false) + " " + assay::text(verdict.answer) + "\n\n";
  text += plain(verdict.sentence) + "\n\n";
  if (!verdict.deciding_term.empty()) text += "Decided by: " + plain(verdict.deciding_term) + "\n\n";
  if (!verdict.changes.empty()) {
    text += "What would change the answer:\n\n";
    for (const std::string& change : verdict.changes) text += "- " + plain(change) + "\n";
    text += "\n";
  }
  return text;
}

std::string markdown(const Finding& finding) {
  std::string text = "- **" + assay::text(finding.severity) + "**: " + plain(finding.sentence) + "\n";
  if (!finding.evidence.empty()) text += "  - because: " + plain(finding.evidence) + "\n";
  if (!finding.advice.empty()) text += "  - do: " + plain(finding.advice) + "\n";
  return text;
}

std::string markdown(const Section& section) {
  std::string text = "## " + plain(section.title) + "\n\n";
  for (const std::string& paragraph : section.paragraphs) text += plain(paragraph) + "\n\n";
  for (const Table& table : section.tables) text += markdown(table);
  for (const Chart& chart : section.charts) {
    Table numbers = chart_table(chart);
    if (!chart.caption.empty()) numbers.note = chart.caption + (numbers.note.empty() ? "" : " " + numbers.note);
    text += markdown(numbers);
  }
  return text;
}

Table headline(const Report& report) {
  Table table{.id = "headline", .title = {}, .columns = {"Number", "Value"}, .rows = {}, .note = {}};
  for (const auto& [name, quantity] : report.headline) table.rows.push_back({name, quantity});
  return table;
}

Table provenance(const Report& report) {
  Table table{.id = "provenance", .title = {}, .columns = {"What", "Value"}, .rows = {}, .note = {}};
  for (const auto& [name, value] : report.provenance) table.rows.push_back({name, value});
  return table;
}

}  // namespace

std::string render_markdown(const Report& report) {
  std::string text = "# " + plain(report.title) + "\n\n";
  if (!report.subtitle.empty()) text += plain(report.subtitle) + "\n\n";
  if (report.verdict) text += markdown(*report.verdict);
  if (!report.headline.empty()) text += markdown(headline(report));
  if (!report.findings.empty()) {
    text += "## Findings\n\n";
    for (const Finding& finding : report.findings) text += markdown(finding);
    text += "\n";
  }
  for (const Section& section : report.sections) text += markdown(section);
  if (!report.provenance.empty()) text += "## Where this comes from\n\n" + markdown(provenance(report));
  while (text.size() > 1 && text[text.size() - 2] == '\n') text.pop_back();
  return text;
}

}  // namespace assay
