// OpenMetrics text.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>

#include "reports/gate/ci.h"
#include "reports/gate/gate_report.h"
#include "reports/text.h"
#include "results/cell.h"

namespace assay::gate {
namespace {

std::string escaped(const std::string& outside) {
  std::string text;
  for (const char letter : clean(outside)) {
    if (letter == '\\' || letter == '"') text += '\\';
    text += letter;
  }
  return text;
}

std::string labels(const MetricVerdict& one) {
  return "device=\"" + escaped(one.key.device.empty() ? "all" : one.key.device) + "\",rank=\"" +
         std::to_string(one.key.rank) + "\",case=\"" + escaped(one.key.case_name) + "\",metric=\"" +
         escaped(one.key.metric) + "\",gated=\"" + (one.gated ? "yes" : "no") + "\"";
}

using Value = std::function<std::optional<double>(const MetricVerdict&)>;

// One family: nothing where no metric has a value.
std::string family(const Gate& gate, const std::string& name, const std::string& unit, const std::string& help,
                   const Value& value, const std::function<std::string(const MetricVerdict&)>& more = {}) {
  std::string samples;
  const auto take = [&](const MetricVerdict& one) {
    const auto number = value(one);
    if (!number || !std::isfinite(*number)) return;
    samples += name + "{" + labels(one) + (more ? "," + more(one) : "") + "} " + write_number(*number) + "\n";
  };
  if (gate.together) take(*gate.together);
  for (const MetricVerdict& one : gate.metrics) take(one);
  if (samples.empty()) return "";
  return "# TYPE " + name + " gauge\n" + (unit.empty() ? "" : "# UNIT " + name + " " + unit + "\n") + "# HELP " + name +
         " " + help + "\n" + samples;
}

Value estimated(double Estimate::*field) {
  return [field](const MetricVerdict& one) -> std::optional<double> {
    if (!one.estimate) return std::nullopt;
    return std::expm1(*one.estimate.*field);
  };
}

Value middle_in(SideValues MetricVerdict::*side, ReportUnit unit) {
  return [side, unit](const MetricVerdict& one) -> std::optional<double> {
    if (report_unit(one.unit) != unit) return std::nullopt;
    return (one.*side).middle;
  };
}

}  // namespace

std::string openmetrics(const Gate& gate, const GateRules& rules) {
  std::string text =
      "# TYPE assay_gate_exit_code gauge\n"
      "# HELP assay_gate_exit_code 0 passed, 1 something is slower or broken, 2 no verdict.\n"
      "assay_gate_exit_code " +
      std::to_string(exit_code_of(gate, rules)) + "\n";
  text += family(
      gate, "assay_gate_verdict", "", "1 for the verdict of each metric.", [](const MetricVerdict&) { return 1.0; },
      [](const MetricVerdict& one) { return "verdict=\"" + assay::gate::text(one.verdict) + "\""; });
  text += family(gate, "assay_gate_worse_by_ratio", "ratio", "How much worse it became; above 0 is worse.",
                 estimated(&Estimate::shift));
  text += family(gate, "assay_gate_worse_at_least_ratio", "ratio", "Lower bound of that, one-sided 99 %.",
                 estimated(&Estimate::at_least));
  text += family(gate, "assay_gate_worse_at_most_ratio", "ratio", "Upper bound of that, one-sided 95 %.",
                 estimated(&Estimate::at_most));
  text += family(gate, "assay_gate_would_show_ratio", "ratio", "The slowdown that these data find nine times in ten.",
                 estimated(&Estimate::smallest_found));
  for (const auto& [unit, name] : {std::pair{ReportUnit::seconds, "seconds"}, std::pair{ReportUnit::bytes, "bytes"}}) {
    text += family(gate, std::string("assay_gate_before_") + name, name, "Median of the runs before.",
                   middle_in(&MetricVerdict::before, unit));
    text += family(gate, std::string("assay_gate_after_") + name, name, "Median of the runs after.",
                   middle_in(&MetricVerdict::after, unit));
  }
  return text + "# EOF\n";
}

}  // namespace assay::gate
