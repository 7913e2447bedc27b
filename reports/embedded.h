// The tables that travel inside the program: plain CSV without quotes, its columns known by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

// One line of such a table. Every complaint is an Error that names the file, the line and the column.
class EmbeddedRow {
 public:
  EmbeddedRow(std::string file, std::size_t line, std::map<std::string, std::string, std::less<>> cells);

  const std::string& text(std::string_view column) const;         // may be empty
  const std::string& required(std::string_view column) const;     // may not
  std::optional<double> number(std::string_view column) const;    // empty: absent; must be finite and at least 0
  std::vector<std::string> list(std::string_view column) const;   // parts between semicolons, none empty
  std::vector<std::string> words(std::string_view column) const;  // parts between blanks
  [[noreturn]] void refuse(std::string_view column, const std::string& why) const;

 private:
  std::string file_;
  std::size_t line_;
  std::map<std::string, std::string, std::less<>> cells_;
};

// The first line names the columns; every other line must have as many.
std::vector<EmbeddedRow> read_embedded(std::string_view csv, const std::string& file);

// The texts that the build puts here, from the files of the same names.
std::string_view gpus_csv();
std::string_view stacks_csv();
std::string_view prices_csv();
std::string_view sustained_csv();

}  // namespace assay
