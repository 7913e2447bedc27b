// GitHub's workflow commands and job summary.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "reports/gate/ci.h"
#include "reports/gate/gate_report.h"
#include "reports/phrase.h"
#include "reports/text.h"

namespace assay::gate {
namespace {

constexpr std::size_t most_summary_bytes = (std::size_t{1} << 20) - 4096;
constexpr std::size_t most_named = 5;

// Percent signs and line ends would be taken for escapes and for new commands; a colon ends a property.
std::string escaped(const std::string& outside, bool property) {
  std::string text;
  for (const char letter : clean(outside)) {
    if (letter == '%') {
      text += "%25";
    } else if (property && letter == ':') {
      text += "%3A";
    } else if (property && letter == ',') {
      text += "%2C";
    } else {
      text += letter;
    }
  }
  return text;
}

std::string annotation(const std::string& kind, const std::string& title, const std::string& message) {
  return "::" + kind + " title=" + escaped(title, true) + "::" + escaped(message, false) + "\n";
}

std::string short_line(const MetricVerdict& one) {
  const std::string name = one.key.device.empty() ? one.key.case_name : text(one.key);
  return name + (one.estimate ? " worse by " + show(worse_by(one)) : " (" + one.reason + ")");
}

std::string kind_of(Verdict verdict) {
  if (verdict == Verdict::broken || verdict == Verdict::slower) return "error";
  return verdict == Verdict::faster ? "notice" : "warning";
}

// A table's cell: a bar would end it.
std::string cell(const std::string& outside) {
  std::string text;
  for (const char letter : clean(outside)) {
    if (letter == '|' || letter == '<' || letter == '`' || letter == '*' || letter == '_' || letter == '[')
      text += '\\';
    text += letter;
  }
  return text;
}

}  // namespace

std::string github_annotations(const Gate& gate, const GateRules& rules) {
  std::string lines;
  for (const Verdict verdict : {Verdict::broken, Verdict::slower, Verdict::unfit, Verdict::incomparable,
                                Verdict::inconclusive, Verdict::faster}) {
    std::vector<std::string> named;
    std::size_t found = 0;
    const auto take = [&](const MetricVerdict& one) {
      if (one.verdict != verdict || ++found > most_named) return;
      named.push_back(short_line(one));
    };
    if (gate.together && verdict == Verdict::slower) take(*gate.together);
    for (const MetricVerdict& one : gate.metrics)
      if (one.gated) take(one);
    for (const FitVerdict& one : gate.fits)
      if (one.verdict == verdict && ++found <= most_named) named.push_back(one.reason);
    if (found == 0) continue;
    if (found > most_named) named.push_back(fmt::format("and {} more", found - most_named));
    lines += annotation(kind_of(verdict), fmt::format("Assay: {} {}", found, text(verdict)), joined(named, "; "));
  }
  const int code = exit_code_of(gate, rules);
  return lines + annotation(code == 1 ? "error" : code == 0 ? "notice" : "warning", "Assay gate", summary(gate, rules));
}

std::string github_summary(const Gate& gate, const GateRules& rules) {
  std::string text =
      "## Assay gate: " + outcome(gate, rules) + "\n\n" + cell(summary(gate, rules)) + "\n\n" +
      cell(error_rates(gate, rules)) +
      "\n\n| Verdict | Metric | Before | After | Worse by | Remark |\n| --- | --- | --- | --- | --- | --- |\n";
  std::size_t left = 0;
  const auto take = [&](const MetricVerdict& one) {
    const std::string name = one.key.device.empty() ? one.key.case_name : assay::gate::text(one.key);
    const std::string line = "| " + assay::gate::text(one.verdict) + " | " + cell(name) + " | " +
                             cell(show(middle(one.before, one.unit))) + " | " +
                             cell(show(middle(one.after, one.unit))) + " | " + cell(show(worse_by(one))) + " | " +
                             cell(remark(one)) + " |\n";
    if (text.size() + line.size() > most_summary_bytes) {
      ++left;
    } else {
      text += line;
    }
  };
  if (gate.together) take(*gate.together);
  for (const MetricVerdict& one : gate.metrics)
    if (one.gated) take(one);
  if (left > 0) text += fmt::format("\n{} more rows do not fit here; they are in the report.\n", left);
  for (const Difference& one : gate.differences)
    text += "\n- " + cell(sentence(one)) + (one.allowed ? " (allowed)" : " (not allowed)");
  return text + "\n";
}

}  // namespace assay::gate
