// One line of results.csv: everything known about one number, and the one table of its columns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Status : std::uint8_t { ok, skipped, failed, mistrusted };
std::string text(Status status);

// Schema 1. Absent numbers are absent, in memory and in the file (an empty cell), never 0 or -1.
struct Row {
  int schema = 1;
  std::string run;  // the run's id, equal in all its rows
  int rank = 0;
  std::int64_t number = 0;  // counts the rows of a run, from 1
  std::string case_name;    // column `case`
  std::string family;
  std::string backend;
  std::string device;  // "cpu:0"
  std::string device_name;
  std::string device_id;
  std::string scope;      // "alone" or "all_devices"
  std::string op;         // canonical text; empty for facts
  std::string precision;  // what was asked for
  std::string executed;   // what really multiplied
  std::string accumulated;
  std::string precision_proof;  // "probe: bf16 within 0.6 roundoff", "exact", "none"
  std::string data;             // the pattern of the timed runs
  std::string cache;            // "cold", "hot", ""
  std::string phase;            // "burst", "sustained", ""
  std::string variant;          // "default", "best", "nontemporal" ...
  std::string method;           // library, version, kernel set
  std::string process;          // the worker's number within the run
  int repetition = 0;
  std::string metric;           // "seconds", "flops_per_second", "bytes_per_second", "bytes" ...
  std::string unit;             // "s", "flop/s", "B/s", "B", "1"
  std::optional<double> value;  // the median, for timed metrics
  std::optional<double> lower;  // its interval, 95 %
  std::optional<double> upper;
  std::string better;  // "lower", "higher" or ""
  std::optional<double> minimum, quartile1, quartile3, maximum;
  std::optional<std::int64_t> samples;
  std::optional<std::int64_t> executions;  // in all samples together
  std::string stop;                        // why sampling ended: "steady", "time", "samples"
  std::optional<double> flops;             // of one execution
  std::optional<double> bytes;
  std::optional<double> clock_hertz, power_watts, temperature_celsius;
  std::string throttle;
  std::string conditions;  // comma-separated flags: other_load, not_steady, few_samples, planted ...
  Status status = Status::ok;
  std::string reason;       // in words, for anything but ok
  std::string started_utc;  // 2026-11-30T12:00:00Z
  std::optional<double> elapsed_seconds;
};

// The newest schema this program knows. Schemas only ever gain columns, so older ones stay readable.
inline constexpr int current_schema = 1;
inline constexpr std::size_t column_count = 47;

// One column: its name and how its cell reads and writes. write throws Error for a number that is not finite; parse
// throws BadInput saying what was expected; the writer adds the column, the reader file, line and column.
struct Column {
  std::string_view name;
  std::string (*write)(const Row&);  // without quotes; absent is empty
  void (*parse)(Row&, std::string_view cell);
  int since = 1;  // the schema that brought it
};

// In the order of the file. New columns are added at the end, with the next schema's number.
const std::vector<Column>& columns();

// The first line of results.csv, and a row's line, each with its newline. Texts are made fit for one line. Throws Error
// naming the column where a cell could not be read back: a number that is not finite, a negative count, an unknown
// word.
std::string csv_header();
std::string csv_line(const Row& row);

}  // namespace assay
