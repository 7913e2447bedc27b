// JUnit XML.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "reports/gate/ci.h"
#include "reports/gate/gate_report.h"
#include "reports/text.h"
#include "results/cell.h"

namespace assay::gate {
namespace {

// Text fit for XML 1.0: what controls a terminal has no place in it either.
std::string escaped(const std::string& outside) {
  std::string text;
  for (const char letter : clean(outside)) {
    switch (letter) {
      case '&':
        text += "&amp;";
        break;
      case '<':
        text += "&lt;";
        break;
      case '>':
        text += "&gt;";
        break;
      case '"':
        text += "&quot;";
        break;
      default:
        text += letter;
    }
  }
  return text;
}

std::string property(const std::string& name, const std::string& value) {
  return "        <property name=\"" + escaped(name) + "\" value=\"" + escaped(value) + "\"/>\n";
}

std::string property(const std::string& name, const std::optional<double>& value) {
  return value ? property(name, write_number(*value)) : "";
}

enum class Outcome { passed, failure, error, skipped };

Outcome outcome_of(const MetricVerdict& one, const GateRules& rules) {
  switch (one.verdict) {
    case Verdict::broken:
    case Verdict::slower:
      return Outcome::failure;
    case Verdict::incomparable:
      return one.new_metric && rules.no_baseline_records ? Outcome::skipped : Outcome::error;
    case Verdict::unfit:
      return Outcome::error;
    case Verdict::inconclusive:
      return Outcome::skipped;
    case Verdict::faster:
    case Verdict::ok:
      return Outcome::passed;
  }
  return Outcome::error;
}

std::string line_of(const MetricVerdict& one) {
  return fmt::format("{}: before {}, after {}, worse by {}{}", text(one.verdict), show(middle(one.before, one.unit)),
                     show(middle(one.after, one.unit)), show(worse_by(one)),
                     remark(one).empty() ? "" : "; " + remark(one));
}

// Schemas of JUnit want seconds without an exponent.
std::string seconds_of(const MetricVerdict& one) {
  return one.unit == "s" && one.after.middle ? fmt::format("{:.9f}", *one.after.middle) : "0";
}

std::string properties_of(const MetricVerdict& one) {
  std::string text = "      <properties>\n" + property("verdict", assay::gate::text(one.verdict)) +
                     property("unit", one.unit) + property("before", one.before.middle) +
                     property("after", one.after.middle);
  if (one.estimate)
    text += property("worse_by", std::expm1(one.estimate->shift)) +
            property("at_least", std::expm1(one.estimate->at_least)) +
            property("at_most", std::expm1(one.estimate->at_most)) +
            property("would_show", std::expm1(one.estimate->smallest_found));
  return text + "      </properties>\n";
}

std::string case_of(const MetricVerdict& one, const GateRules& rules) {
  const std::string name = one.key.metric == "seconds" ? one.key.case_name : one.key.case_name + " " + one.key.metric;
  const std::string device = one.key.device.empty() ? "all" : one.key.device;
  const std::string rank = one.key.rank > 0 ? fmt::format("rank{}.", one.key.rank) : "";
  std::string xml = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{}\">\n",
                                escaped("assay." + rank + device), escaped(device + " " + name), seconds_of(one)) +
                    properties_of(one);
  const std::string message = escaped(line_of(one)), type = text(one.verdict);
  switch (outcome_of(one, rules)) {
    case Outcome::failure:
      xml += "      <failure message=\"" + message + "\" type=\"" + type + "\">" + message + "</failure>\n";
      break;
    case Outcome::error:
      xml += "      <error message=\"" + message + "\" type=\"" + type + "\">" + message + "</error>\n";
      break;
    case Outcome::skipped:
      xml += "      <skipped message=\"" + message + "\"/>\n";
      break;
    case Outcome::passed:
      break;
  }
  return xml + "      <system-out>" + message + "</system-out>\n    </testcase>\n";
}

struct Counts {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

void add(Counts& counts, Outcome outcome) {
  ++counts.tests;
  counts.failures += outcome == Outcome::failure ? 1 : 0;
  counts.errors += outcome == Outcome::error ? 1 : 0;
  counts.skipped += outcome == Outcome::skipped ? 1 : 0;
}

std::string missing_case(const std::string& pattern) {
  const std::string message = escaped("named in the file of metrics, but not measured: " + pattern);
  return "    <testcase classname=\"assay.metrics\" name=\"" + escaped(pattern) +
         "\" time=\"0\">\n      <error message=\"" + message + "\" type=\"INCOMPARABLE\">" + message +
         "</error>\n    </testcase>\n";
}

std::string fit_case(const FitVerdict& one) {
  const std::string message = escaped(one.reason);
  std::string xml =
      "    <testcase classname=\"assay.fit\" name=\"" + escaped("fit on " + one.device) + "\" time=\"0\">\n";
  if (one.verdict == Verdict::broken)
    xml += "      <failure message=\"" + message + "\" type=\"BROKEN\">" + message + "</failure>\n";
  if (one.verdict == Verdict::inconclusive) xml += "      <skipped message=\"" + message + "\"/>\n";
  return xml + "      <system-out>" + message + "</system-out>\n    </testcase>\n";
}

}  // namespace

std::string junit(const Gate& gate, const GateRules& rules) {
  Counts counts;
  std::string cases;
  const auto take = [&](const MetricVerdict& one) {
    cases += case_of(one, rules);
    add(counts, outcome_of(one, rules));
  };
  if (gate.together) take(*gate.together);
  for (const MetricVerdict& one : gate.metrics)
    if (one.gated) take(one);
  for (const FitVerdict& one : gate.fits) {
    cases += fit_case(one);
    add(counts, one.verdict == Verdict::broken         ? Outcome::failure
                : one.verdict == Verdict::inconclusive ? Outcome::skipped
                                                       : Outcome::passed);
  }
  for (const std::string& pattern : gate.missing) {
    cases += missing_case(pattern);
    add(counts, Outcome::error);
  }
  const std::string numbers = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", counts.tests,
                                          counts.failures, counts.errors, counts.skipped);
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites " + numbers + ">\n  <testsuite name=\"assay gate\" " +
         numbers + " time=\"0\">\n" + cases + "    <system-out>" + escaped(summary(gate, rules)) +
         "</system-out>\n  </testsuite>\n</testsuites>\n";
}

}  // namespace assay::gate
