// A report as terminal text: one screen with the answer, then everything else as tables that fit the width.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "reports/charts.h"
#include "reports/render.h"
#include "reports/text.h"

namespace assay {
namespace {

using Lines = std::vector<std::string>;

enum class Ink : std::uint8_t { plain, bold, dim, green, yellow, red };

const char* escape(Ink ink) {
  switch (ink) {
    case Ink::plain:
      return "";
    case Ink::bold:
      return "\x1b[1m";
    case Ink::dim:
      return "\x1b[2m";
    case Ink::green:
      return "\x1b[1;32m";
    case Ink::yellow:
      return "\x1b[1;33m";
    case Ink::red:
      return "\x1b[1;31m";
  }
  return "";
}

Ink ink_of(Answer answer) {
  switch (answer) {
    case Answer::fits:
      return Ink::green;
    case Answer::tight:
      return Ink::yellow;
    case Answer::does_not_fit:
      return Ink::red;
    case Answer::not_judged:
      return Ink::bold;
  }
  return Ink::plain;
}

Ink ink_of(Severity severity) {
  switch (severity) {
    case Severity::good:
      return Ink::green;
    case Severity::info:
      return Ink::plain;
    case Severity::warning:
      return Ink::yellow;
    case Severity::problem:
      return Ink::red;
  }
  return Ink::plain;
}

std::string upper(std::string word) {
  for (char& letter : word) {
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return word;
}

void append(Lines& lines, const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); }

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t columns = display_width(text);
  const std::string space(columns < width ? width - columns : 0, ' ');
  return right ? space + text : text + space;
}

constexpr std::size_t screen_lines = 24;
constexpr std::size_t gap = 2;  // columns between the columns of a table

class Terminal {
 public:
  explicit Terminal(const TerminalStyle& style)
      : style_(style), width_(static_cast<std::size_t>(std::clamp(style.width, 40, 400))) {}

  Lines first_screen(const Report& report, const std::vector<std::pair<std::string, std::string>>& files) const;
  Lines rest(const Report& report) const;

 private:
  std::string safe(const std::string& outside) const {
    return style_.ascii ? to_ascii(clean(outside)) : clean(outside);
  }
  std::string paint(const std::string& text, Ink ink) const {
    return style_.colour && ink != Ink::plain ? escape(ink) + text + "\x1b[0m" : text;
  }
  std::string clipped(const std::string& text, std::size_t width) const {
    return clip(text, width, style_.ascii ? "..." : "…");
  }
  std::string rule(std::size_t width) const;

  Lines hanging(const std::string& label, Ink ink, const std::string& outside, std::size_t most) const;
  Lines verdict(const Verdict& verdict) const;
  Lines headline(const Report& report, std::size_t most) const;
  Lines files(const std::vector<std::pair<std::string, std::string>>& files, std::size_t room) const;
  Lines worst(const std::vector<Finding>& findings, std::size_t room) const;

  Lines heading(const std::string& title) const;
  Lines paragraph(const std::string& outside) const;
  Lines finding(const Finding& finding) const;
  Lines section(const Section& section) const;
  Lines table(const Table& table) const;
  Lines grid(const std::vector<std::vector<std::string>>& cells, const std::vector<bool>& numeric,
             const std::vector<std::size_t>& widths) const;
  Lines records(const std::vector<std::vector<std::string>>& cells) const;
  std::vector<std::size_t> fit(const std::vector<std::vector<std::string>>& cells,
                               const std::vector<bool>& numeric) const;

