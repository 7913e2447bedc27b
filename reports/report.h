// What a report says, apart from how it looks: one structure, rendered as terminal text, Markdown, JSON and HTML.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace assay {

enum class ReportUnit : std::uint8_t {
  none,              // a plain number
  count,             // shown with separators: 8,030,261,248
  bytes,             // shown in GiB, MiB, KiB
  seconds,           // shown in h, min, s, ms, us, ns
  bytes_per_second,  // shown in GB/s
  flops_per_second,  // shown in TFLOP/s or GFLOP/s
  tokens_per_second,
  share,  // 0.97 shown as 97 %
  hertz,
  dollars,  // USD
  watts,    // shown in W, kW, MW
  joules,   // shown in J, kJ, MJ
};

// A number with its unit and, where it is uncertain, its interval. Absent: `value` is empty and `reason` says why.
struct Quantity {
  std::optional<double> value;
  ReportUnit unit = ReportUnit::none;
  std::optional<double> lower, upper;
  std::string reason;
};

// As people see it: "14.96 GiB", "97 %", "1.20 TFLOP/s (1.10 to 1.31)", "unknown" (also for NaN and infinity). The only
// place that scales. Three significant digits, four for bytes and for everything from 1,000 on; counts are exact.
std::string show(const Quantity& quantity);

// As an axis tick: the same scaling without trailing zeros, "16 GiB", "2.5 TFLOP/s".
std::string show_short(double value, ReportUnit unit);

// The unit's stable name in JSON: "bytes_per_second".
std::string text(ReportUnit unit);

enum class Answer : std::uint8_t { fits, tight, does_not_fit, not_judged };
std::string text(Answer answer);              // "fits", "tight", "does not fit", "not judged"
std::string sign(Answer answer, bool ascii);  // beside the word, never colour alone: ✓ ~ ✗ ? or [ok] [~] [x] [?]

// Words, a number, or a small verdict of its own (shown with its sign and word).
using Cell = std::variant<std::string, Quantity, Answer>;

struct Table {
  std::string id;  // stable: "memory", "rates"
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::string note;
};

enum class ChartKind : std::uint8_t { line, scatter, bar, stacked_bar };

struct Series {
  std::string name;
  std::vector<double> x;  // or, for bars, 0, 1, 2 ... into Axis::labels
  std::vector<double> y;
  bool line = true;
};
struct Axis {
  std::string name;
  ReportUnit unit = ReportUnit::none;
  bool logarithmic = false;
  std::vector<std::string> labels;  // a category axis, where not empty
};
struct Chart {
  std::string id;
  std::string title;
  ChartKind kind = ChartKind::line;
  Axis x, y;
  std::vector<Series> series;
  std::string caption;                                   // what it shows in words, for readers who cannot see it
  std::vector<std::pair<std::string, Quantity>> limits;  // horizontal lines: "capacity"
};

enum class Severity : std::uint8_t { good, info, warning, problem };
std::string text(Severity severity);  // "good", "note", "warning", "problem"
struct Finding {
  Severity severity = Severity::info;
  std::string sentence;
  std::string evidence;  // the numbers and rows behind it
  std::string advice;    // what to do, or the command that shows more
};

struct Verdict {
  Answer answer = Answer::not_judged;
  std::string sentence;              // one plain sentence a manager can read
  std::string deciding_term;         // "KV cache: 16.0 GiB of 24.0 GiB"
  std::vector<std::string> changes;  // what would make it fit, or go further
};

struct Section {
  std::string id;
  std::string title;
  std::vector<std::string> paragraphs;
  std::vector<Table> tables;
  std::vector<Chart> charts;
};

struct Report {
  std::string title;
  std::string subtitle;  // device, date, run
  std::optional<Verdict> verdict;
  std::vector<std::pair<std::string, Quantity>> headline;  // at most six numbers, most important first
  std::vector<Finding> findings;                           // worst first
  std::vector<Section> sections;
  std::vector<std::pair<std::string, std::string>> provenance;  // run id, version, commit, device, labels ...
};

}  // namespace assay
