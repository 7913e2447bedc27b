// The tables that travel inside the program.
// SPDX-License-Identifier: Apache-2.0
#include "reports/embedded.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace assay {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> split_filled(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::string& part : split(text, separator))
    if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

}  // namespace

EmbeddedRow::EmbeddedRow(std::string file, std::size_t line, std::map<std::string, std::string, std::less<>> cells)
    : file_(std::move(file)), line_(line), cells_(std::move(cells)) {}

void EmbeddedRow::refuse(std::string_view column, const std::string& why) const {
  throw Error(file_ + ", line " + std::to_string(line_) + ", column " + std::string(column) + ": " + why);
}

const std::string& EmbeddedRow::text(std::string_view column) const {
  const auto found = cells_.find(column);
  if (found == cells_.end()) refuse(column, "there is no such column");
  return found->second;
}

const std::string& EmbeddedRow::required(std::string_view column) const {
  const std::string& cell = text(column);
  if (cell.empty()) refuse(column, "must not be empty");
  return cell;
}

std::optional<double> EmbeddedRow::number(std::string_view column) const {
  const std::string& cell = text(column);
  if (cell.empty()) return std::nullopt;
  double value = 0;
  const char* const end = cell.data() + cell.size();
  const auto [rest, failed] = std::from_chars(cell.data(), end, value);
  if (failed != std::errc() || rest != end || !std::isfinite(value) || value < 0)
    refuse(column, "not a number: " + cell);
  return value;
}

std::vector<std::string> EmbeddedRow::list(std::string_view column) const { return split_filled(text(column), ';'); }
std::vector<std::string> EmbeddedRow::words(std::string_view column) const { return split_filled(text(column), ' '); }

std::vector<EmbeddedRow> read_embedded(std::string_view csv, const std::string& file) {
  std::vector<EmbeddedRow> rows;
  std::vector<std::string> columns;
  std::size_t line = 0;
  for (const std::string& text : split(csv, '\n')) {
    ++line;
    if (text.empty()) continue;
    std::vector<std::string> cells = split(text, ',');
    if (columns.empty()) {
      columns = std::move(cells);
      continue;
    }
    if (cells.size() != columns.size())
      throw Error(file + ", line " + std::to_string(line) + ": " + std::to_string(cells.size()) + " cells instead of " +
                  std::to_string(columns.size()));
    std::map<std::string, std::string, std::less<>> named;
    for (std::size_t index = 0; index < cells.size(); ++index) named.emplace(columns[index], std::move(cells[index]));
    rows.emplace_back(file, line, std::move(named));
  }
  return rows;
}

}  // namespace assay
