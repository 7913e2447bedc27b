// Reads CSV with quoted cells.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/table.h"

#include <utility>

#include "core/error.h"

namespace assay {
namespace {

std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char letter = line[at];
    if (letter == '"') {
      if (quoted && at + 1 < line.size() && line[at + 1] == '"') {
        cells.back() += '"';
        ++at;
      } else {
        quoted = !quoted;
      }
    } else if (letter == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += letter;
    }
  }
  return cells;
}

}  // namespace

std::vector<NamedCells> read_table(std::string_view csv, const std::string& file) {
  std::vector<NamedCells> rows;
  std::vector<std::string> columns;
  for (std::size_t line = 1; !csv.empty(); ++line) {
    const std::size_t end = csv.find('\n');
    std::vector<std::string> cells = cells_of(csv.substr(0, end));
    csv.remove_prefix(end == std::string_view::npos ? csv.size() : end + 1);
    if (cells.size() == 1 && cells.front().empty()) continue;
    if (columns.empty()) {
      columns = std::move(cells);
      continue;
    }
    if (cells.size() != columns.size())
      throw Error(file + ", line " + std::to_string(line) + ": " + std::to_string(cells.size()) + " cells instead of " +
                  std::to_string(columns.size()));
    NamedCells row;
    for (std::size_t index = 0; index < cells.size(); ++index) row.emplace(columns[index], std::move(cells[index]));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace assay
