// Copies between host and device, between devices, and what it costs to start anything.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"
#include "reports/run_sections.h"

namespace assay {
namespace {

// "transfer/host_to_device/pinned/256MiB" goes the way "host_to_device/pinned".
std::string way_of(const std::string& case_name) {
  const auto first = case_name.find('/');
  const auto last = case_name.rfind('/');
  return first == std::string::npos || last <= first ? case_name : case_name.substr(first + 1, last - first - 1);
}

std::string words_of(std::string way) {
  std::replace(way.begin(), way.end(), '_', ' ');
  const auto slash = way.find('/');
  if (slash != std::string::npos) way.replace(slash, 1, ", ");
  return way;
}

// Bytes that cross, both ways together.
double crossed(const Transfer& transfer) { return static_cast<double>(transfer.bytes) * (transfer.both_ways ? 2 : 1); }

Chart copy_chart(const Rates& rates) {
  Chart chart;
  chart.id = "transfers";
  chart.title = "Copies by size";
  chart.kind = ChartKind::line;
  chart.x = {"bytes one way", ReportUnit::bytes, true, {}};
  chart.y = {"bytes a second, both ways together", ReportUnit::bytes_per_second, true, {}};
  std::map<std::string, std::map<double, double>> lines;
  for (const Known& known : rates.known())
    if (const auto* transfer = std::get_if<Transfer>(&known.op))
      lines[words_of(way_of(known.case_name))][static_cast<double>(transfer->bytes)] =
          crossed(*transfer) / known.seconds;
  std::pair<double, std::string> fastest{0, ""};
  for (const auto& [name, points] : lines) {
    if (points.size() < 2) continue;  // those of one size are in the table
    Series series{name, {}, {}, true};
    for (const auto& [bytes, rate] : points) {
      series.x.push_back(bytes);
      series.y.push_back(rate);
      fastest = std::max(fastest, {rate, name});
    }
    chart.series.push_back(series);
  }
  if (fastest.first > 0)
    chart.caption =
        "The fastest is " + fastest.second + " with " + shown(fastest.first, ReportUnit::bytes_per_second) + ".";
  return chart;
}

// The best of each way, and how long its smallest copy takes.
Table copy_table(const Rates& rates) {
  Table table{"transfers", "The best of each way", {"Way", "Best rate", "At", "Smallest copy", "Takes"}, {}, ""};
  struct Way {
    double rate = 0, at = 0, smallest = 0;
    Quantity takes;
  };
  std::map<std::string, Way> ways;
  for (const Known& known : rates.known()) {
    const auto* transfer = std::get_if<Transfer>(&known.op);
    if (transfer == nullptr) continue;
    Way& way = ways[words_of(way_of(known.case_name))];
    const double bytes = static_cast<double>(transfer->bytes);
    const double rate = crossed(*transfer) / known.seconds;
    if (rate > way.rate) {
      way.rate = rate;
      way.at = bytes;
    }
    if (way.smallest == 0 || bytes < way.smallest) {
      way.smallest = bytes;
      way.takes = quantity(known.seconds, known.lower, known.upper, ReportUnit::seconds);
    }
  }
  for (const auto& [name, way] : ways)
    table.rows.push_back({name, quantity(way.rate, ReportUnit::bytes_per_second), quantity(way.at, ReportUnit::bytes),
                          quantity(way.smallest, ReportUnit::bytes), way.takes});
  if (!table.rows.empty()) table.note = "Both ways count the bytes of both directions together.";
  return table;
}

// A row per device that sends, a column per device that is written to: all devices of the run, not the judged one
// alone.
struct Matrix {
  std::string start, end;  // around the peer's number in the case's name: "transfer/to_device_" "/engine"
  const char* id;
  const char* title;
};

std::string number_of(const std::string& device) {
  const auto colon = device.find(':');
  return colon == std::string::npos ? device : device.substr(colon + 1);
}

Table matrix_table(const std::vector<Run>& runs, const DeviceInfo& device, const Matrix& matrix) {
  Table table{matrix.id, matrix.title, {"From"}, {}, ""};
  std::map<std::pair<std::string, std::string>, Cell> cells;
  std::set<std::string> froms, tos;
  for (const Run& run : runs) {
    for (const Row& row : run.rows) {
      if (row.backend != device.backend || row.family != "transfer" || row.case_name.rfind(matrix.start, 0) != 0 ||
          has_condition(row, "planted"))
        continue;
      const std::string rest = row.case_name.substr(matrix.start.size());
      const auto slash = rest.find('/');
      if (slash == std::string::npos || rest.compare(slash, matrix.end.size(), matrix.end) != 0) continue;
      const std::pair<std::string, std::string> pair{number_of(row.device), rest.substr(0, slash)};
      froms.insert(pair.first);
      tos.insert(pair.second);
      if (row.status != Status::ok) {
        cells[pair] = text(row.status);
      } else if (row.metric == "bytes_per_second" && row.value) {
        const auto before = cells.find(pair);
        const auto* known = before == cells.end() ? nullptr : std::get_if<Quantity>(&before->second);
        if (before == cells.end() || (known != nullptr && known->value.value_or(0) < *row.value))
          cells[pair] = quantity(*row.value, ReportUnit::bytes_per_second);
      }
    }
  }
  for (const std::string& to : tos) table.columns.push_back("to " + device.backend + ":" + to);
  for (const std::string& from : froms) {
    std::vector<Cell> row{device.backend + ":" + from};
    for (const std::string& to : tos) {
      const auto cell = cells.find({from, to});
      row.push_back(cell == cells.end() ? Cell(std::string("-")) : cell->second);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// What one of them takes.
std::string launch_words(const Launch& launch) {
  switch (launch.kind) {
    case LaunchKind::kernel:
      return launch.count == 1 ? "one launch and the wait for it" : "a launch, of many after each other";
    case LaunchKind::graph:
      return fmt::format("a kernel, in a graph of {}", launch.count);
    case LaunchKind::allocate:
      return "allocating and freeing " + shown_bytes(static_cast<double>(launch.bytes));
    case LaunchKind::synchronise:
      return "waiting for nothing";
  }
  return "";
}

}  // namespace

Section link_section(const std::vector<Run>& runs, const DeviceInfo& device, const Rates& rates) {
  Section section{"links", "Copies between memories, measured", {}, {}, {}};
  Chart chart = copy_chart(rates);
  if (!chart.series.empty()) section.charts.push_back(std::move(chart));
  Table best = copy_table(rates);
  if (!best.rows.empty()) section.tables.push_back(std::move(best));
  const Matrix matrices[] = {
      {"transfer/to_device_", "/engine", "peers_engine", "Device to device, one way, by the driver's copy"},
      {"transfer/to_device_", "/kernel", "peers_store", "Device to device, one way, by stores of a kernel"},
      {"transfer/from_device_", "/kernel", "peers_load",
       "Device from device, one way, by loads of a kernel (rows read, columns are read)"},
      {"transfer/both_ways_device_", "/engine", "peers_both",
       "Device and device, both ways at once, bytes of both together"}};
  for (const Matrix& matrix : matrices) {
    Table table = matrix_table(runs, device, matrix);
    if (!table.rows.empty()) section.tables.push_back(std::move(table));
  }
  return section;
}

Section overhead_section(const Rates& rates) {
  Section section{"overheads", "What starting costs", {}, {}, {}};
  Table table{"overheads", "By the host's clock", {"What", "Time", "Case"}, {}, ""};
  for (const Known& known : rates.known()) {
    const auto* launch = std::get_if<Launch>(&known.op);
    if (launch == nullptr) continue;
    const double count = static_cast<double>(launch->count);
    table.rows.push_back(
        {launch_words(*launch),
         quantity(known.seconds / count, known.lower / count, known.upper / count, ReportUnit::seconds),
         known.case_name});
  }
  if (!table.rows.empty()) section.tables.push_back(std::move(table));
  return section;
}

}  // namespace assay
