// The characteristics by which devices are compared, with what each reaches of its sourced peak, per watt, per dollar.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <variant>

#include "core/error.h"
#include "core/op.h"
#include "reports/compare/sections.h"
#include "reports/phrase.h"

namespace assay {
namespace {

// Of all alike work that `wanted` likes, each contender's highest rate.
Characteristic best_rate(const Comparison& comparison, const std::string& name, ReportUnit unit,
                         const std::function<bool(const Alike&, const Op&)>& wanted) {
  const std::size_t count = comparison.contenders.size();
  Characteristic best{name, unit, false, {}, {}, {}};
  best.values.resize(count);
  best.peaks.resize(count);
  best.watts.resize(count);
  for (const Alike& alike : comparison.alike) {
    if (!wanted(alike, parse_op(alike.op))) continue;
    const double amount = unit == ReportUnit::flops_per_second ? alike.flops : alike.bytes;
    for (std::size_t index = 0; index < count; ++index) {
      const auto& taken = alike.taken[index];
      if (!taken || amount <= 0) continue;
      const double rate = amount / taken->seconds;
      if (best.values[index] && *best.values[index]->value >= rate) continue;
      best.values[index] = quantity(rate, amount / taken->upper, amount / taken->lower, unit);
      best.watts[index] = taken->watts;
    }
  }
  return best;
}

Characteristic time_of(const Comparison& comparison, const std::string& name, const std::string& case_name) {
  const std::size_t count = comparison.contenders.size();
  Characteristic time{name, ReportUnit::seconds, true, {}, {}, {}};
  time.values.resize(count);
  time.peaks.resize(count);
  time.watts.resize(count);
  for (const Alike& alike : comparison.alike) {
    if (alike.case_name != case_name) continue;
    for (std::size_t index = 0; index < count; ++index)
      if (const auto& taken = alike.taken[index])
        time.values[index] = quantity(taken->seconds, taken->lower, taken->upper, ReportUnit::seconds);
  }
  return time;
}

// A fact of a survey, such as the memory that can be had.
Characteristic fact_of(const Comparison& comparison, const std::string& name, const std::string& metric,
                       bool less_is_better) {
  Characteristic fact{name, ReportUnit::bytes, less_is_better, {}, {}, {}};
  for (const Contender& one : comparison.contenders) {
    fact.values.emplace_back();
    fact.peaks.emplace_back();
    fact.watts.emplace_back();
    for (const Row& row : one.run->rows)
      if (row.device == one.device->id && row.metric == metric && row.status == Status::ok && row.value)
        fact.values.back() = quantity(*row.value, ReportUnit::bytes);
  }
  return fact;
}

bool measured(const Characteristic& one) {
  return std::count_if(one.values.begin(), one.values.end(), [](const auto& value) { return value.has_value(); }) > 1;
}

void add_products(std::vector<Characteristic>& list, const Comparison& comparison) {
  for (const Element element : {Element::fp64, Element::fp32, Element::fp16, Element::bf16, Element::fp8_e4m3,
                                Element::int8, Element::fp4_e2m1}) {
    Characteristic best = best_rate(comparison, text(element) + " products", ReportUnit::flops_per_second,
                                    [&](const Alike& alike, const Op& op) {
                                      const auto* gemm = std::get_if<Gemm>(&op);
                                      return gemm != nullptr && gemm->a.element == element &&
                                             gemm->b.element == element && alike.phase != "sustained";
                                    });
    for (std::size_t index = 0; index < best.peaks.size(); ++index)
      if (const Gpu* gpu = comparison.contenders[index].gpu) best.peaks[index] = peak(*gpu, element);
    list.push_back(std::move(best));
  }
}

void add_memory_and_copies(std::vector<Characteristic>& list, const Comparison& comparison) {
  Characteristic memory = best_rate(
      comparison, "memory beyond the caches", ReportUnit::bytes_per_second, [](const Alike& alike, const Op& op) {
        return std::holds_alternative<Stream>(op) && alike.case_name.find("dram") != std::string::npos;
      });
  Characteristic up =
      best_rate(comparison, "copy from the host", ReportUnit::bytes_per_second, [](const Alike& alike, const Op& op) {
        const auto* copy = std::get_if<Transfer>(&op);
        return copy != nullptr && !copy->both_ways &&
               alike.case_name.find("host_to_device/pinned") != std::string::npos;
      });
  Characteristic down =
      best_rate(comparison, "copy to the host", ReportUnit::bytes_per_second, [](const Alike& alike, const Op& op) {
        const auto* copy = std::get_if<Transfer>(&op);
        return copy != nullptr && !copy->both_ways &&
               alike.case_name.find("device_to_host/pinned") != std::string::npos;
      });
  for (std::size_t index = 0; index < comparison.contenders.size(); ++index) {
    const Gpu* gpu = comparison.contenders[index].gpu;
    if (gpu == nullptr) continue;
    memory.peaks[index] = gpu->bandwidth;
    up.peaks[index] = down.peaks[index] = gpu->host_bandwidth;
  }
  list.push_back(std::move(memory));
  list.push_back(std::move(up));
  list.push_back(std::move(down));
}

}  // namespace

std::vector<Characteristic> characteristics(const Comparison& comparison) {
  std::vector<Characteristic> list;
  add_products(list, comparison);
  add_memory_and_copies(list, comparison);
  list.push_back(time_of(comparison, "100 kernel launches", "launch/kernel"));
  list.push_back(time_of(comparison, "100 parallel regions", "launch/parallel_region"));
  list.push_back(fact_of(comparison, "memory that can be had", "allocatable_bytes", false));
  list.push_back(fact_of(comparison, "memory that a context takes", "context_bytes", true));
  list.erase(std::remove_if(list.begin(), list.end(), [](const Characteristic& one) { return !measured(one); }),
             list.end());
  return list;
}

std::optional<Quantity> against_first(const Characteristic& characteristic, std::size_t contender) {
  const auto& first = characteristic.values.front();
  const auto& here = characteristic.values[contender];
  if (!first || !here || *first->value <= 0 || *here->value <= 0) return std::nullopt;
  const Quantity& above = characteristic.less_is_better ? *first : *here;
  const Quantity& below = characteristic.less_is_better ? *here : *first;
  Quantity ratio = quantity(*above.value / *below.value, ReportUnit::none);
  if (above.lower && above.upper && below.lower && below.upper && *below.lower > 0 && *above.lower > 0) {
    ratio.lower = *above.lower / *below.upper;
    ratio.upper = *above.upper / *below.lower;
  }
  return ratio;
}

Ends ends(const Characteristic& characteristic) {
  Ends found;
  const auto better = [&](const Quantity& a, const Quantity& b) {
    return characteristic.less_is_better ? *a.value < *b.value : *a.value > *b.value;
  };
  for (std::size_t index = 0; index < characteristic.values.size(); ++index) {
    const auto& here = characteristic.values[index];
    if (!here) continue;
    if (!found.best || better(*here, *characteristic.values[*found.best])) found.best = index;
    if (!found.worst || better(*characteristic.values[*found.worst], *here)) found.worst = index;
  }
  if (!found.best || found.best == found.worst) return {};
  // What overlaps is not told apart.
  const Quantity& best = *characteristic.values[*found.best];
  const Quantity& worst = *characteristic.values[*found.worst];
  const bool overlap = best.lower && worst.lower && *best.lower <= *worst.upper && *worst.lower <= *best.upper;
  return overlap ? Ends{} : found;
}

Section characteristics_section(const Comparison& comparison) {
  Section section{"characteristics", "Characteristics", {}, {}, {}};
  Table table{"characteristics",
              "Best of what was measured alike",
              {"Characteristic", "Device", "Value", "Against the first", "Mark", "Of published peak", "Per watt",
               "Per dollar and hour"},
              {},
              "Against the first: above 1 is better, whichever way better is. Peaks are published dense figures. Watts "
              "are those read while it ran. A mark stands only where the intervals do not overlap."};
  for (const Characteristic& one : characteristics(comparison)) {
    const Ends marks = ends(one);
    for (std::size_t index = 0; index < one.values.size(); ++index) {
      const auto& value = one.values[index];
      const Contender& who = comparison.contenders[index];
      std::vector<Cell> row{one.name, who.name};
      row.push_back(value ? Cell(*value) : Cell(unknown(one.unit, "not measured")));
      const auto ratio = against_first(one, index);
      row.push_back(ratio ? Cell(*ratio) : Cell(std::string()));
      row.emplace_back(std::string(marks.best == index ? "+ best" : marks.worst == index ? "- worst" : ""));
      const bool rate = value && !one.less_is_better;
      row.push_back(rate && one.peaks[index] ? Cell(quantity(*value->value / *one.peaks[index], ReportUnit::share))
                                             : Cell(std::string()));
      row.push_back(rate && one.watts[index].value_or(0) > 0
                        ? Cell(quantity(*value->value / *one.watts[index], one.unit))
                        : Cell(std::string()));
      row.push_back(rate && who.price_per_hour.value_or(0) > 0
                        ? Cell(quantity(*value->value / *who.price_per_hour, one.unit))
                        : Cell(std::string()));
      table.rows.push_back(std::move(row));
    }
  }
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace assay
