// What a framework counted itself.
// SPDX-License-Identifier: Apache-2.0
#include "reports/framework_memory.h"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "reports/phrase.h"

namespace assay {
namespace {

constexpr std::uintmax_t largest_file = 16U << 20U;

const std::map<std::string, std::string>& meanings() {
  static const std::map<std::string, std::string> all{
      {"max_memory_allocated", "allocated, peak"},     {"max_memory_reserved", "reserved, peak"},
      {"memory_allocated", "allocated, at the end"},   {"memory_reserved", "reserved, at the end"},
      {"requested_bytes.all.peak", "requested, peak"}, {"allocated_bytes.all.peak", "allocated, peak"},
      {"reserved_bytes.all.peak", "reserved, peak"},   {"active_bytes.all.peak", "active, peak"}};
  return all;
}

void gather(const nlohmann::json& node, const std::string& name, std::vector<FrameworkFigure>& into) {
  if (node.is_number()) {
    const auto known = meanings().find(name);
    into.push_back({name, known == meanings().end() ? "" : known->second, node.get<double>()});
  } else if (node.is_object()) {
    for (const auto& [key, child] : node.items()) gather(child, name.empty() ? key : name + "." + key, into);
  }
}

}  // namespace

std::vector<FrameworkFigure> read_framework_memory(const std::filesystem::path& file) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  if (failed) throw BadInput(file.string() + ": " + failed.message());
  if (size > largest_file) throw BadInput(file.string() + ": larger than 16 MiB");
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  const auto json = nlohmann::json::parse(text.str(), nullptr, false);
  if (json.is_discarded()) throw BadInput(file.string() + ": not JSON");
  std::vector<FrameworkFigure> figures;
  gather(json, "", figures);
  if (figures.empty()) throw BadInput(file.string() + ": no number in it");
  return figures;
}

Table framework_table(const std::vector<FrameworkFigure>& figures, const std::optional<double>& device_peak) {
  Table table{"framework", "The framework's own count", {"Counter", "What it is", "Bytes"}, {}, ""};
  std::optional<double> reserved;
  for (const FrameworkFigure& figure : figures) {
    if (figure.meaning.empty()) continue;
    if (figure.meaning == "reserved, peak") reserved = figure.bytes;
    table.rows.push_back({figure.name, figure.meaning, quantity(figure.bytes, ReportUnit::bytes)});
  }
  if (table.rows.empty())
    for (const FrameworkFigure& figure : figures)
      table.rows.push_back({figure.name, "not known here", quantity(figure.bytes, ReportUnit::none)});
  if (device_peak) {
    table.rows.push_back({"device", "in use, peak, by the driver", quantity(*device_peak, ReportUnit::bytes)});
    if (reserved)
      table.rows.push_back({"device less reserved", "runtime context, libraries, other programs",
                            quantity(*device_peak - *reserved, ReportUnit::bytes)});
  }
  table.note = "Out of memory is decided by the device's count: what a framework has reserved, it holds.";
  return table;
}

}  // namespace assay
