// Reads results.csv: strict about every cell, with file, line and column in each complaint.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "results/cell.h"
#include "results/run.h"
#include "results/text_file.h"

// The reader thread gains nothing on text that is in memory.
#define CSV_IO_NO_THREAD
#include <libfccp/csv.h>

namespace assay {
namespace {

constexpr std::size_t longest_line = (std::size_t{1} << 24) - 1;  // the CSV library's own limit

struct MisplacedQuote {};

// How a cell is delimited and unquoted. The library's own way forgives quotes in the middle of a cell; a file that has
// them is damaged.
struct StrictQuotes {
  static const char* find_next_column_end(const char* begin) {
    const char* end = begin;
    if (*begin == '"') {
      for (++end; *end != '"' || end[1] == '"'; ++end) {
        if (*end == '\0') throw io::error::escaped_string_not_closed();
        if (*end == '"') ++end;
      }
      ++end;
      if (*end != ',' && *end != '\0') throw MisplacedQuote();
      return end;
    }
    for (; *end != ',' && *end != '\0'; ++end) {
      if (*end == '"') throw MisplacedQuote();
    }
    return end;
  }
  static void unescape(char*& begin, char*& end) { io::double_quote_escape<',', '"'>::unescape(begin, end); }
};

using Reader = io::CSVReader<column_count, io::trim_chars<>, StrictQuotes>;

constexpr const char* cure = "; restore the file, or delete that line";

std::string place(const std::string& name, std::size_t line) { return name + ", line " + std::to_string(line); }

// What C strings would hide or the library would stumble over, looked for before it sees the text.
void check_text(std::string_view text, const std::string& name) {
  const auto nul = text.find('\0');
  if (nul != std::string_view::npos) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    throw BadInput(place(name, static_cast<std::size_t>(line)) + ": it holds a NUL byte, so it is damaged or no text" +
                   cure);
  }
  std::size_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end - begin >= longest_line) {
      throw BadInput(place(name, line) + ": the line is longer than 16 MiB, so this is no results.csv of Assay");
    }
    begin = end + 1;
  }
}

// The names in the first line. They hold no commas, but some spreadsheets put everything in quotes.
std::vector<std::string> header_names(std::string_view text) {
  std::string_view line = text.substr(0, text.find('\n'));
  if (line.substr(0, 3) == "\xEF\xBB\xBF") line.remove_prefix(3);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  std::vector<std::string> names;
  for (;;) {
    const auto comma = line.find(',');
    std::string_view one = line.substr(0, comma);
    if (one.size() >= 2 && one.front() == '"' && one.back() == '"') one = one.substr(1, one.size() - 2);
    names.emplace_back(one);
    if (comma == std::string_view::npos) return names;
    line.remove_prefix(comma + 1);
  }
}

bool contains(const std::vector<std::string>& names, std::string_view wanted) {
  return std::find(names.begin(), names.end(), wanted) != names.end();
}

// Refuses a file that is none of ours; remarks columns of newer versions.
std::vector<std::string> check_header(const std::vector<std::string>& names, const std::string& name) {
  std::vector<std::string> remarks;
  if (!contains(names, "schema") || !contains(names, "run")) {
    throw BadInput(place(name, 1) +
                   ": it is no results.csv of Assay, whose first line begins with \"schema,run\"; found " +
                   shown(names.front()));
  }
  std::vector<std::string> seen;
  for (const std::string& one : names) {
    if (contains(seen, one)) throw BadInput(place(name, 1) + ": the column " + shown(one) + " is there twice");
    seen.push_back(one);
    const auto& known = columns();
    if (std::none_of(known.begin(), known.end(), [&](const Column& column) { return column.name == one; })) {
      remarks.push_back(name + ": the column " + shown(one) +
                        " is unknown to this version of Assay and is left out; a newer one wrote it.");
    }
  }
  return remarks;
}

