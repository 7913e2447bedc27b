// results/README.md describes exactly what the code writes.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "results/run.h"
#include "tests/results/examples.h"
#include "tests/results/temporary_folder.h"

namespace assay {
namespace {

// The table rows under a heading of the page, split into cells without backquotes.
std::vector<std::vector<std::string>> table(const std::string& heading) {
  std::ifstream page(std::filesystem::path(ASSAY_SOURCE_DIR) / "results/README.md");
  EXPECT_TRUE(page.is_open());
  std::vector<std::vector<std::string>> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.compare(0, 3, "## ") == 0) inside = line == "## " + heading;
    if (!inside || line.empty() || line[0] != '|' || line.compare(0, 3, "| -") == 0) continue;
    std::vector<std::string> cells;
    std::istringstream parts(line.substr(1));
    for (std::string cell; std::getline(parts, cell, '|');) {
      const auto first = cell.find_first_not_of(" `"), last = cell.find_last_not_of(" `");
      cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
    }
    rows.push_back(cells);
  }
  if (!rows.empty()) rows.erase(rows.begin());  // the heading of the table
  return rows;
}

TEST(Page, NamesEveryColumnInItsOrderWithAnExampleThatReads) {
  const auto rows = table("results.csv");
  ASSERT_EQ(rows.size(), columns().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Column& column = columns()[i];
    ASSERT_EQ(rows[i].size(), 5u) << column.name;  // column, meaning, unit, example, since
    EXPECT_EQ(rows[i][0], column.name);
    EXPECT_FALSE(rows[i][1].empty()) << column.name;
    Row row;
    EXPECT_NO_THROW(column.parse(row, rows[i][3])) << column.name << ": " << rows[i][3];
    EXPECT_EQ(column.write(row), rows[i][3]) << column.name;
    EXPECT_EQ(rows[i][4], std::to_string(column.since)) << column.name;
  }
}

TEST(Page, NamesEveryFieldOfRunJson) {
  const auto json = nlohmann::ordered_json::parse(write_run_info(full_info()));
  std::vector<std::string> written, named;
  for (const auto& item : json.items()) written.push_back(item.key());
  for (const auto& row : table("run.json")) named.push_back(row.at(0));
  EXPECT_EQ(named, written);
}

TEST(Page, NamesEveryColumnOfTheSamples) {
  const TemporaryFolder folder;
  RunWriter::create(folder.path() / "run", full_info(), false);
  std::string header;
  for (const auto& row : table("samples.csv")) header += (header.empty() ? "" : ",") + row.at(0);
  EXPECT_EQ(folder.read("run/samples.csv"), header + "\n");
}

}  // namespace
}  // namespace assay
