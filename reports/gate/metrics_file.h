// A small file that names the gated metrics and their bars; the rest inform.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "reports/gate/observed.h"

namespace assay::gate {

// Which metrics are meant; empty texts mean any.
struct GatedMetric {
  std::string pattern;  // a regular expression that the case's name holds
  std::regex case_name;
  std::string metric;  // "seconds", "allocatable_bytes"
  std::string device;  // "cuda:0", or a back end for all of its devices: "cuda"
  std::optional<double> bar;
};

struct MetricsFile {
  std::optional<double> bar;  // for those that have none of their own
  std::vector<GatedMetric> metrics;
};

// TOML: `bar = 0.02`, and `[[metric]]` tables with `case`, and perhaps `metric`, `device` and `bar`. Throws BadInput
// with `name`, the line, and what was expected.
MetricsFile parse_metrics(std::string_view text, const std::string& name);

// The first that means this metric; null where none does.
const GatedMetric* gated_by(const MetricsFile& file, const Key& key);

// "0.02" or "2 %": a share of more than 0 and less than 1. Throws BadInput, which begins with `where`.
double parse_bar(const std::string& where, const std::string& text);
double check_bar(const std::string& where, double bar);

}  // namespace assay::gate
