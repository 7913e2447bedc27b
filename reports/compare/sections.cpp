// All that was measured alike, what was measured where, and who is compared.
// SPDX-License-Identifier: Apache-2.0
#include "reports/compare/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/phrase.h"

namespace assay {
namespace {

std::string family_of(const Alike& alike) { return alike.case_name.substr(0, alike.case_name.find('/')); }

std::string manner(const Alike& alike) {
  std::vector<std::string> parts{alike.data};
  for (const std::string& part : {alike.cache, alike.phase, alike.variant})
    if (!part.empty()) parts.push_back(part);
  return joined(parts);
}

// "oneDNN on A, own kernels on B" where they are not the same.
std::string methods(const Comparison& comparison, const Alike& alike) {
  std::vector<std::string> parts;
  std::string first;
  bool differ = false;
  for (std::size_t index = 0; index < alike.taken.size(); ++index) {
    if (!alike.taken[index] || alike.taken[index]->method.empty()) continue;
    const std::string& method = alike.taken[index]->method;
    if (first.empty()) first = method;
    differ = differ || method != first;
    parts.push_back(method + " on " + comparison.contenders[index].name);
  }
  return differ ? joined(parts) : "";
}

Chart products_chart(const Comparison& comparison) {
  Chart chart{"products", "Products: best rate by format", ChartKind::bar, {}, {}, {}, "", {}};
  chart.x.name = "format";
  chart.y = {"rate", ReportUnit::flops_per_second, false, {}};
  std::vector<const Characteristic*> shown;
  const std::vector<Characteristic> all = characteristics(comparison);
  for (const Characteristic& one : all)
    if (one.unit == ReportUnit::flops_per_second) shown.push_back(&one);
  for (const Characteristic* one : shown) chart.x.labels.push_back(one->name.substr(0, one->name.find(' ')));
  for (std::size_t index = 0; index < comparison.contenders.size(); ++index) {
    Series series{comparison.contenders[index].name, {}, {}, false};
    for (std::size_t at = 0; at < shown.size(); ++at) {
      if (!shown[at]->values[index]) continue;
      series.x.push_back(static_cast<double>(at));
      series.y.push_back(*shown[at]->values[index]->value);
    }
    chart.series.push_back(std::move(series));
  }
  chart.caption = "The highest rate of products that every compared device measured alike, by format of the operands.";
  return chart;
}

Chart families_chart(const Comparison& comparison, const std::vector<FamilyMean>& means) {
  Chart chart{"families", "Against the first, by kind of work", ChartKind::bar, {}, {}, {}, "", {}};
  chart.x.name = "kind of work";
  chart.y = {"times as fast", ReportUnit::none, false, {}};
  for (const FamilyMean& one : means) chart.x.labels.push_back(one.family);
  for (std::size_t index = 1; index < comparison.contenders.size(); ++index) {
    Series series{comparison.contenders[index].name, {}, {}, false};
    for (std::size_t at = 0; at < means.size(); ++at) {
      if (!means[at].means[index]) continue;
      series.x.push_back(static_cast<double>(at));
      series.y.push_back(*means[at].means[index]);
    }
    chart.series.push_back(std::move(series));
  }
  chart.limits = {{comparison.contenders.front().name, quantity(1, ReportUnit::none)}};
  chart.caption = "Geometric mean of how many times as fast as " + comparison.contenders.front().name +
                  " each device is, over all work of a kind that both measured alike.";
  return chart;
}

Table means_table(const Comparison& comparison, const std::vector<FamilyMean>& means) {
  Table table{"families", "Against the first, by kind of work", {"Kind of work", "Cases"}, {}, ""};
  for (std::size_t index = 1; index < comparison.contenders.size(); ++index)
    table.columns.push_back(comparison.contenders[index].name);
  for (const FamilyMean& one : means) {
    std::vector<Cell> row{one.family, quantity(static_cast<double>(one.cases), ReportUnit::count)};
    for (std::size_t index = 1; index < one.means.size(); ++index)
      row.push_back(one.means[index] ? Cell(quantity(*one.means[index], ReportUnit::none))
                                     : Cell(unknown(ReportUnit::none, "nothing alike")));
    table.rows.push_back(std::move(row));
  }
  table.note = "Geometric means of times as fast as " + comparison.contenders.front().name + "; above 1 is faster.";
  return table;
}

Table work_table(const Comparison& comparison) {
  const std::size_t count = comparison.contenders.size();
  Table table{"alike", "All work that was measured alike", {"Work", "Manner"}, {}, ""};
  for (const Contender& one : comparison.contenders) table.columns.push_back(one.name);
  for (std::size_t index = 1; index < count; ++index)
    table.columns.push_back("Times as fast: " + comparison.contenders[index].name);
  table.columns.emplace_back("Other library");
  for (const Alike& alike : comparison.alike) {
    std::vector<Cell> row{alike.case_name, manner(alike)};
    for (const auto& taken : alike.taken)
      row.push_back(taken ? Cell(quantity(taken->seconds, taken->lower, taken->upper, ReportUnit::seconds))
                          : Cell(unknown(ReportUnit::seconds, "not measured")));
    for (std::size_t index = 1; index < count; ++index)
      row.push_back(alike.taken[index] && alike.taken.front()
                        ? Cell(speed_ratio(*alike.taken[index], *alike.taken.front()))
                        : Cell(std::string()));
    row.emplace_back(methods(comparison, alike));
    table.rows.push_back(std::move(row));
  }
  table.note = "Times with their intervals; a ratio's interval is that of the outermost ends.";
  return table;
}

}  // namespace

std::vector<FamilyMean> family_means(const Comparison& comparison) {
  std::map<std::string, std::vector<const Alike*>> families;
  for (const Alike& alike : comparison.alike) families[family_of(alike)].push_back(&alike);
  std::vector<FamilyMean> means;
  for (const auto& [family, work] : families) {
    FamilyMean mean{family, work.size(), std::vector<std::optional<double>>(comparison.contenders.size())};
    for (std::size_t index = 0; index < mean.means.size(); ++index) {
      double sum = 0;
      int count = 0;
      for (const Alike* alike : work) {
        if (!alike->taken.front() || !alike->taken[index]) continue;
        sum += std::log(alike->taken.front()->seconds / alike->taken[index]->seconds);
        ++count;
      }
      if (count > 0) mean.means[index] = std::exp(sum / count);
    }
    means.push_back(std::move(mean));
  }
  return means;
}

Section alike_section(const Comparison& comparison) {
  Section section{"alike", "Like with like", {}, {}, {}};
  if (comparison.alike.empty()) {
    section.paragraphs.emplace_back("Nothing was measured alike on two of these devices.");
  } else {
    const std::vector<FamilyMean> means = family_means(comparison);
    section.tables = {means_table(comparison, means), work_table(comparison)};
    section.charts = {families_chart(comparison, means)};
    Chart products = products_chart(comparison);
    if (!products.x.labels.empty()) section.charts.push_back(std::move(products));
  }
  if (!comparison.not_alike.empty()) {
    Table table{"not_alike", "Not compared", {"Work", "Why"}, {}, ""};
    for (const NotAlike& one : comparison.not_alike) table.rows.push_back({one.what, one.why});
    table.note =
        "The same op, but with other data, cache mode, phase or variant: such times say nothing of each other.";
    section.tables.push_back(std::move(table));
  }
  return section;
}

Section coverage_section(const Comparison& comparison) {
  std::map<std::string, std::vector<std::map<Status, int>>> counts;
  for (std::size_t index = 0; index < comparison.contenders.size(); ++index) {
    const Contender& one = comparison.contenders[index];
    std::map<std::pair<std::string, int>, Status> cases;  // the worst of a case's rows speaks for it
    for (const Row& row : one.run->rows) {
      if (row.device != one.device->id || row.family == "derived") continue;
      const auto [found, added] = cases.try_emplace({row.case_name, row.repetition}, row.status);
      if (!added) found->second = std::max(found->second, row.status);
    }
    for (const auto& [key, status] : cases) {
      auto& family = counts[key.first.substr(0, key.first.find('/'))];
      family.resize(comparison.contenders.size());
      ++family[index][status];
    }
  }
  Table table{"coverage", "What was measured where", {"Kind of work"}, {}, ""};
  for (const Contender& one : comparison.contenders) table.columns.push_back(one.name);
  for (auto& [family, by_contender] : counts) {
    std::vector<Cell> row{family};
    for (auto& statuses : by_contender) {
      std::vector<std::string> parts;
      for (const auto& [status, count] : statuses) parts.push_back(fmt::format("{} {}", count, text(status)));
      row.emplace_back(parts.empty() ? "not measured" : joined(parts));
    }
    table.rows.push_back(std::move(row));
  }
  table.note = "Cases by how they ended, repetitions counted.";
  return {"coverage", "Coverage", {}, {table}, {}};
}

Section devices_section(const Comparison& comparison) {
  Table table{"devices",
              "Who is compared",
              {"Device", "As its driver calls it", "Run", "Measured", "Memory", "Published limit", "USD an hour",
               "Price is from", "Published figures are from"},
              {},
              ""};
  for (const Contender& one : comparison.contenders) {
    const DeviceInfo& device = *one.device;
    table.rows.push_back(
        {one.name, device.name + ", " + device.id, one.run->info.id, one.run->info.started_utc,
         device.memory_total ? Cell(quantity(static_cast<double>(*device.memory_total), ReportUnit::bytes))
                             : Cell(unknown(ReportUnit::bytes, "the driver does not say")),
         one.gpu != nullptr && one.gpu->watts ? Cell(quantity(*one.gpu->watts, ReportUnit::watts))
                                              : Cell(std::string()),
         one.price_per_hour ? Cell(quantity(*one.price_per_hour, ReportUnit::dollars)) : Cell(std::string()),
         one.price_origin, one.gpu != nullptr && !one.gpu->sources.empty() ? one.gpu->sources.front() : std::string()});
  }
  return {"devices", "Devices", {}, {table}, {}};
}

}  // namespace assay
