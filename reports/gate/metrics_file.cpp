// Reads the file of gated metrics.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/metrics_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <cmath>
#include <cstdlib>

#include "core/error.h"
#include "core/nearest.h"

namespace assay::gate {
namespace {

std::string place(const std::string& name, const toml::source_region& source) {
  return name + ":" + std::to_string(source.begin.line) + ": ";
}

std::string word(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return text->get();
  throw BadInput(where + " must be a text in quotes");
}

double bar_of(const toml::node& node, const std::string& where) {
  if (const auto* text = node.as_string()) return parse_bar(where, text->get());
  if (const auto number = node.value<double>()) return check_bar(where, *number);
  throw BadInput(where + " must be a share such as 0.02 or \"2 %\"");
}

[[noreturn]] void refuse(const std::string& where, const std::string& field, const std::vector<std::string>& known) {
  std::string list;
  for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
  throw BadInput(where + field + " is not known here" + did_you_mean(field, known) + " (one of: " + list + ")");
}

GatedMetric metric_of(const toml::table& table, const std::string& name) {
  GatedMetric one;
  const std::string here = place(name, table.source());
  for (const auto& [field, node] : table) {
    const std::string where = place(name, node.source()) + std::string(field.str());
    if (field == "case") {
      one.pattern = word(node, where);
    } else if (field == "metric") {
      one.metric = word(node, where);
    } else if (field == "device") {
      one.device = word(node, where);
    } else if (field == "bar") {
      one.bar = bar_of(node, where);
    } else {
      refuse(place(name, node.source()), std::string(field.str()), {"case", "metric", "device", "bar"});
    }
  }
  if (one.pattern.empty()) throw BadInput(here + "a metric needs a case: case = \"^gemm/bf16/\"");
  try {
    one.case_name = std::regex(one.pattern);
  } catch (const std::regex_error&) {
    throw BadInput(here + "case is no regular expression: " + one.pattern);
  }
  return one;
}

}  // namespace

double check_bar(const std::string& where, double bar) {
  if (!std::isfinite(bar) || bar <= 0 || bar >= 1)
    throw BadInput(fmt::format("{} must be a share of more than 0 and less than 1, such as 0.02, not {}", where, bar));
  return bar;
}

double parse_bar(const std::string& where, const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string_view rest = end;
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  if (end == text.c_str() || (!rest.empty() && rest != "%"))
    throw BadInput(where + " must be a share such as 0.02 or 2%, not '" + text + "'");
  return check_bar(where, rest == "%" ? number / 100 : number);
}

MetricsFile parse_metrics(std::string_view text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw BadInput(place(name, error.source()) + std::string(error.description()));
  }
  MetricsFile file;
  for (const auto& [field, node] : table) {
    const std::string where = place(name, node.source()) + std::string(field.str());
    if (field == "bar") {
      file.bar = bar_of(node, where);
    } else if (field == "metric" && node.is_array()) {
      for (const toml::node& one : *node.as_array()) {
        if (!one.is_table()) throw BadInput(where + " must be written as [[metric]]");
        file.metrics.push_back(metric_of(*one.as_table(), name));
      }
    } else if (field == "metric") {
      throw BadInput(where + " must be written as [[metric]]");
    } else {
      refuse(place(name, node.source()), std::string(field.str()), {"bar", "metric"});
    }
  }
  if (file.metrics.empty()) throw BadInput(name + ": it names no metric; add [[metric]] with case = \"^gemm/\"");
  return file;
}

const GatedMetric* gated_by(const MetricsFile& file, const Key& key) {
  const std::string backend = key.device.substr(0, key.device.find(':'));
  for (const GatedMetric& one : file.metrics) {
    if (!one.metric.empty() && one.metric != key.metric) continue;
    if (!one.device.empty() && one.device != key.device && one.device != backend) continue;
    if (std::regex_search(key.case_name, one.case_name)) return &one;
  }
  return nullptr;
}

}  // namespace assay::gate
