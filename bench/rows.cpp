// Fills the columns of timed rows, rates and facts.
// SPDX-License-Identifier: Apache-2.0
#include "bench/rows.h"

#include <algorithm>
#include <variant>

#include "bench/statistics.h"

namespace assay {

namespace {

void set_spread(Row& row, const std::vector<double>& samples) {
  row.value = median(samples);
  if (const auto interval = interval_95(samples)) {
    row.lower = interval->lower;
    row.upper = interval->upper;
  }
  row.minimum = quantile(samples, 0);
  row.quartile1 = quantile(samples, 0.25);
  row.quartile3 = quantile(samples, 0.75);
  row.maximum = quantile(samples, 1);
}

std::optional<double> divided(double amount, std::optional<double> seconds) {
  if (!seconds || !(*seconds > 0)) return std::nullopt;
  return amount / *seconds;
}

// `amount` per second: the fastest sample gives the largest rate, so the ends change places.
Row rate_row(const Row& seconds, const std::string& metric, const std::string& unit, double amount) {
  Row row = seconds;
  row.metric = metric;
  row.unit = unit;
  row.better = "higher";
  row.value = divided(amount, seconds.value);
  row.lower = divided(amount, seconds.upper);
  row.upper = divided(amount, seconds.lower);
  row.minimum = divided(amount, seconds.maximum);
  row.quartile1 = divided(amount, seconds.quartile3);
  row.quartile3 = divided(amount, seconds.quartile1);
  row.maximum = divided(amount, seconds.minimum);
  return row;
}

// Seconds of one of the `count` equal parts of an execution.
Row share_row(const Row& seconds, const std::string& metric, double count) {
  Row row = seconds;
  row.metric = metric;
  for (std::optional<double>* field :
       {&row.value, &row.lower, &row.upper, &row.minimum, &row.quartile1, &row.quartile3, &row.maximum}) {
    if (*field) **field /= count;
  }
  return row;
}

// A product of so few rows is a read of its weights; people want to know how fast.
bool bound_by_memory(const Gemm& gemm) { return std::min(gemm.m, gemm.n) <= 32; }

std::vector<Row> rates(const Case& item, const Row& seconds, const Quantities& amounts) {
  std::vector<Row> rows;
  const auto flops_rate = [&] {
    if (amounts.flops) rows.push_back(rate_row(seconds, "flops_per_second", "flop/s", *amounts.flops));
  };
  const auto bytes_rate = [&] {
    if (amounts.bytes) rows.push_back(rate_row(seconds, "bytes_per_second", "B/s", *amounts.bytes));
  };
  if (item.work.steps.size() > 1) {
    flops_rate();
    if (item.tokens > 0) {
      rows.push_back(rate_row(seconds, "tokens_per_second", "token/s", static_cast<double>(item.tokens)));
    }
    if (!item.token_metric.empty()) rows.push_back(share_row(seconds, item.token_metric, 1));
    return rows;
  }
  const Op& op = item.work.steps.front().op;
  if (const auto* gemm = std::get_if<Gemm>(&op)) {
    flops_rate();
    if (bound_by_memory(*gemm)) bytes_rate();
  } else if (std::holds_alternative<Issue>(op)) {
    flops_rate();
  } else if (const auto* chase = std::get_if<Chase>(&op)) {
    rows.push_back(share_row(seconds, "seconds_per_load", static_cast<double>(chase->loads)));
  } else if (const auto* launch = std::get_if<Launch>(&op)) {
    rows.push_back(share_row(seconds, "seconds_per_launch", static_cast<double>(launch->count)));
  } else {
    bytes_rate();
  }
  return rows;
}

}  // namespace

Row identity(const Case& item, const DeviceInfo& device) {
  Row row;
  row.case_name = item.name;
  row.family = item.family;
  row.backend = device.backend;
  row.device = device.id;
  row.device_name = device.name;
  row.device_id = device.unique_id;
  row.scope = "alone";
  if (item.work.steps.size() == 1) row.op = text(item.work.steps.front().op);
  row.precision = item.precision;
  row.cache = item.cache;
  row.phase = item.phase;
  row.variant = item.variant;
  if (!item.work.steps.empty()) row.data = text(item.data);
  return row;
}

Quantities quantities(const Case& item, const Choice& choice) {
  Quantities amounts;
  if (item.work.steps.empty()) return amounts;
  const Cost total = cost(item.work);
  const Op& first = item.work.steps.front().op;
  if (std::holds_alternative<Launch>(first)) return amounts;
  const double flops = choice.flops.value_or(total.flops);
  if (flops > 0) amounts.flops = flops;
  // A copy is known by the bytes that travelled, not by what its two ends touched.
  const double bytes = total.bytes_wire > 0 ? total.bytes_wire : total.bytes_read + total.bytes_written;
  if (bytes > 0) amounts.bytes = bytes;
  return amounts;
}

std::vector<Row> timed_rows(const Case& item, const Row& base, const Sampled& sampled, const Quantities& amounts) {
  Row seconds = base;
  seconds.metric = "seconds";
  seconds.unit = "s";
  seconds.better = "lower";
  set_spread(seconds, sampled.seconds);
  seconds.samples = static_cast<std::int64_t>(sampled.seconds.size());
  seconds.executions = sampled.executions;
  seconds.stop = sampled.stop;
  seconds.flops = amounts.flops;
  seconds.bytes = amounts.bytes;
  std::vector<Row> rows = rates(item, seconds, amounts);
  rows.insert(rows.begin(), seconds);
  return rows;
}

Row fact_row(const Row& base, const Fact& fact) {
  Row row = base;
  row.metric = fact.name;
  row.unit = fact.unit;
  row.method = fact.source;
  row.value = fact.value;
  row.reason = fact.reason;
  if (fact.value) return row;
  if (!fact.text.empty()) {
    row.reason = fact.reason.empty() ? fact.text : fact.text + "; " + fact.reason;
    return row;
  }
  row.status = Status::skipped;
  if (row.reason.empty()) row.reason = "could not be found out";
  return row;
}

Row plain_row(const Row& base, const std::string& metric, double value, const std::string& unit,
              const std::string& better) {
  Row row = base;
  row.metric = metric;
  row.value = value;
  row.unit = unit;
  row.better = better;
  return row;
}

std::string joined(const std::vector<std::string>& flags) {
  std::vector<std::string> seen;
  std::string all;
  for (const std::string& flag : flags) {
    if (std::find(seen.begin(), seen.end(), flag) != seen.end()) continue;
    seen.push_back(flag);
    all += (all.empty() ? "" : ",") + flag;
  }
  return all;
}

}  // namespace assay
