// Which rows of a run speak for an op: ok, timed, typical, default; cold before hot; the median of repetitions.
// SPDX-License-Identifier: Apache-2.0
#include "reports/rates_rows.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.h"

namespace assay {
namespace {

// Less is better; rows of a lower rank are not looked at where there is one of a better.
int rank_of(const Row& row) {
  const bool typical = row.data.empty() || row.data == "typical";
  const bool usual = row.variant != "best";
  const bool burst = row.phase != "sustained";  // few ops have a sustained rate, and prices must not mix the two
  return (typical ? 0 : 8) + (burst ? 0 : 4) + (usual ? 0 : 2) + (row.cache == "hot" ? 1 : 0);
}

struct Group {
  int rank = 0;
  std::vector<const Row*> rows;
};

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Known summary(const Op& op, const std::vector<const Row*>& rows) {
  Known known;
  known.op = op;
  known.cost = cost(op);
  const Row& first = *rows.front();
  if (first.flops && *first.flops > 0) known.cost.flops = *first.flops;  // only the back end knows an issue's count
  std::vector<double> values;
  known.lower = *first.value;
  known.upper = *first.value;
  for (const Row* row : rows) {
    values.push_back(*row->value);
    known.lower = std::min({known.lower, *row->value, row->lower.value_or(*row->value)});
    known.upper = std::max({known.upper, *row->value, row->upper.value_or(*row->value)});
  }
  known.seconds = middle(values);
  if (!(known.lower > 0)) known.lower = known.seconds;
  known.case_name = first.case_name;
  known.cache = first.cache;
  return known;
}

bool is_timed(const Row& row, const std::string& device) {
  return row.status == Status::ok && row.metric == "seconds" && !row.op.empty() && row.device == device &&
         (row.scope.empty() || row.scope == "alone") && row.value && std::isfinite(*row.value) && *row.value > 0;
}

}  // namespace

bool has_condition(const Row& row, const std::string& condition) {
  const std::string all = "," + row.conditions + ",";
  return all.find("," + condition + ",") != std::string::npos;
}

RateRows rate_rows(const std::vector<Run>& runs, const std::string& device) {
  RateRows result;
  std::map<std::string, Group> groups;  // by the op's text
  for (const Run& run : runs) {
    for (const Row& row : run.rows) {
      if (!is_timed(row, device)) continue;
      if (has_condition(row, "planted")) {
        ++result.planted;
        continue;
      }
      Group& group = groups[row.op];
      const int rank = rank_of(row);
      if (!group.rows.empty() && rank > group.rank) continue;
      if (rank < group.rank) group.rows.clear();
      group.rank = rank;
      group.rows.push_back(&row);
    }
  }
  for (const auto& [op, group] : groups) {
    try {
      result.known.push_back(summary(parse_op(op), group.rows));
    } catch (const Error&) {
      result.unreadable += group.rows.size();  // an op of a later version; it prices nothing here
    }
  }
  return result;
}

}  // namespace assay
