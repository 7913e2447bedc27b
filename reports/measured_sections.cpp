// The order of the measured parts of a report, and what the device was like while they were measured.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "reports/phrase.h"
#include "reports/run_sections.h"
#include "reports/step_sections.h"

namespace assay {
namespace {

struct Span {
  double lowest = 0, highest = 0;
};

void widen(std::optional<Span>& span, const std::optional<double>& value) {
  if (!value) return;
  if (!span) span = Span{*value, *value};
  span->lowest = std::min(span->lowest, *value);
  span->highest = std::max(span->highest, *value);
}

void add_span(Table& table, const std::string& what, const std::optional<Span>& span, ReportUnit unit,
              const std::string& remark) {
  if (span) table.rows.push_back({what, quantity(span->lowest, unit), quantity(span->highest, unit), remark});
}

}  // namespace

Section state_section(const std::vector<Run>& runs, const DeviceInfo& device) {
  std::optional<Span> clock, power, temperature;
  std::map<std::string, std::size_t> throttled;
  for (const Run& run : runs) {
    for (const Row& row : run.rows) {
      if (row.device != device.id) continue;
      widen(clock, row.clock_hertz);
      widen(power, row.power_watts);
      widen(temperature, row.temperature_celsius);
      if (row.metric == "seconds" && !row.throttle.empty() && row.throttle != "none") ++throttled[row.throttle];
    }
  }
  Section section{"state", "The device while it worked", {}, {}, {}};
  Table table{"state", "By its own sensors, over all cases", {"What", "Lowest", "Highest", "Remark"}, {}, ""};
  add_span(table, "clock", clock, ReportUnit::hertz, "of the cores");
  add_span(table, "power", power, ReportUnit::none, "watts");
  add_span(table, "temperature", temperature, ReportUnit::none, "degrees Celsius");
  for (const auto& [reason, cases] : throttled)
    table.rows.push_back(
        {"held back: " + reason, "", quantity(static_cast<double>(cases), ReportUnit::count), "cases"});
  if (!table.rows.empty()) section.tables.push_back(std::move(table));
  return section;
}

std::vector<Section> measured_sections(const std::vector<Run>& runs, const DeviceInfo& device, const Rates& rates) {
  std::vector<Section> sections = {product_section(rates, device), memory_speed_section(rates, device)};
  for (const Section& section :
       {limit_section(runs, device, rates), link_section(runs, device, rates), overhead_section(rates),
        precision_section(runs, device), whole_steps_section(runs, device), step_section(runs, device),
        state_section(runs, device)})
    if (!section.tables.empty() || !section.charts.empty()) sections.push_back(section);
  return sections;
}

}  // namespace assay
