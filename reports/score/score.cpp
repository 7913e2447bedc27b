// Errors, their percentiles, and the two ways of printing them.
// SPDX-License-Identifier: Apache-2.0
#include "reports/score/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "reports/predict/memory.h"

namespace assay::score {
namespace {

// Of sorted values; between neighbours by the distance (type 7 of Hyndman and Fan).
double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Group summed(const std::string& kind, const std::string& quantity, const std::string& source,
             const std::vector<const Scored*>& members) {
  Group group{kind, quantity, source};
  group.rows = members.size();
  std::vector<double> off, signed_off, widths;
  std::size_t covered = 0;
  for (const Scored* one : members) {
    const auto error = one->error();
    if (!error) continue;
    off.push_back(std::abs(*error));
    signed_off.push_back(*error);
    widths.push_back((*one->upper - *one->lower) / *one->predicted);
    if (*one->measured >= *one->lower && *one->measured <= *one->upper) ++covered;
  }
  group.judged = off.size();
  if (off.empty()) return group;
  std::sort(off.begin(), off.end());
  std::sort(signed_off.begin(), signed_off.end());
  std::sort(widths.begin(), widths.end());
  group.median = quantile(off, 0.5);
  group.ninth = quantile(off, 0.9);
  group.worst = off.back();
  group.bias = quantile(signed_off, 0.5);
  group.covered = static_cast<double>(covered) / static_cast<double>(off.size());
  group.width = quantile(widths, 0.5);
  return group;
}

std::string percent(double share) { return fmt::format("{:.1f}", 100 * share); }

// Reasons, each with the number of its rows.
std::map<std::string, std::size_t> reasons(const std::vector<Scored>& all) {
  std::map<std::string, std::size_t> counts;
  for (const Scored& one : all)
    if (!one.reason.empty()) ++counts[one.reason];
  return counts;
}

}  // namespace

std::optional<double> Scored::error() const {
  if (!measured || !predicted || !(*measured > 0)) return std::nullopt;
  return *predicted / *measured - 1;
}

namespace {

Scored speed_score(const Case& row) {
  Scored result;
  result.row = row;
  const auto found = speed_of(row);
  if (const auto* reason = std::get_if<std::string>(&found)) {
    result.reason = *reason;
    return result;
  }
  const auto& speed = std::get<SpeedCase>(found);
  const double width = predict::speed_half_width(speed.setting);
  result.measured = speed.measured;
  result.predicted = predicted_rate(speed);
  result.lower = *result.predicted * (1 - width);
  result.upper = *result.predicted * (1 + width);
  return result;
}

}  // namespace

Scored score(const Case& row) {
  Scored result;
  result.row = row;
  if (row.measured == "tokens_per_s" || row.measured == "samples_per_s") return speed_score(row);
  const auto setting = setting_of(row);
  if (const auto* reason = std::get_if<std::string>(&setting)) {
    result.reason = *reason;
    return result;
  }
  const predict::Memory memory = predict::predict_memory(std::get<predict::Setting>(setting));
  if (!memory.judged()) {
    result.reason = memory.reason;
    return result;
  }
  result.measured = bytes_of(row);
  result.predicted = memory.bytes();
  result.lower = memory.lower;
  result.upper = memory.upper;
  return result;
}

std::vector<Group> groups(const std::vector<Scored>& all) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<const Scored*>> members;
  for (const Scored& one : all) {
    members[{one.row.kind, one.row.measured, "all"}].push_back(&one);
    members[{one.row.kind, one.row.measured, one.row.source()}].push_back(&one);
    if (one.row.kind != "train") continue;
    // Full training and adapters have bars of their own.
    const bool adapters =
        one.row.technique.find("lora") != std::string::npos || one.row.technique.starts_with("adapter");
    members[{one.row.kind, one.row.measured, adapters ? "all adapters" : "all full"}].push_back(&one);
  }
  std::vector<Group> found;
  for (const auto& [key, rows] : members)
    found.push_back(summed(std::get<0>(key), std::get<1>(key), std::get<2>(key), rows));
  return found;
}

double judged_share(const std::vector<Scored>& all) {
  std::size_t able = 0, judged = 0;
  for (const Scored& one : all) {
    if (!one.row.has_architecture()) continue;
    ++able;
    if (one.predicted) ++judged;
  }
  return able == 0 ? 1 : static_cast<double>(judged) / static_cast<double>(able);
}

std::string table(const std::vector<Scored>& all, bool each_row) {
  std::string text = "kind   quantity       source       rows judged median   p90  worst   bias  in % width\n";
  for (const Group& group : groups(all)) {
    text += fmt::format("{:<6} {:<14} {:<12} {:>4} {:>6}", group.kind, group.quantity, group.source, group.rows,
                        group.judged);
    if (group.judged > 0)
      text += fmt::format(" {:>6} {:>5} {:>6} {:>6} {:>5} {:>5}", percent(group.median), percent(group.ninth),
                          percent(group.worst), percent(group.bias), percent(group.covered), percent(group.width));
    text += '\n';
  }
  text +=
      fmt::format("\nErrors in percent of the measured value. Judged: {} % of the rows that carry an architecture.\n",
                  percent(judged_share(all)));
  for (const auto& [reason, count] : reasons(all)) text += fmt::format("{:>5} not judged: {}\n", count, reason);
  if (!each_row) return text;
  text += '\n';
  for (const Scored& one : all) {
    if (const auto error = one.error())
      text += fmt::format("{}: measured {:.6g}, predicted {:.6g} ({:.6g} to {:.6g}), {:+.1f} %\n", one.row.id,
                          *one.measured, *one.predicted, *one.lower, *one.upper, 100 * *error);
    else
      text += fmt::format("{}: not judged, {}\n", one.row.id, one.reason);
  }
  return text;
}

std::string json(const std::vector<Scored>& all, bool each_row) {
  nlohmann::ordered_json document;
  document["judged_share"] = judged_share(all);
  auto& list = document["groups"] = nlohmann::ordered_json::array();
  for (const Group& group : groups(all)) {
    nlohmann::ordered_json one = {{"kind", group.kind},
                                  {"quantity", group.quantity},
                                  {"source", group.source},
                                  {"rows", group.rows},
                                  {"judged", group.judged}};
    if (group.judged > 0) {
      one["median_error"] = group.median;
      one["ninetieth_percentile_error"] = group.ninth;
      one["worst_error"] = group.worst;
      one["median_signed_error"] = group.bias;
      one["inside_interval"] = group.covered;
      one["interval_width"] = group.width;
    }
    list.push_back(one);
  }
  for (const auto& [reason, count] : reasons(all)) document["not_judged"][reason] = count;
  if (each_row) {
    auto& rows = document["rows"] = nlohmann::ordered_json::array();
    for (const Scored& one : all) {
      nlohmann::ordered_json row = {{"id", one.row.id}};
      if (one.predicted && one.measured) {
        row["unit"] = bytes_of(one.row) ? "bytes" : "tokens/s";
        row["measured"] = *one.measured;
        row["predicted"] = *one.predicted;
        row["lower"] = *one.lower;
        row["upper"] = *one.upper;
      } else {
        row["reason"] = one.reason;
      }
      rows.push_back(row);
    }
  }
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace assay::score
