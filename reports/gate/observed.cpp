// Rows to observations.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/observed.h"

#include <algorithm>
#include <array>
#include <set>

#include "reports/rates_rows.h"

namespace assay::gate {
namespace {

// Power caps are normal under load, and a link or a rate that changes may be what the driver did: those are findings.
constexpr std::array unfit_conditions = {"thermal_throttle", "hardware_slowdown", "other_load", "other_process",
                                         "device_lost",      "ecc_errors",        "link_errors"};

std::string load_of(const RunInfo& info) {
  if (const auto label = info.labels.find("driver_load"); label != info.labels.end()) return label->second;
  for (const Fact& fact : info.facts)
    if (fact.name == "boot_id") return fact.text;
  return "";
}

Key key_of(const Row& row) { return {row.rank, row.device, row.case_name, row.metric}; }

// Cases by rank and device: rows that say why there is no number have no metric of their own, or the first one.
using Place = std::tuple<int, std::string, std::string, int>;
Place place_of(const Row& row) { return {row.rank, row.device, row.case_name, row.repetition}; }

// What a start measured, and what it said where it could not.
struct Found {
  std::map<Key, std::vector<const Row*>> rows;
  std::map<Place, const Row*> troubled;
};

Found find(const Start& start) {
  Found found;
  std::set<Place> timed;
  for (const Row& row : start.run->rows)
    if (row.metric == "seconds") timed.insert(place_of(row));
  for (const Row& row : start.run->rows) {
    if (row.repetition != start.repetition) continue;
    if (row.status != Status::ok) found.troubled[place_of(row)] = &row;
    const bool second_hand = row.metric != "seconds" && (timed.count(place_of(row)) != 0 || row.family == "derived");
    if (!better(row).empty() && !second_hand) found.rows[key_of(row)].push_back(&row);
  }
  return found;
}

std::string unfit(const Row& row) {
  for (const char* condition : unfit_conditions)
    if (has_condition(row, condition)) return condition;
  return row.conditions.find("xid_") != std::string::npos ? "xid" : "";
}

std::string sentence(const Row& row) { return text(row.status) + (row.reason.empty() ? "" : ": " + row.reason); }

Observation observed(const std::vector<const Row*>& rows, std::size_t start) {
  Observation one;
  one.start = start;
  one.row = rows.back();
  if (rows.size() > 1) {
    one.trouble = "it is there twice in " + one.row->run;
  } else if (one.row->status != Status::ok) {
    one.trouble = sentence(*one.row);
    one.broken = true;
  } else if (one.row->value.value_or(0) <= 0) {
    one.trouble = one.row->value ? "its value is not positive" : "it has no value";
  } else {
    one.unfit = unfit(*one.row);
    if (one.unfit.empty()) one.value = one.row->value;
  }
  return one;
}

// A run that was cut short says nothing about what it did not reach.
bool cut_short(const Run& run) { return run.info.ending != Ending::complete; }

Observation absent(const Start& start, const Key& key, const std::map<Place, const Row*>& troubled, std::size_t index) {
  Observation one;
  one.start = index;
  const auto said = troubled.find({key.rank, key.device, key.case_name, start.repetition});
  if (said != troubled.end()) {
    one.row = said->second;
    one.trouble = sentence(*one.row);
    one.broken = true;
  } else if (cut_short(*start.run)) {
    one.trouble = "not reached: the run ended early (" + text(start.run->info.ending) + ")";
  } else {
    one.trouble = "gone: the run has no row for it";
    one.broken = true;
  }
  return one;
}

}  // namespace

std::string text(const Key& key) {
  const std::string rank = key.rank > 0 ? "rank " + std::to_string(key.rank) + " " : "";
  return rank + key.device + " " + key.case_name + (key.metric == "seconds" ? "" : " " + key.metric);
}

std::string better(const Row& row) {
  if (row.metric == "seconds" || row.metric == "context_bytes") return "lower";
  if (row.metric == "allocatable_bytes") return "higher";
  return row.better;
}

bool gated_by_default(const std::string& metric) {
  return metric == "seconds" || metric == "allocatable_bytes" || metric == "context_bytes";
}

Side observe(const std::vector<Run>& runs, bool planted_counts) {
  Side side;
  for (const Run& run : runs) {
    std::set<int> repetitions;
    for (const Row& row : run.rows)
      if (row.family != "host") repetitions.insert(row.repetition);
    if (repetitions.empty()) repetitions.insert(0);
    for (const int repetition : repetitions) side.starts.push_back({&run, repetition, load_of(run.info)});
  }
  std::vector<Found> found;
  for (const Start& start : side.starts) found.push_back(find(start));
  std::set<Key> keys;
  for (const Found& one : found)
    for (const auto& [key, rows] : one.rows) keys.insert(key);
  for (const Key& key : keys) {
    std::vector<Observation>& series = side.series[key];
    for (std::size_t start = 0; start < side.starts.size(); ++start) {
      const auto rows = found[start].rows.find(key);
      series.push_back(rows == found[start].rows.end() ? absent(side.starts[start], key, found[start].troubled, start)
                                                       : observed(rows->second, start));
      Observation& last = series.back();
      if (last.row == nullptr || planted_counts || !has_condition(*last.row, "planted")) continue;
      ++side.planted;
      last.value.reset();
      last.broken = false;
      last.planted = true;
      last.trouble = "planted on purpose, so it counts for nothing";
    }
  }
  return side;
}

void complete(Side& one, Side& other) {
  const auto fill = [](Side& side, const Side& from) {
    std::vector<Found> found;
    for (const auto& [key, series] : from.series) {
      if (side.series.count(key) != 0) continue;
      if (found.empty())
        for (const Start& start : side.starts) found.push_back(find(start));
      std::vector<Observation>& made = side.series[key];
      for (std::size_t start = 0; start < side.starts.size(); ++start)
        made.push_back(absent(side.starts[start], key, found[start].troubled, start));
    }
  };
  fill(one, other);
  fill(other, one);
}

}  // namespace assay::gate
