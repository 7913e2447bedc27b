// The certificate as one static page.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <string_view>

#include "reports/accept/certificate.h"
#include "reports/phrase.h"

namespace assay {
namespace {

constexpr std::string_view style = R"css(
:root{color-scheme:light}
body{font:13px/1.4 system-ui,sans-serif;color:#1b1b1b;background:#fff;max-width:62rem;margin:1.2rem auto;padding:0 1rem}
header{border-bottom:2px solid #1b1b1b;margin-bottom:.8rem;padding-bottom:.6rem}
h1{font-size:1.35rem;margin:0 0 .3rem}
h2{font-size:1rem;margin:1rem 0 .3rem}
.seal{display:inline-block;font-weight:700;font-size:1.05rem;padding:.1rem .7rem;border:2px solid;border-radius:.3rem;margin-right:.6rem}
.pass{color:#14632b}.warn{color:#7a4b00}.fail{color:#a11111}.unknown{color:#444}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.2rem .5rem .2rem 0;border-bottom:1px solid #ddd}
th{font-weight:600;border-bottom:1px solid #888}
td{overflow-wrap:anywhere}
td.word{font-weight:700;white-space:nowrap}
.small{font-size:.85em;color:#444}
code{font-size:.9em;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .8rem;margin:0}
dt{color:#444}dd{margin:0;overflow-wrap:anywhere}
@media print{body{margin:0;max-width:none;font-size:10px}tr,header{break-inside:avoid}@page{size:A4;margin:12mm}}
)css";

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    switch (letter) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += letter;
    }
  }
  return safe;
}

std::string or_unknown(const std::string& text) { return text.empty() ? "unknown" : escaped(text); }

std::string sign_of(const std::string& outcome) {
  if (outcome == "pass") return "✓ pass";
  if (outcome == "warn") return "! warn";
  if (outcome == "fail") return "✗ fail";
  return "? unknown";
}

std::string header(const Certificate& certificate) {
  const std::string verdict = certificate.fact("verdict");
  const std::string claim = certificate.fact("claim");
  return fmt::format(
      "<header><h1>Acceptance certificate</h1>\n<p><span class=\"seal {0}\">{1}</span> grade: <b>{2}</b> "
      "<span class=\"small\">({3})</span></p>\n<p>{4}</p>\n<p>Claim: <b>{5}</b></p></header>\n",
      escaped(verdict), sign_of(verdict), escaped(certificate.fact("grade")), escaped(certificate.fact("grade_reason")),
      escaped(certificate.fact("sentence")), claim.empty() ? "none given" : escaped(claim));
}

std::string device_table(const Certificate& certificate) {
  if (certificate.devices.empty()) return "<p>The run holds no card; only the host was looked at.</p>\n";
  std::string html =
      "<h2>What is there</h2>\n<table><thead><tr><th>Card</th><th>Name</th><th>Units</th><th>Memory</th><th>Products "
      "(bf16)</th><th>Memory rate</th><th>From host</th><th>Serial</th></tr></thead><tbody>\n";
  for (const CertifiedDevice& device : certificate.devices) {
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td "
        "class=\"small\">{}</td></tr>\n",
        escaped(device.id), escaped(device.name), or_unknown(device.units), or_unknown(device.memory),
        or_unknown(device.products), or_unknown(device.bandwidth), or_unknown(device.host_copy),
        or_unknown(device.unique_id));
  }
  return html + "</tbody></table>\n";
}

std::string findings_table(const Certificate& certificate) {
  std::string rows;
  for (const Certificate::Line& line : certificate.lines) {
    if (line.outcome != "fail" && line.outcome != "warn") continue;
    rows += fmt::format(
        "<tr><td class=\"word {0}\">{1}</td><td>{2}<br><span class=\"small\">{3}</span></td><td>{4}<br><span "
        "class=\"small\">{5}</span></td><td class=\"small\">{6}; {7}<br><code>{8}</code></td></tr>\n",
        line.outcome, sign_of(line.outcome), escaped(line.rule), escaped(line.subject), escaped(line.value),
        escaped(line.evidence), escaped(line.threshold), escaped(line.advice), escaped(line.repeat));
  }
  if (rows.empty()) return "<h2>Findings</h2>\n<p>Nothing failed and nothing is to be warned of.</p>\n";
  return "<h2>Findings</h2>\n<table><thead><tr><th>Outcome</th><th>Rule</th><th>Found</th><th>Threshold, advice, and "
         "the command that repeats it</th></tr></thead><tbody>\n" +
         rows + "</tbody></table>\n";
}

// The rules of one outcome, each once, with the number of cards it is about.
std::string listed(const Certificate& certificate, const std::string& outcome, const std::string& title) {
  std::vector<std::string> order;
  std::map<std::string, int> counts;
  std::map<std::string, std::string> reasons;
  for (const Certificate::Line& line : certificate.lines) {
    if (line.outcome != outcome) continue;
    if (counts[line.rule]++ == 0) order.push_back(line.rule);
    reasons[line.rule] = line.evidence;
  }
  if (order.empty()) return "";
  std::vector<std::string> parts;
  for (const std::string& rule : order) {
    std::string part = "<span title=\"" + escaped(reasons[rule]) + "\">" + escaped(rule) + "</span>";
    if (counts[rule] > 1) part += fmt::format(" ×{}", counts[rule]);
    parts.push_back(part);
  }
  return fmt::format("<h2>{} ({})</h2>\n<p class=\"small\">{}</p>\n", title, order.size(), joined(parts));
}

std::string footer(const Certificate& certificate) {
  std::string html = "<h2>Proof</h2>\n<dl class=\"small\">\n";
  const auto line = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) html += "<dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd>\n";
  };
  line("Run", certificate.fact("run"));
  line("Host", joined({certificate.fact("host"), certificate.fact("distribution"), certificate.fact("kernel")}));
  line("Measured", certificate.fact("started_utc") + " to " + certificate.fact("ended_utc"));
  line("Program", certificate.fact("program"));
  for (const auto& [name, sum] : certificate.files) line("SHA-256 of " + name, sum);
  line("SHA-256 of the JSON", stated_checksum(certificate_json(certificate)));
  return html +
         "</dl>\n<p class=\"small\">Screening finds what is plainly wrong; standard measures for longer; qualification "
         "loads the machine for 15 minutes or more. A fact that the platform hides is unknown: it neither passes nor "
         "fails. The JSON of the same name holds every threshold with its source; <code>assay accept --verify "
         "FILE.json</code> checks it, <code>assay accept --explain RULE</code> says more of a rule.</p>\n";
}

}  // namespace

std::string certificate_page(const Certificate& certificate) {
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
         "content=\"width=device-width\">\n<title>Acceptance: " +
         escaped(certificate.fact("verdict")) + "</title>\n<style>" + std::string(style) + "</style></head><body>\n" +
         header(certificate) + device_table(certificate) + findings_table(certificate) +
         listed(certificate, "unknown", "Not known") + listed(certificate, "pass", "Passed") + footer(certificate) +
         "</body></html>\n";
}

}  // namespace assay
