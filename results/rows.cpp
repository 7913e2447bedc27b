// Reads results.csv: strict about every cell, with file, line and column in each complaint.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <future>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "core/error.h"
#include "results/cell.h"
#include "results/run.h"
#include "results/text_file.h"

// Its reader thread gains nothing on text that is in memory.
#define CSV_IO_NO_THREAD
#include <libfccp/csv.h>

namespace assay {
namespace {

constexpr std::size_t longest_line = (std::size_t{1} << 24) - 1;  // the CSV library's own limit
constexpr std::size_t piece_bytes = std::size_t{4} << 20;         // what is worth a thread of its own

constexpr const char* cure = "; restore the file, or delete that line";

std::string place(const std::string& name, std::size_t line) { return name + ", line " + std::to_string(line); }

// A few whole lines' worth of work for each thread, several pieces at a time where there is much to read. Without a
// thread to be had, a piece waits until its answer is asked for.
template <class Work>
auto begin(Work work) {
  return std::async(std::launch::async | std::launch::deferred, std::move(work));
}

// Cuts a text behind line ends into about equal pieces. The last one may lack its newline.
std::vector<std::string_view> cut(std::string_view text) {
  const std::size_t most = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  std::vector<std::string_view> pieces;
  for (std::size_t left = std::clamp(text.size() / piece_bytes, std::size_t{1}, most); !text.empty(); --left) {
    const auto newline = left == 1 ? std::string_view::npos : text.find('\n', text.size() / left);
    pieces.push_back(text.substr(0, newline == std::string_view::npos ? newline : newline + 1));
    text.remove_prefix(pieces.back().size());
  }
  return pieces;
}

// Counts the newlines of a text and, on the way, looks for what C strings would hide and for lines that are too long
// for the library. `fault` is then the line it stands in, from 0.
struct Survey {
  std::size_t newlines = 0;
  std::optional<std::size_t> fault;
  const char* complaint = "";
};

Survey survey(std::string_view text) {
  Survey found;
  for (std::size_t begin = 0; begin < text.size(); ++found.newlines) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (line.find('\0') != std::string_view::npos) {
      return {found.newlines, found.newlines, "it holds a NUL byte, so it is damaged or no text"};
    }
    if (line.size() >= longest_line) {
      return {found.newlines, found.newlines, "the line is longer than 16 MiB, so this is no results.csv of Assay"};
    }
    if (end == text.size()) break;
    begin = end + 1;
  }
  return found;
}

// The cells of one line, which ends in NUL and is changed: quotes are taken off in place. Quotes in the middle of a
// cell, which the library's own splitting forgives, are refused, since a file that has them is damaged.
class LineCells {
 public:
  explicit LineCells(char* line) : next_(line) {}
  bool at_end() const { return next_ == nullptr; }

  // Throws BadInput. Must not be at the end.
  std::string_view take() { return *next_ == '"' ? take_quoted() : take_plain(); }

 private:
  std::string_view take_plain() {
    char* const begin = next_;
    char* end = begin;
    for (; *end != ',' && *end != '\0'; ++end) {
      if (*end == '"') throw BadInput("a quote stands in the middle of a cell");
    }
    next_ = *end == ',' ? end + 1 : nullptr;
    return {begin, static_cast<std::size_t>(end - begin)};
  }

  std::string_view take_quoted() {
    char* const begin = next_;
    char* out = begin;
    char* in = begin + 1;
    while (*in != '"' || in[1] == '"') {
      if (*in == '\0') throw BadInput("a quoted cell does not end on its line");
      if (*in == '"') ++in;
      *out++ = *in++;
    }
    ++in;
    if (*in != ',' && *in != '\0') throw BadInput("a quote stands in the middle of a cell");
    next_ = *in == ',' ? in + 1 : nullptr;
    return {begin, static_cast<std::size_t>(out - begin)};
  }