  TerminalStyle style_;
  std::size_t width_;
};

std::string Terminal::rule(std::size_t width) const {
  std::string line;
  for (std::size_t column = 0; column < width; ++column) line += style_.ascii ? "-" : "─";
  return line;
}

// `label` in ink, then the text, its further lines indented under its first; at most `most` lines.
Lines Terminal::hanging(const std::string& whole_label, Ink ink, const std::string& outside, std::size_t most) const {
  const std::string label = clipped(whole_label, width_ / 2);
  const std::size_t indent = display_width(label);
  const std::size_t room = width_ - indent;
  const std::string text = safe(outside);
  Lines wrapped = wrap(text, room);
  if (wrapped.size() > most) {
    const std::string last = wrapped[most - 1] + " " + wrapped[most];
    wrapped.resize(most);
    wrapped.back() = clipped(last, room);
  }
  Lines lines;
  for (std::size_t index = 0; index < wrapped.size(); ++index) {
    lines.push_back((index == 0 ? paint(label, ink) : std::string(indent, ' ')) + wrapped[index]);
  }
  return lines;
}

Lines Terminal::verdict(const Verdict& verdict) const {
  const std::string word = sign(verdict.answer, style_.ascii) + " " + upper(text(verdict.answer));
  Lines lines = hanging(word + "  ", ink_of(verdict.answer), verdict.sentence, 3);
  if (!verdict.deciding_term.empty()) append(lines, hanging("Decided by  ", Ink::dim, verdict.deciding_term, 1));
  if (!verdict.changes.empty()) append(lines, hanging("What helps  ", Ink::dim, verdict.changes.front(), 2));
  return lines;
}

Lines Terminal::headline(const Report& report, std::size_t most) const {
  std::size_t widest = 0;
  const std::size_t count = std::min(most, report.headline.size());
  for (std::size_t index = 0; index < count; ++index) {
    widest = std::max(widest, display_width(safe(report.headline[index].first)));
  }
  widest = std::min(widest, width_ / 2);
  Lines lines;
  for (std::size_t index = 0; index < count; ++index) {
    const auto& [name, quantity] = report.headline[index];
    const std::string label = padded(clipped(safe(name), widest), widest + gap, false);
    lines.push_back(label + paint(clipped(safe(words(quantity)), width_ - widest - gap), Ink::bold));
  }
  return lines;
}

// Paths are never cut, because people copy them; a long one counts for the lines that the terminal makes of it.
Lines Terminal::files(const std::vector<std::pair<std::string, std::string>>& files, std::size_t room) const {
  std::size_t widest = 0;
  for (const auto& [name, path] : files) widest = std::max(widest, display_width(safe(name)));
  Lines lines;
  std::size_t used = 0;
  for (std::size_t index = 0; index < files.size(); ++index) {
    const std::string line = padded(safe(files[index].first), widest + gap, false) + safe(files[index].second);
    used += (display_width(line) + width_ - 1) / width_;
    if (index > 0 && used > room) break;
    lines.push_back(line);
  }
  return lines;
}

Lines Terminal::worst(const std::vector<Finding>& findings, std::size_t room) const {
  Lines lines;
  for (std::size_t index = 0; index < findings.size(); ++index) {
    const Finding& finding = findings[index];
    const std::string label = padded(text(finding.severity), 9, false);
    const Lines more = hanging(label, ink_of(finding.severity), finding.sentence, 2);
    const bool last = index + 1 == findings.size();
    if (lines.size() + more.size() + (last ? 0 : 1) > room) {
      const std::size_t left = findings.size() - index;
      if (lines.size() < room)
        lines.push_back("and " + std::to_string(left) + (index == 0 ? "" : " more") + " in the report");
      return lines;
    }
    append(lines, more);
  }
  return lines;
}

Lines Terminal::first_screen(const Report& report,
                             const std::vector<std::pair<std::string, std::string>>& paths) const {
  Lines top{paint(clipped(safe(report.title), width_), Ink::bold)};
  if (!report.subtitle.empty()) top.push_back(clipped(safe(report.subtitle), width_));
  top.emplace_back();
  if (report.verdict) {
    append(top, verdict(*report.verdict));
    top.emplace_back();
  }
  if (!report.headline.empty()) {
    append(top, headline(report, 6));
    top.emplace_back();
  }
  const Lines bottom = files(paths, 4);
  std::size_t bottom_lines = bottom.empty() ? 0 : 1;
  for (const std::string& line : bottom) bottom_lines += (display_width(line) + width_ - 1) / width_;
  const std::size_t taken = top.size() + bottom_lines;
  append(top, worst(report.findings, taken < screen_lines ? screen_lines - taken : 0));
  if (!bottom.empty() && !top.back().empty()) top.emplace_back();
  append(top, bottom);
  return top;
}

Lines Terminal::heading(const std::string& title) const {
  const std::string shown = clipped(safe(title), width_);
  return {"", paint(shown, Ink::bold), paint(rule(display_width(shown)), Ink::dim)};
}

Lines Terminal::paragraph(const std::string& outside) const { return wrap(safe(outside), width_); }

Lines Terminal::finding(const Finding& finding) const {
  constexpr std::size_t no_limit = 1000;
  Lines lines = hanging(padded(text(finding.severity), 9, false), ink_of(finding.severity), finding.sentence, no_limit);
  if (!finding.evidence.empty()) append(lines, hanging("         because: ", Ink::dim, finding.evidence, no_limit));
  if (!finding.advice.empty()) append(lines, hanging("         do: ", Ink::dim, finding.advice, no_limit));
  return lines;
}

Lines Terminal::rest(const Report& report) const {
  Lines lines;
  if (report.verdict && (report.verdict->changes.size() > 1)) {
    append(lines, heading("What would change the answer"));
    for (const std::string& change : report.verdict->changes) append(lines, hanging("- ", Ink::plain, change, 1000));
  }
  if (report.headline.size() > 6) {
    append(lines, heading("Numbers"));
    append(lines, headline(report, report.headline.size()));
  }
  if (!report.findings.empty()) {
    append(lines, heading("Findings"));
    for (const Finding& each : report.findings) append(lines, finding(each));
  }
  for (const Section& each : report.sections) append(lines, section(each));
  if (!report.provenance.empty()) {
    append(lines, heading("Where this comes from"));
    const std::size_t label_width = std::min<std::size_t>(20, width_ / 2 - gap);
    for (const auto& [name, value] : report.provenance) {
      append(lines, hanging(padded(clipped(safe(name), label_width), label_width + gap, false), Ink::dim, value, 1000));
    }
  }
  return lines;
}

Lines Terminal::section(const Section& section) const {
  Lines lines = heading(section.title);
  for (const std::string& each : section.paragraphs) append(lines, paragraph(each));
  for (const Table& each : section.tables) append(lines, table(each));
  for (const Chart& chart : section.charts) {
    Table numbers = chart_table(chart);
    if (!chart.caption.empty()) numbers.note = chart.caption + (numbers.note.empty() ? "" : " " + numbers.note);
    append(lines, table(numbers));
  }
  return lines;
}

Lines Terminal::table(const Table& table) const {
  Lines lines;
  if (!table.title.empty()) append(lines, {"", paint(clipped(safe(table.title), width_), Ink::bold)});
  std::vector<std::vector<std::string>> cells(1);
  for (const std::string& column : table.columns) cells.front().push_back(safe(column));
  std::vector<bool> numeric;
  for (std::size_t column = 0; column < table.columns.size(); ++column) numeric.push_back(is_numeric(table, column));
  for (const auto& row : table.rows) {
    auto& shown = cells.emplace_back();
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      shown.push_back(column < row.size() ? safe(words(row[column])) : "");
    }
  }
  const std::vector<std::size_t> widths = fit(cells, numeric);
  append(lines, widths.empty() ? records(cells) : grid(cells, numeric, widths));
  if (!table.note.empty()) append(lines, paragraph(table.note));
  return lines;
}

