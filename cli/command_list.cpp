// `assay list`: devices, benchmarks, models, gpus, profiles and rules, as aligned columns that scripts can cut.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/case.h"
#include "bench/probe.h"
#include "bench/profile.h"
#include "cli/commands.h"
#include "cli/parse.h"
#include "core/loader.h"
#include "core/models/model.h"
#include "reports/accept/rule.h"
#include "reports/catalogue.h"
#include "reports/report.h"

namespace assay {
namespace {

enum class What { devices, benchmarks, models, gpus, profiles, rules };

void print_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    std::puts(line.c_str());
  }
}

int list_devices(const Terminal& terminal, const std::filesystem::path& plugins) {
  ProbeQuestion question;
  question.folder = plugins;
  std::vector<std::vector<std::string>> rows;
  for (const Probed& answer : probe(question)) {
    for (const DeviceInfo& device : answer.devices) {
      const std::string memory =
          device.memory_total ? show(Quantity{static_cast<double>(*device.memory_total), ReportUnit::bytes, {}, {}, ""})
                              : "unknown";
      rows.push_back({device.id, printable(device.name, terminal.ascii), device.architecture, memory});
    }
    if (answer.devices.empty()) std::fprintf(stderr, "assay: %s: %s\n", answer.plugin.c_str(), answer.reason.c_str());
  }
  print_columns(rows);
  return rows.empty() ? exit_unknown : exit_good;
}

int list_benchmarks() {
  std::vector<std::vector<std::string>> rows;
  for (const Benchmark& benchmark : catalogue()) rows.push_back({benchmark.family, benchmark.question});
  print_columns(rows);
  return exit_good;
}

int list_models() {
  std::vector<std::vector<std::string>> rows;
  for (const ModelSpec& model : builtin_models()) {
    rows.push_back({model.name, show(Quantity{static_cast<double>(parameters(model)), ReportUnit::count, {}, {}, ""}),
                    model.source});
  }
  print_columns(rows);
  return exit_good;
}

int list_gpus() {
  std::vector<std::vector<std::string>> rows;
  const auto shown = [](const std::optional<double>& value, ReportUnit unit) {
    return value ? show_short(*value, unit) : std::string("-");
  };
  for (const Gpu& gpu : builtin_gpus()) {
    rows.push_back({gpu.name, text(gpu.kind), gpu.capability, show_short(gpu.memory, ReportUnit::bytes),
                    shown(gpu.bandwidth, ReportUnit::bytes_per_second), shown(gpu.fp16, ReportUnit::flops_per_second),
                    gpu.watts ? fmt::format("{:.0f} W", *gpu.watts) : "-"});
  }
  print_columns(rows);
  return exit_good;
}

int list_rules() {
  std::vector<std::vector<std::string>> rows;
  for (const Rule& rule : builtin_rules())
    rows.push_back({rule.id, rule.scope == RuleScope::host ? "host" : "card", thresholds(rule), rule.title});
  print_columns(rows);
  return exit_good;
}

int list_profiles() {
  std::vector<std::vector<std::string>> rows;
  for (const Profile& profile : profiles()) rows.push_back({profile.name, profile.meaning});
  print_columns(rows);
  return exit_good;
}

}  // namespace

int list(const std::string& what, const Terminal& terminal, const std::filesystem::path& plugins) {
  const What chosen = parse_choice<What>("list", what,
                                         {{"devices", What::devices},
                                          {"benchmarks", What::benchmarks},
                                          {"models", What::models},
                                          {"gpus", What::gpus},
                                          {"profiles", What::profiles},
                                          {"rules", What::rules}});
  switch (chosen) {
    case What::devices:
      return list_devices(terminal, plugins.empty() ? plugin_folder() : plugins);
    case What::benchmarks:
      return list_benchmarks();
    case What::models:
      return list_models();
    case What::gpus:
      return list_gpus();
    case What::profiles:
      return list_profiles();
    case What::rules:
      return list_rules();
  }
  return exit_internal;
}

}  // namespace assay
