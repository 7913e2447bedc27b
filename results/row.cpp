// The one table of the columns of results.csv.
// SPDX-License-Identifier: Apache-2.0
#include "results/row.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <type_traits>

#include "core/error.h"
#include "results/cell.h"

namespace assay {
namespace {

// Cells by type of the field.

std::string to_cell(const std::string& field) { return clean_text(field); }
std::string to_cell(int field) { return write_number(std::int64_t{field}); }
std::string to_cell(std::int64_t field) { return write_number(field); }
std::string to_cell(Status field) { return text(field); }

template <class Number>
std::string to_cell(const std::optional<Number>& field) {
  return field ? write_number(*field) : std::string();
}

template <class Field>
Field from_cell(std::string_view cell) {
  if constexpr (std::is_same_v<Field, std::string_view>) {
    return parse_text(cell);
  } else if constexpr (std::is_same_v<Field, int>) {
    const std::int64_t number = parse_whole_number(cell);
    if (number > std::numeric_limits<int>::max()) throw BadInput("expected a smaller number, found " + shown(cell));
    return static_cast<int>(number);
  } else if constexpr (std::is_same_v<Field, std::int64_t>) {
    return parse_whole_number(cell);
  } else if constexpr (std::is_same_v<Field, std::optional<std::int64_t>>) {
    return cell.empty() ? Field() : Field(parse_whole_number(cell));
  } else {
    static_assert(std::is_same_v<Field, std::optional<double>>);
    return cell.empty() ? Field() : Field(parse_double(cell));
  }
}

template <auto Member>
std::string write(const Row& row) {
  return to_cell(row.*Member);
}

template <auto Member>
void parse(Row& row, std::string_view cell) {
  using Field = std::remove_reference_t<decltype(row.*Member)>;
  // Texts are most of a row: they are copied once, into place.
  row.*Member = from_cell<std::conditional_t<std::is_same_v<Field, std::string>, std::string_view, Field>>(cell);
}

template <auto Member>
constexpr Column column(std::string_view name) {
  return {name, write<Member>, parse<Member>};
}

// Cells with rules of their own.

void parse_schema(Row& row, std::string_view cell) {
  row.schema = from_cell<int>(cell);
  if (row.schema < 1 || row.schema > current_schema) {
    throw BadInput("expected schema 1 to " + std::to_string(current_schema) + ", found " + shown(cell) +
                   "; a newer Assay wrote it and can read it");
  }
}

void parse_number(Row& row, std::string_view cell) {
  row.number = parse_whole_number(cell);
  if (row.number < 1) throw BadInput("expected the row's number, counted from 1, found " + shown(cell));
}

void parse_better(Row& row, std::string_view cell) {
  if (!cell.empty() && cell != "lower" && cell != "higher") {
    throw BadInput("expected \"lower\", \"higher\" or an empty cell, found " + shown(cell));
  }
  row.better = cell;
}

void parse_status(Row& row, std::string_view cell) {
  for (const Status status : {Status::ok, Status::skipped, Status::failed, Status::mistrusted}) {
    if (cell == text(status)) {
      row.status = status;
      return;
    }
  }
  throw BadInput("expected ok, skipped, failed or mistrusted, found " + shown(cell));
}

void parse_started(Row& row, std::string_view cell) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
  const bool fits =
      cell.size() == form.size() && std::equal(form.begin(), form.end(), cell.begin(), [](char wanted, char letter) {
        return wanted == 'd' ? letter >= '0' && letter <= '9' : letter == wanted;
      });
  if (!cell.empty() && !fits) throw BadInput("expected a time such as 2026-11-30T12:00:00Z, found " + shown(cell));
  row.started_utc = cell;
}

constexpr std::array<Column, column_count> table = {{
    {"schema", write<&Row::schema>, parse_schema},
    column<&Row::run>("run"),
    column<&Row::rank>("rank"),
    {"number", write<&Row::number>, parse_number},
    column<&Row::case_name>("case"),
    column<&Row::family>("family"),
    column<&Row::backend>("backend"),
    column<&Row::device>("device"),
    column<&Row::device_name>("device_name"),
    column<&Row::device_id>("device_id"),
    column<&Row::scope>("scope"),
    column<&Row::op>("op"),
    column<&Row::precision>("precision"),
    column<&Row::executed>("executed"),
    column<&Row::accumulated>("accumulated"),
    column<&Row::precision_proof>("precision_proof"),
    column<&Row::data>("data"),
    column<&Row::cache>("cache"),
    column<&Row::phase>("phase"),
    column<&Row::variant>("variant"),
    column<&Row::method>("method"),
    column<&Row::process>("process"),
    column<&Row::repetition>("repetition"),
    column<&Row::metric>("metric"),
    column<&Row::unit>("unit"),
    column<&Row::value>("value"),
    column<&Row::lower>("lower"),
    column<&Row::upper>("upper"),
    {"better", write<&Row::better>, parse_better},
    column<&Row::minimum>("minimum"),
    column<&Row::quartile1>("quartile1"),
    column<&Row::quartile3>("quartile3"),
    column<&Row::maximum>("maximum"),
    column<&Row::samples>("samples"),
    column<&Row::executions>("executions"),
    column<&Row::stop>("stop"),
    column<&Row::flops>("flops"),
    column<&Row::bytes>("bytes"),
    column<&Row::clock_hertz>("clock_hertz"),
    column<&Row::power_watts>("power_watts"),
    column<&Row::temperature_celsius>("temperature_celsius"),
    column<&Row::throttle>("throttle"),
    column<&Row::conditions>("conditions"),
    {"status", write<&Row::status>, parse_status},
    column<&Row::reason>("reason"),
    {"started_utc", write<&Row::started_utc>, parse_started},
    column<&Row::elapsed_seconds>("elapsed_seconds"),
}};

// What could not be read back is refused here, where the culprit is still known, rather than by whoever reads the run.
std::string cell_of(const Column& column, const Row& row) {
  try {
    const std::string cell = column.write(row);
    Row read_back;
    column.parse(read_back, cell);
    return quoted_cell(cell);
  } catch (const Error& error) {
    throw Error("cannot write column \"" + std::string(column.name) + "\" of case \"" + row.case_name +
                "\": " + error.what());
  }
}

}  // namespace

std::string text(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::skipped:
      return "skipped";
    case Status::failed:
      return "failed";
    case Status::mistrusted:
      return "mistrusted";
  }
  return "";
}

const std::vector<Column>& columns() {
  static const std::vector<Column> all(table.begin(), table.end());
  return all;
}

std::string csv_header() {
  std::string line;
  for (const Column& column : table) {
    if (!line.empty()) line += ',';
    line += column.name;
  }
  return line + '\n';
}

std::string csv_line(const Row& row) {
  std::string line;
  for (const Column& column : table) {
    if (!line.empty()) line += ',';
    line += cell_of(column, row);
  }
  return line + '\n';
}

}  // namespace assay
