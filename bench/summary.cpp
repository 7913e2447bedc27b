// Counts cases, picks the best of each kind and sets them in a table.
// SPDX-License-Identifier: Apache-2.0
#include "bench/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "bench/figures.h"
#include "bench/session.h"

namespace assay {
namespace {

constexpr std::size_t complaints_shown = 8;

using CaseKey = std::tuple<std::string, std::string, int>;

std::map<CaseKey, std::vector<Row>> by_case(const std::vector<Row>& rows) {
  std::map<CaseKey, std::vector<Row>> cases;
  for (const Row& row : rows) cases[{row.device, row.case_name, row.repetition}].push_back(row);
  return cases;
}

bool is_share_of_a_limit(const std::string& metric) { return metric.find("_utilisation") != std::string::npos; }

// The best row of each family, precision and metric of a device, in the order in which the families were measured.
std::vector<Row> best_of(const std::vector<Row>& rows, const std::string& device) {
  std::vector<Row> best;
  for (const auto& [key, of_case] : by_case(rows)) {
    if (std::get<0>(key) != device || worst(of_case) != Status::ok) continue;
    const Row* row = headline(of_case);
    if (row == nullptr || row->better.empty()) continue;
    if (row->family == "derived" && !is_share_of_a_limit(row->metric)) continue;  // the rest has no best
    const auto same = std::find_if(best.begin(), best.end(), [&](const Row& other) {
      return other.family == row->family && other.precision == row->precision && other.metric == row->metric;
    });
    if (same == best.end())
      best.push_back(*row);
    else if (row->better == "higher" ? *row->value > *same->value : *row->value < *same->value)
      *same = *row;
  }
  std::stable_sort(best.begin(), best.end(), [](const Row& a, const Row& b) { return a.family < b.family; });
  return best;
}

std::string complaints(const std::vector<Row>& rows) {
  std::string text;
  std::size_t found = 0;
  for (const auto& [key, of_case] : by_case(rows)) {
    const Status status = worst(of_case);
    if (status != Status::failed && status != Status::mistrusted) continue;
    if (++found > complaints_shown) continue;
    const auto row = std::find_if(of_case.begin(), of_case.end(), [&](const Row& one) { return one.status == status; });
    text += fmt::format("{}: {} {}: {}\n", assay::text(status), std::get<0>(key), std::get<1>(key), row->reason);
  }
  if (found > complaints_shown) text += fmt::format("and {} more in results.csv\n", found - complaints_shown);
  return text;
}

}  // namespace

Tally tally(const std::vector<Row>& rows) {
  Tally tally;
  for (const auto& one : by_case(rows)) {
    switch (worst(one.second)) {
      case Status::ok:
        ++tally.ok;
        break;
      case Status::skipped:
        ++tally.skipped;
        break;
      case Status::failed:
        ++tally.failed;
        break;
      case Status::mistrusted:
        ++tally.mistrusted;
        break;
    }
  }
  return tally;
}

int exit_code(const Tally& tally) {
  if (tally.failed + tally.mistrusted > 0) return 1;
  return tally.ok > 0 ? 0 : 2;
}

std::string summary(const std::vector<Row>& rows, const std::vector<DeviceInfo>& devices) {
  const Tally counts = tally(rows);
  std::string text = fmt::format("{} ok, {} skipped, {} failed, {} mistrusted\n", counts.ok, counts.skipped,
                                 counts.failed, counts.mistrusted);
  for (const DeviceInfo& device : devices) {
    const auto best = best_of(rows, device.id);
    if (best.empty()) continue;
    text += fmt::format("\n{}  {}, the best of each:\n", device.id, device.name);
    for (const Row& row : best)
      text += fmt::format("  {:<11} {:<9} {:>15}  {}\n", row.family, row.precision, figure(*row.value, row.unit),
                          row.case_name);
  }
  const std::string wrong = complaints(rows);
  if (!wrong.empty()) text += "\n" + wrong;
  return text;
}

}  // namespace assay
