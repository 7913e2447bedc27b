// Rows about steps, from rows about steps and rows about ops.
// SPDX-License-Identifier: Apache-2.0
#include "bench/derived_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "bench/cases.h"
#include "bench/profile.h"
#include "bench/rows.h"

namespace assay {

namespace {

// People notice a pause between words from about here on: eight words a second is what they read at.
constexpr double latency_target = 0.05;  // seconds a token

bool usable(const Row& row) {
  return row.status == Status::ok && row.family != "derived" && row.value && std::isfinite(*row.value) &&
         *row.value > 0;
}

// The works behind the names of cases, by any profile.
std::map<std::string, Work> works_of(const DeviceInfo& device) {
  std::map<std::string, Work> works;
  for (const Profile& each : profiles()) {
    for (Case& item : step_cases(device, each.kind)) {
      if (item.whole_step) works.emplace(item.name, std::move(item.work));
    }
  }
  return works;
}

class Steps {
 public:
  Steps(const std::vector<Row>& rows, const DeviceInfo& device, int repetition) : device_(device) {
    for (const Row& row : rows) {
      if (row.device != device.id || row.repetition != repetition || !usable(row)) continue;
      by_case_[{row.case_name, row.metric}] = &row;
      if (row.metric == "seconds" && !row.op.empty() && row.cache != "cold") {
        const auto [place, fresh] = by_op_.try_emplace(row.op, &row);
        if (!fresh && *row.value < *place->second->value) place->second = &row;
      }
      const bool product = row.family == "gemm" && row.metric == "flops_per_second" &&
                           (row.variant.empty() || row.variant == "default") && row.data == "typical";
      if (product) {
        const Row*& best = best_product_[row.precision];
        if (best == nullptr || *row.value > *best->value) best = &row;
      }
    }
  }

  std::vector<Row> derive() {
    for (const auto& [key, row] : by_case_) {
      if (key.second != "seconds" || !row->op.empty()) continue;
      if (row->family == "train" || row->family == "infer") one_step(*row);
    }
    latency();
    return std::move(rows_);
  }

 private:
  const Row* find(const std::string& name, const std::string& metric) const {
    const auto found = by_case_.find({name, metric});
    return found == by_case_.end() ? nullptr : found->second;
  }

  Row& add(const Row& source, const std::string& metric, double value, const std::string& unit,
           const std::string& better, const std::string& method) {
    Row row;
    row.case_name = "derived/" + metric + "/" + source.case_name;
    row.family = "derived";
    row.backend = source.backend;
    row.device = source.device;
    row.device_name = source.device_name;
    row.device_id = source.device_id;
    row.scope = source.scope;
    row.precision = source.precision;
    row.repetition = source.repetition;
    row.metric = metric;
    row.unit = unit;
    row.better = better;
    row.value = value;
    row.conditions = source.conditions;
    row.method = method;
    rows_.push_back(std::move(row));
    return rows_.back();
  }

  void one_step(const Row& seconds) {
    const Row* flops = find(seconds.case_name, "model_flops");
    const Row* tokens = find(seconds.case_name, "tokens_per_second");
    auto product = best_product_.find(seconds.precision == "fp8" ? "fp8_e4m3" : seconds.precision);
    if (product == best_product_.end() && seconds.precision == "fp8") product = best_product_.find("fp8_e4m3_fnuz");
    if (flops != nullptr && seconds.family == "train" && product != best_product_.end()) {
      const double reached = *flops->value / *seconds.value / *product->second->value;
      Row& row =
          add(seconds, "model_flops_utilisation", reached, "1", "higher",
              fmt::format("products and attention, forward and backward, causal half, nothing computed again, over {}",
                          product->second->case_name));
      if (reached > 1.02) {
        row.status = Status::mistrusted;
        row.reason = "a step is not faster than the products it is made of";
      }
    }
    if (tokens != nullptr && seconds.power_watts) {
      add(seconds, "energy_per_token", *seconds.power_watts / *tokens->value, "J/token", "lower",
          "mean power while it was timed, over tokens a second");
    }
    priced(seconds);
  }

  // The step against the sum of its ops, each by the time it took alone.
  void priced(const Row& seconds) {
    const bool any_op = std::any_of(by_case_.begin(), by_case_.end(), [&](const auto& each) {
      return each.first.first.rfind(seconds.case_name + "/step/", 0) == 0;
    });
    if (!any_op) return;
    if (!works_) works_ = works_of(device_);
    const auto work = works_->find(seconds.case_name);
    if (work == works_->end()) return;
    double sum = 0;
    bool loaded = false;
    for (const Step& step : work->second.steps) {
      const auto alone = by_op_.find(text(step.op));
      if (alone == by_op_.end()) return;  // an op without a time: no sum
      sum += *alone->second->value;
      loaded = loaded || alone->second->conditions.find("other_load") != std::string::npos;
    }
    Row& row = add(seconds, "over_sum_of_ops", *seconds.value / sum, "1", "lower",
                   fmt::format("{} steps, each at the time of its op alone in this run: {:.4g} s",
                               work->second.steps.size(), sum));
    // Ops that others slowed down make a slow step look good.
    if (loaded && row.conditions.find("other_load") == std::string::npos) {
      row.conditions += row.conditions.empty() ? "other_load" : ",other_load";
    }
  }

  // The largest batch of each model and context that still makes a token in time.
  void latency() {
    std::map<std::string, std::pair<std::int64_t, const Row*>> best;  // by name without the batch
    for (const auto& [key, row] : by_case_) {
      if (key.second != "seconds_per_token" || *row->value > latency_target) continue;
      const std::size_t slash = key.first.rfind('/');
      const std::size_t times = key.first.find('x', slash);
      if (slash == std::string::npos || times == std::string::npos) continue;
      const std::int64_t batch = std::stoll(key.first.substr(slash + 1, times - slash - 1));
      auto& entry = best[key.first.substr(0, slash) + key.first.substr(times)];
      if (batch > entry.first) entry = {batch, row};
    }
    for (const auto& [name, entry] : best) {
      add(*entry.second, "largest_batch_within_50_ms", static_cast<double>(entry.first), "1", "higher",
          "of the batches measured with " + name);
    }
  }

  const DeviceInfo& device_;
  std::map<std::pair<std::string, std::string>, const Row*> by_case_;
  std::map<std::string, const Row*> by_op_;
  std::map<std::string, const Row*> best_product_;
  std::optional<std::map<std::string, Work>> works_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<Row> derived_step_rows(const std::vector<Row>& rows, const DeviceInfo& device, int repetition) {
  return Steps(rows, device, repetition).derive();
}

}  // namespace assay
