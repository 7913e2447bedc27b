// Sentences about money.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/money_findings.h"

#include <fmt/format.h>

#include "reports/accept/accept.h"
#include "reports/money.h"
#include "reports/phrase.h"

namespace assay {

std::vector<Finding> money_findings(const Report& report, const std::vector<Run>& runs, double dollars_per_hour) {
  std::vector<Finding> findings;
  const std::string price = fmt::format("{:.2f} USD an hour", dollars_per_hour);
  double seconds = 0;
  for (const Run& run : runs) seconds += run_seconds(run).value_or(0);
  if (seconds > 0) {
    findings.push_back({Severity::info,
                        fmt::format("Measuring cost {:.2f} USD: {} at {}.", seconds / 3600 * dollars_per_hour,
                                    shown(seconds, ReportUnit::seconds), price),
                        "", ""});
  }
  for (const auto& [name, number] : report.headline) {
    if (number.unit != ReportUnit::tokens_per_second || number.value.value_or(0) <= 0) continue;
    const double cost = cost_per_million_tokens(dollars_per_hour, *number.value, MoneyInput{});
    findings.push_back({Severity::info, fmt::format("A million tokens at the {} cost {:.3g} USD.", name, cost),
                        show(number) + " at " + price, ""});
  }
  return findings;
}

}  // namespace assay