// Older schemas may lack what came later, nothing else.
void check_complete(const std::vector<std::string>& names, int schema, const std::string& name) {
  for (const Column& column : columns()) {
    if (column.since <= schema && !contains(names, column.name)) {
      throw BadInput(place(name, 1) + ": the column \"" + std::string(column.name) +
                     "\" is missing; the file was changed or is damaged, so copy the run again");
    }
  }
}

template <std::size_t... Index>
void read_header(Reader& reader, std::index_sequence<Index...>) {
  reader.read_header(io::ignore_extra_column | io::ignore_missing_column, std::string(columns()[Index].name)...);
}

using Cells = std::array<char*, column_count>;

bool read_cells(Reader& reader, Cells& cells) {
  return std::apply([&](auto&... cell) { return reader.read_row(cell...); }, cells);
}

void parse_cells(const Cells& cells, Row& row, const std::string& name, std::size_t line) {
  const auto& all = columns();
  for (std::size_t i = 0; i < column_count; ++i) {
    if (cells[i] == nullptr) continue;  // a column that came after this file's schema
    try {
      all[i].parse(row, cells[i]);
    } catch (const BadInput& error) {
      throw BadInput(place(name, line) + ", column \"" + std::string(all[i].name) + "\": " + error.what() + cure);
    }
  }
}

// Room for so many rows. A row takes more than a kilobyte, and most of the time of reading many would go into the
// kernel's handing out of small pages; it is free to ignore the wish for large ones.
std::vector<Row> room_for(std::size_t count) {
  std::vector<Row> rows;
  rows.reserve(count);
  constexpr std::uintptr_t page = 4096;
  const auto begin = (reinterpret_cast<std::uintptr_t>(rows.data()) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(rows.data()) + count * sizeof(Row)) / page * page;
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  return rows;
}

std::vector<Row> parse_lines(std::string_view text, const std::vector<std::string>& names, const std::string& name) {
  auto rows = room_for(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  Reader reader(name, text.data(), text.data() + text.size());
  const auto here = [&] { return place(name, reader.get_file_line()); };
  try {
    read_header(reader, std::make_index_sequence<column_count>());
    Cells cells = {};
    while (read_cells(reader, cells)) {
      parse_cells(cells, rows.emplace_back(), name, reader.get_file_line());
      if (rows.size() == 1) check_complete(names, rows.front().schema, name);
    }
  } catch (const io::error::too_few_columns&) {
    throw BadInput(here() + ": it has fewer cells than the first line has columns" + cure);
  } catch (const io::error::too_many_columns&) {
    throw BadInput(here() + ": it has more cells than the first line has columns" + cure);
  } catch (const io::error::escaped_string_not_closed&) {
    throw BadInput(here() + ": a quoted cell does not end on its line" + cure);
  } catch (const MisplacedQuote&) {
    throw BadInput(here() + ": a quote stands in the middle of a cell" + cure);
  } catch (const io::error::base& error) {
    throw BadInput(here() + ": " + error.what());
  }
  return rows;
}

}  // namespace

RowList parse_rows(std::string_view text, const std::string& name) {
  RowList list;
  // The newline is a row's commit mark: what follows the last one was never finished.
  const auto newline = text.rfind('\n');
  const std::string_view whole = text.substr(0, newline == std::string_view::npos ? 0 : newline + 1);
  const std::string_view torn = text.substr(whole.size());
  check_text(text, name);
  if (whole.empty()) {
    const std::string header = csv_header();
    if (header.compare(0, torn.size(), torn) != 0) check_header(header_names(torn), name);
    list.remarks.push_back(name + ": it has no rows; the run ended while it was beginning.");
    return list;
  }
  if (!torn.empty()) {
    list.remarks.push_back(name + ": the last line was torn and is left out; the run was ended while writing it.");
  }
  const auto names = header_names(whole);
  const auto remarks = check_header(names, name);
  list.remarks.insert(list.remarks.end(), remarks.begin(), remarks.end());
  check_complete(names, 1, name);
  list.rows = parse_lines(whole, names, name);
  return list;
}

RowList read_rows(const std::filesystem::path& csv) {
  return parse_rows(read_text_file(csv, most_csv_bytes), csv.string());
}

}  // namespace assay
