// Reads the rows.
// SPDX-License-Identifier: Apache-2.0
#include "reports/score/case.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fstream>

#include "core/error.h"

#define CSV_IO_NO_THREAD
#include <libfccp/csv.h>

namespace assay::score {
namespace {

constexpr std::size_t count = 24;
constexpr std::array<const char*, count> names = {
    "id",          "kind",    "model",   "params",        "layers",      "hidden",    "heads",      "kv_heads",
    "ffn",         "vocab",   "gpu",     "n_gpu",         "parallelism", "precision", "optimizer",  "technique",
    "micro_batch", "seq_len", "context", "measured_what", "value",       "unit",      "source_url", "note"};

std::optional<double> number(const std::string& text, const std::string& path, std::size_t line, const char* column) {
  if (text.empty()) return std::nullopt;
  double value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value))
    throw BadInput(path + ", line " + std::to_string(line) + ", column \"" + column +
                   "\": expected a number, found \"" + text.substr(0, 40) + "\"; correct the cell or leave it empty");
  return value;
}

}  // namespace

std::vector<Case> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw BadInput("cannot read " + path + "; name a CSV file of measured cases");
  std::vector<Case> rows;
  try {
    io::CSVReader<count, io::trim_chars<>, io::double_quote_escape<',', '"'>> reader("the table", file);
    std::array<std::string, count> c;
    reader.read_header(io::ignore_extra_column, names[0], names[1], names[2], names[3], names[4], names[5], names[6],
                       names[7], names[8], names[9], names[10], names[11], names[12], names[13], names[14], names[15],
                       names[16], names[17], names[18], names[19], names[20], names[21], names[22], names[23]);
    while (reader.read_row(c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12], c[13],
                           c[14], c[15], c[16], c[17], c[18], c[19], c[20], c[21], c[22], c[23])) {
      Case row;
      row.line = reader.get_file_line();
      const auto at = [&](std::size_t column) { return number(c[column], path, row.line, names[column]); };
      row.id = c[0];
      row.kind = c[1];
      row.model = c[2];
      row.parameters = at(3);
      row.layers = at(4);
      row.hidden = at(5);
      row.heads = at(6);
      row.kv_heads = at(7);
      row.feed_forward = at(8);
      row.vocabulary = at(9);
      row.gpu = c[10];
      row.cards = at(11);
      row.parallelism = c[12];
      row.precision = c[13];
      row.optimizer = c[14];
      row.technique = c[15];
      row.micro_batch = at(16);
      row.length = at(17);
      row.context = at(18);
      row.measured = c[19];
      row.value = at(20);
      row.unit = c[21];
      row.note = c[23];
      rows.push_back(std::move(row));
    }
  } catch (const io::error::base& error) {
    throw BadInput(path + " cannot be read as a table of cases: " + error.what());
  }
  return rows;
}

std::optional<double> bytes_of(const Case& row) {
  if (!row.value) return std::nullopt;
  const std::string unit = row.unit.substr(0, row.unit.find(' '));
  if (unit == "GiB") return *row.value * 1073741824.0;
  if (unit == "MiB") return *row.value * 1048576.0;
  if (unit == "GB") return *row.value * 1e9;
  if (unit == "MB") return *row.value * 1e6;
  return std::nullopt;
}

}  // namespace assay::score
