// An append-only record of results: each new one is held against those before it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "reports/gate/gate.h"

namespace assay::gate {

// A metric in a point: the median of its runs.
struct PointValue {
  double value = 0;  // in the metric's own unit
  std::string unit;
  bool less_is_better = true;
  std::size_t starts = 0;
};

// One result: the median of the runs that were given together.
struct Point {
  std::string utc;                // when the last of its runs began
  std::vector<std::string> runs;  // ids
  KeyFields fields;               // what must be equal for another to be comparable
  std::map<Key, PointValue> values;
  bool accepted = true;  // points with an alarm are kept, and are no part of any baseline
};

// DIR/history.jsonl: a line for each point and for each move of the baseline; nothing is ever changed in it.
class History {
 public:
  // Reads what is there; an absent folder is an empty history. Throws BadInput with file and line for a line that is
  // damaged. A torn last line is left out with a remark, as everywhere.
  explicit History(std::filesystem::path folder);

  // The points that count for a result with these fields: those since the last move of the baseline, the newest 20 of
  // them, accepted, and with no difference that is not allowed.
  std::vector<const Point*> baseline(const KeyFields& fields, const Allowance& allowance) const;
  // In what the newest point that is not comparable differs; "" where there is none.
  std::string nearest_difference(const KeyFields& fields, const Allowance& allowance) const;

  void append(const Point& point);  // throws Error where it cannot be written
  // A reviewed decision: what was normal until now is not any more. The newest point, alarm or not, is the first of the
  // new baseline. Throws BadInput where there is no point, or no reason.
  void move_baseline(const std::string& reason, const std::string& utc);

  const std::vector<Point>& points() const { return points_; }
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  void take(std::string_view line, const std::string& place);
  void write(const std::string& line);

  std::filesystem::path folder_;
  std::vector<Point> points_;
  std::size_t first_ = 0;  // the first point of the present baseline
  std::vector<std::string> remarks_;
};

inline constexpr std::size_t most_points = 20;  // of a baseline
inline constexpr std::size_t sure_points = 10;  // with fewer a verdict is provisional

Point point_of(const std::vector<Run>& runs, const GateRules& rules);

// The new result against the baseline: above Student's one-sided 99 % prediction limit, and more than half a bar above
// the middle, is SLOWER; with fewer than 10 points that is provisional, and INCONCLUSIVE. Sets point.accepted.
Gate judge_point(const History& history, const std::vector<Run>& runs, const GateRules& rules, Point& point);

}  // namespace assay::gate
