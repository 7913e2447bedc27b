// A certificate as a Report, for the terminal and for Markdown.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdlib>
#include <map>

#include "reports/accept/certificate.h"
#include "reports/phrase.h"

namespace assay {
namespace {

Severity severity_of(const std::string& verdict) {
  if (verdict == "fail") return Severity::problem;
  if (verdict == "pass") return Severity::good;
  return Severity::warning;
}

// Rules that found the same on several cards are one finding.
std::vector<Finding> findings(const Certificate& certificate) {
  std::vector<Finding> list;
  std::map<std::string, std::size_t> seen;
  for (const Certificate::Line& line : certificate.lines) {
    if (line.outcome != "fail" && line.outcome != "warn") continue;
    const auto [place, first] = seen.try_emplace(line.outcome + line.rule, list.size());
    if (!first) {
      list[place->second].sentence += ", " + line.subject;
      continue;
    }
    list.push_back({line.outcome == "fail" ? Severity::problem : Severity::warning,
                    line.rule + (line.outcome == "fail" ? " failed: " : ": ") + line.evidence + ". On " + line.subject,
                    "\"" + line.title + "\" " + line.threshold, line.repeat});
  }
  for (Finding& finding : list) finding.sentence += '.';
  return list;
}

Table rule_table(const Certificate& certificate) {
  Table table{"rules", "Every rule that applies", {"Outcome", "Rule", "On", "Found", "Threshold", "Evidence"}, {}, ""};
  for (const Certificate::Line& line : certificate.lines)
    table.rows.push_back({line.outcome, line.rule, line.subject, line.value, line.threshold, line.evidence});
  table.note = "assay accept --explain RULE says why a rule is there, and where its threshold comes from.";
  return table;
}

}  // namespace

Report acceptance_report(const Certificate& certificate) {
  Report report;
  report.title = "Acceptance: " + certificate.fact("verdict");
  const std::string claim = certificate.fact("claim");
  report.subtitle = fmt::format("{}; grade {} ({})", claim.empty() ? "no claim given" : "claim: " + claim,
                                certificate.fact("grade"), certificate.fact("grade_reason"));
  const auto count = [&](const char* name) {
    return quantity(std::strtod(certificate.fact(name).c_str(), nullptr), ReportUnit::count);
  };
  report.headline = {{"passed", count("checks_pass")},
                     {"warnings", count("checks_warn")},
                     {"failed", count("checks_fail")},
                     {"not known", count("checks_unknown")}};
  report.findings = findings(certificate);
  report.findings.insert(report.findings.begin(),
                         {severity_of(certificate.fact("verdict")), certificate.fact("sentence"), "", ""});
  Section rules{"rules", "Rules", {}, {rule_table(certificate)}, {}};
  report.sections.push_back(std::move(rules));
  for (const char* name : {"run", "host", "distribution", "kernel", "started_utc", "ended_utc", "program"})
    report.provenance.emplace_back(name, certificate.fact(name));
  for (const auto& [name, sum] : certificate.files) report.provenance.emplace_back("SHA-256 of " + name, sum);
  report.provenance.emplace_back("SHA-256 of the JSON", stated_checksum(certificate_json(certificate)));
  return report;
}

}  // namespace assay