  char* next_;
};

// The names in the first line.
std::vector<std::string> header_names(std::string_view text, const std::string& name) {
  std::string line(text.substr(0, text.find('\n')));
  if (line.compare(0, 3, "\xEF\xBB\xBF") == 0) line.erase(0, 3);  // a byte order mark, as spreadsheets write it
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> names;
  try {
    for (LineCells cells(line.data()); !cells.at_end();) names.emplace_back(cells.take());
  } catch (const BadInput& error) {
    throw BadInput(place(name, 1) + ": it is no results.csv of Assay (" + error.what() + ")");
  }
  return names;
}

bool contains(const std::vector<std::string>& names, std::string_view wanted) {
  return std::find(names.begin(), names.end(), wanted) != names.end();
}

// The column of each name, null for those of newer versions.
std::vector<const Column*> columns_of(const std::vector<std::string>& names) {
  std::vector<const Column*> found;
  for (const std::string& name : names) {
    const auto& all = columns();
    const auto column = std::find_if(all.begin(), all.end(), [&](const Column& one) { return one.name == name; });
    found.push_back(column == all.end() ? nullptr : &*column);
  }
  return found;
}

// Refuses a file that is none of ours; gives a remark for each column of newer versions.
std::vector<std::string> check_header(const std::vector<std::string>& names, const std::string& name) {
  if (!contains(names, "schema") || !contains(names, "run")) {
    throw BadInput(place(name, 1) +
                   ": it is no results.csv of Assay, whose first line begins with \"schema,run\"; found " +
                   shown(names.front()));
  }
  std::vector<std::string> remarks, seen;
  const auto known = columns_of(names);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (contains(seen, names[i]))
      throw BadInput(place(name, 1) + ": the column " + shown(names[i]) + " is there twice");
    seen.push_back(names[i]);
    if (known[i] == nullptr) {
      remarks.push_back(name + ": the column " + shown(names[i]) +
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

// One line into a new row. Throws BadInput without file and line.
void parse_line(char* line, const std::vector<const Column*>& header, Row& row) {
  if (*line == '\0') throw BadInput("the line is empty");
  LineCells cells(line);
  for (const Column* column : header) {
    if (cells.at_end()) throw BadInput("it has fewer cells than the first line has columns");
    const std::string_view cell = cells.take();
    if (column == nullptr) continue;
    try {
      column->parse(row, cell);
    } catch (const BadInput& error) {
      throw BadInput("column \"" + std::string(column->name) + "\": " + error.what());
    }
  }
  if (!cells.at_end()) throw BadInput("it has more cells than the first line has columns");
}

// Whole lines of the file, the first of which is line `first_line`, and a row for each.
struct Piece {
  std::string_view text;
  std::size_t first_line;
  std::span<Row> rows;
};

void parse_piece(const Piece& piece, const std::vector<const Column*>& header, const std::string& name) {
  io::LineReader reader(name, piece.text.data(), piece.text.data() + piece.text.size());
  for (std::size_t i = 0; i < piece.rows.size(); ++i) {
    char* line = reader.next_line();
    try {
      parse_line(line, header, piece.rows[i]);
    } catch (const BadInput& error) {
      const std::string what = error.what();
      throw BadInput(place(name, piece.first_line + i) + (what.compare(0, 6, "column") == 0 ? ", " : ": ") + what +
                     cure);
    }
  }
}

// So many empty rows. A row takes more than a kilobyte, and asking for all their pages at once costs less than being
// given them one by one. (Large pages would cost least, but may keep the kernel busy making some.)
std::vector<Row> empty_rows(std::size_t count) {
  std::vector<Row> rows;
  rows.reserve(count);
#ifdef MADV_POPULATE_WRITE
  constexpr std::uintptr_t page = 4096;
  const auto begin = (reinterpret_cast<std::uintptr_t>(rows.data()) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(rows.data()) + count * sizeof(Row)) / page * page;
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_POPULATE_WRITE);
#endif
  rows.resize(count);
  return rows;
}

// How many newlines each piece has; the first begins on `line`. Throws BadInput for the first line that no reader
// should see.
std::vector<std::size_t> check_pieces(const std::vector<std::string_view>& pieces, std::size_t line,
                                      const std::string& name) {
  std::vector<std::future<Survey>> surveys;
  for (const std::string_view piece : pieces) surveys.push_back(begin([piece] { return survey(piece); }));
  std::vector<std::size_t> newlines;
  for (auto& one : surveys) {
    const Survey found = one.get();
    if (found.fault) throw BadInput(place(name, line + *found.fault) + ": " + found.complaint + cure);
    newlines.push_back(found.newlines);
    line += found.newlines;
  }
  return newlines;
}

// All lines behind the header.
std::vector<Row> parse_lines(std::string_view text, const std::vector<const Column*>& header, const std::string& name) {
  const auto pieces = cut(text);
  const auto lines = check_pieces(pieces, 2, name);
  std::vector<Row> rows = empty_rows(std::accumulate(lines.begin(), lines.end(), std::size_t{0}));
  std::vector<std::future<void>> parsed;
  for (std::size_t i = 0, done = 0; i < pieces.size(); done += lines[i++]) {
    const Piece piece{pieces[i], done + 2, std::span(rows).subspan(done, lines[i])};
    parsed.push_back(begin([piece, &header, &name] { parse_piece(piece, header, name); }));
  }
  for (auto& one : parsed) one.get();  // in order, so that the first complaint in the file is the one that is made
  return rows;
}

}  // namespace

RowList parse_rows(std::string_view text, const std::string& name) {
  RowList list;
  // The newline is a row's commit mark: what follows the last one was never finished.
  const auto newline = text.rfind('\n');
  const std::string_view whole = text.substr(0, newline == std::string_view::npos ? 0 : newline + 1);
  const std::string_view torn = text.substr(whole.size());
  if (whole.empty()) {
    check_pieces(cut(torn), 1, name);
    if (csv_header().compare(0, torn.size(), torn) != 0) check_header(header_names(torn, name), name);
    list.remarks.push_back(name + ": it has no rows; the run ended while it was beginning.");
    return list;
  }
  const std::string_view header = whole.substr(0, whole.find('\n') + 1);
  check_pieces({header}, 1, name);
  const auto names = header_names(header, name);
  list.remarks = check_header(names, name);
  if (!torn.empty()) {
    list.remarks.push_back(name + ": the last line was torn and is left out; the run was ended while writing it.");
  }
  check_complete(names, 1, name);
  list.rows = parse_lines(whole.substr(header.size()), columns_of(names), name);
  if (!list.rows.empty()) check_complete(names, list.rows.front().schema, name);
  return list;
}

RowList read_rows(const std::filesystem::path& csv) {
  return parse_rows(read_text_file(csv, most_csv_bytes), csv.string());
}

}  // namespace assay