// Column widths that together fit the screen, the widest ones giving way first; empty where no column would stay
// readable.
std::vector<std::size_t> Terminal::fit(const std::vector<std::vector<std::string>>& cells,
                                       const std::vector<bool>& numeric) const {
  std::vector<std::size_t> widths(numeric.size(), 1);
  for (const auto& row : cells) {
    for (std::size_t column = 0; column < widths.size(); ++column) {
      widths[column] = std::max(widths[column], display_width(row[column]));
    }
  }
  constexpr std::size_t readable_words = 12, readable_number = 9;
  const auto total = [&] { return std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1)); };
  while (!widths.empty() && total() > width_) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    const bool number = numeric[static_cast<std::size_t>(widest - widths.begin())];
    if (*widest <= (number ? readable_number : readable_words)) return {};
    *widest -= 1;
  }
  return widths;
}

Lines Terminal::grid(const std::vector<std::vector<std::string>>& cells, const std::vector<bool>& numeric,
                     const std::vector<std::size_t>& widths) const {
  Lines lines;
  for (std::size_t row = 0; row < cells.size(); ++row) {
    std::vector<Lines> wrapped;
    std::size_t height = 1;
    for (std::size_t column = 0; column < widths.size(); ++column) {
      wrapped.push_back(wrap(cells[row][column], widths[column]));
      height = std::max(height, wrapped.back().size());
    }
    for (std::size_t line = 0; line < height; ++line) {
      std::string shown;
      for (std::size_t column = 0; column < widths.size(); ++column) {
        const std::string part = line < wrapped[column].size() ? wrapped[column][line] : "";
        if (column > 0) shown.append(gap, ' ');
        shown += padded(part, widths[column], numeric[column]);
      }
      shown.erase(shown.find_last_not_of(' ') + 1);
      lines.push_back(row == 0 ? paint(shown, Ink::dim) : shown);
    }
    if (row == 0)
      lines.push_back(paint(rule(std::accumulate(widths.begin(), widths.end(), gap * (widths.size() - 1))), Ink::dim));
  }
  return lines;
}

// Where the columns cannot stand side by side: one line a cell.
Lines Terminal::records(const std::vector<std::vector<std::string>>& cells) const {
  Lines lines;
  for (std::size_t row = 1; row < cells.size(); ++row) {
    for (std::size_t column = 0; column < cells[row].size(); ++column) {
      if (cells[row][column].empty()) continue;
      append(lines, hanging((column == 0 ? "" : "  ") + cells[0][column] + ": ", Ink::dim, cells[row][column], 1000));
    }
  }
  return lines;
}

}  // namespace

std::string render_terminal(const Report& report, const TerminalStyle& style,
                            const std::vector<std::pair<std::string, std::string>>& files) {
  const Terminal terminal(style);
  Lines lines = terminal.first_screen(report, files);
  if (!style.first_screen_only) append(lines, terminal.rest(report));
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace assay
