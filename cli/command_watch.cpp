// `assay watch -- COMMAND`: runs it, and says what it took; its exit code is passed on.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "bench/watch.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/report_files.h"
#include "core/error.h"
#include "core/loader.h"
#include "reports/framework_memory.h"
#include "reports/memory.h"
#include "reports/phrase.h"
#include "reports/render.h"
#include "reports/workload.h"

namespace assay {
namespace {

double number(std::int64_t value) { return static_cast<double>(value); }

Quantity bytes(const std::optional<std::int64_t>& value, const std::string& reason) {
  return value ? quantity(number(*value), ReportUnit::bytes) : unknown(ReportUnit::bytes, reason);
}

std::string command_line(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
  return line;
}

// What stands for the memory of the command: shared pages counted once, where the kernel tells.
Quantity host_peak(const Watched& watched) {
  const std::int64_t most =
      std::max(watched.proportional_peak.value_or(watched.resident_peak), watched.largest_process_peak);
  return quantity(number(most), ReportUnit::bytes);
}

Table host_table(const Watched& watched) {
  Table table{"host", "The host", {"What", "Value", "How it is known"}, {}, ""};
  const auto add = [&](const std::string& what, const Quantity& value, const std::string& how) {
    table.rows.push_back({what, value, how});
  };
  add("peak of all processes", bytes(watched.proportional_peak, "the kernel does not tell shared pages apart"),
      fmt::format("sum of Pss in smaps_rollup, {} looks: shared pages once", watched.proportional_samples));
  add("peak of all, pages of each", quantity(number(watched.resident_peak), ReportUnit::bytes),
      fmt::format("sum of resident pages, {} looks: shared pages each time", watched.samples));
  add("peak of the largest process", quantity(number(watched.largest_process_peak), ReportUnit::bytes),
      "the kernel's own, between the looks, too");
  add("memory of the control group", bytes(watched.group_peak, "no memory control group is visible"),
      watched.group_before
          ? "with " + shown_bytes(number(*watched.group_before)) + " before; caches and others in it count"
          : "");
  if (watched.host_available_least)
    add("least memory left on the host", bytes(watched.host_available_least, ""), "MemAvailable in /proc/meminfo");
  add("processor time", quantity(watched.cpu_seconds, ReportUnit::seconds), "the kernel's account at the end");
  add("processors busy, on average",
      quantity(watched.seconds > 0 ? watched.cpu_seconds / watched.seconds : 0, ReportUnit::none),
      "processor time by time");
  add("processors busy, at most", quantity(watched.cores_peak, ReportUnit::none), "between two looks");
  add("processes at once, at most", quantity(watched.processes_peak, ReportUnit::count), "");
  return table;
}

Table process_table(const Watched& watched) {
  constexpr std::size_t most = 20;
  Table table{
      "processes", "The largest processes", {"Process", "Number", "Peak", "Shared once", "Processor time"}, {}, ""};
  for (const WatchedProcess& process : watched.processes) {
    if (table.rows.size() == most) break;
    table.rows.push_back(
        {process.name, std::to_string(process.pid), quantity(number(process.resident_peak), ReportUnit::bytes),
         bytes(process.proportional_peak, "not read"), quantity(process.cpu_seconds, ReportUnit::seconds)});
  }
  if (watched.processes.size() > most) table.note = fmt::format("{} in all.", watched.processes.size());
  return table;
}

// Only the columns of which at least one device tells something.
Table device_table(const Watched& watched) {
  struct Column {
    std::string title;
    std::optional<double> (*value)(const WatchedDevice&);
    ReportUnit unit;
  };
  const std::vector<Column> columns{
      {"Memory before",
       [](const WatchedDevice& one) {
         return one.memory_before ? std::optional(number(*one.memory_before)) : std::nullopt;
       },
       ReportUnit::bytes},
      {"Memory, peak",
       [](const WatchedDevice& one) {
         return one.memory_peak ? std::optional(number(*one.memory_peak)) : std::nullopt;
       },
       ReportUnit::bytes},
      {"Power, mean", [](const WatchedDevice& one) { return one.power_mean; }, ReportUnit::watts},
      {"Power, peak", [](const WatchedDevice& one) { return one.power_peak; }, ReportUnit::watts},
      {"Energy", [](const WatchedDevice& one) { return one.energy; }, ReportUnit::joules},
      {"Busy", [](const WatchedDevice& one) { return one.busy; }, ReportUnit::share},
      {"Hottest, °C", [](const WatchedDevice& one) { return one.temperature_peak; }, ReportUnit::none}};
  Table table{"devices", "The devices, everything on them together", {"Device"}, {}, ""};
  for (const WatchedDevice& one : watched.devices) table.rows.push_back({one.device.id});
  std::vector<std::string> silent;
  for (const Column& column : columns) {
    const bool told = std::any_of(watched.devices.begin(), watched.devices.end(),
                                  [&](const WatchedDevice& one) { return column.value(one).has_value(); });
    if (!told) {
      silent.push_back(column.title);
      continue;
    }
    table.columns.push_back(column.title);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const auto value = column.value(watched.devices[row]);
      table.rows[row].push_back(value ? quantity(*value, column.unit) : unknown(column.unit, "not told"));
    }
  }
  table.note = "Memory is what the driver calls used: other programs on the device, and the driver's own share, count.";
  if (!silent.empty()) table.note += " No device told: " + joined(silent, "; ") + ".";
  return table;
}

std::vector<Finding> findings(const Watched& watched) {
  std::vector<Finding> all;
  if (watched.ended.by_signal || watched.ended.code != 0)
    all.push_back({Severity::problem, "The command " + describe(watched.ended) + ".", "",
                   watched.ended.by_signal && watched.ended.code == 9
                       ? "the kernel kills for want of memory: compare the peak with the limit below"
                       : ""});
  if (watched.group_limit && watched.group_peak && *watched.group_peak > *watched.group_limit * 9 / 10)
    all.push_back({Severity::warning, "The memory of the control group came within a tenth of its limit.",
                   shown_bytes(number(*watched.group_peak)) + " of " + shown_bytes(number(*watched.group_limit)), ""});
  for (const WatchedDevice& one : watched.devices)
    if (!one.conditions.empty())
      all.push_back({Severity::warning, one.device.id + " was not undisturbed.", joined(one.conditions), ""});
  all.push_back(
      {Severity::info,
       fmt::format("Looked {} times, every {}; the longest gap was {}.", watched.samples,
                   shown(watched.period, ReportUnit::seconds), shown(watched.longest_gap, ReportUnit::seconds)),
       "a peak that comes and goes between two looks is missed; only the peak of the largest process is the "
       "kernel's own",
       "--period 20ms looks more often"});
  for (const std::string& remark : watched.remarks) all.push_back({Severity::info, remark, "", ""});
  return all;
}

Report report_of(const Watched& watched) {
  Report report;
  report.title = "Watched: " + command_line(watched.command);
  report.subtitle = "begun " + watched.started_utc + ", " + describe(watched.ended);
  report.headline.emplace_back("peak host memory", host_peak(watched));
  for (const WatchedDevice& one : watched.devices)
    if (one.memory_peak && one.device.backend != "cpu")
      report.headline.emplace_back("peak on " + one.device.id, bytes(one.memory_peak, ""));
  report.headline.emplace_back("time", quantity(watched.seconds, ReportUnit::seconds));
  report.headline.emplace_back("processor time", quantity(watched.cpu_seconds, ReportUnit::seconds));
  report.findings = findings(watched);
  Section section{"watched", "What it took", {}, {host_table(watched), process_table(watched)}, {}};
  if (!watched.devices.empty()) section.tables.push_back(device_table(watched));
  report.sections.push_back(section);
  report.provenance = {{"command", command_line(watched.command)},
                       {"begun", watched.started_utc},
                       {"exit code", std::to_string(exit_code_of(watched.ended))}};
  return report;
}

// The figures that a framework wrote itself, beside what was seen from outside.
void add_framework(Report& report, const std::filesystem::path& file, const Watched& watched) {
  try {
    std::optional<double> device;
    for (const WatchedDevice& one : watched.devices)
      if (one.memory_peak && one.device.backend != "cpu")
        device = std::max(device.value_or(0), number(*one.memory_peak));
    report.sections.front().tables.push_back(framework_table(read_framework_memory(file), device));
  } catch (const Error& error) {
    report.findings.insert(report.findings.begin(),
                           {Severity::warning, "The framework's own figures could not be read.", error.what(), ""});
  }
}

// The prediction for the model and the workload beside what was seen: of the host where no other device has memory.
void add_prediction(Report& report, const WatchRequest& request, const Watched& watched) {
  const ModelSpec model = find_model(request.model);
  std::optional<double> seen;
  for (const WatchedDevice& one : watched.devices)
    if (one.memory_peak && one.device.backend != "cpu") seen = std::max(seen.value_or(0), number(*one.memory_peak));
  Overheads overheads;
  overheads.processor = !seen;
  const MemoryBudget budget = memory_budget(model, resolve(request.workload, model), overheads);
  const double peak = seen ? *seen : *host_peak(watched).value;
  Table table{"prediction", "Predicted and seen", {"What", "Bytes"}, {}, ""};
  table.rows.push_back(
      {"predicted, " + budget.moment, quantity(budget.total(), budget.lower(), budget.upper(), ReportUnit::bytes)});
  table.rows.push_back({seen ? "seen on the fullest device" : "seen on the host", quantity(peak, ReportUnit::bytes)});
  table.rows.push_back({"seen less predicted", quantity(peak - budget.total(), ReportUnit::bytes)});
  table.rows.push_back({"of the prediction", quantity((peak - budget.total()) / budget.total(), ReportUnit::share)});
  const bool inside = peak >= budget.lower() && peak <= budget.upper();
  table.note =
      inside ? "What was seen lies within the prediction's interval."
             : "What was seen lies outside the prediction's interval: another batch or context, other programs on "
               "the device, or a framework that keeps more.";
  report.headline.emplace_back("predicted",
                               quantity(budget.total(), budget.lower(), budget.upper(), ReportUnit::bytes));
  report.sections.front().tables.insert(report.sections.front().tables.begin(), table);
}

}  // namespace

int watch(const WatchRequest& request, const Terminal& terminal) {
  for (const std::filesystem::path& file : request.out) {
    check_report_file(file);
    refuse_existing(file, request.force);
  }
  // A bad model or workload is found before the command runs, not after.
  if (!request.model.empty()) {
    const ModelSpec model = find_model(request.model);
    resolve(request.workload, model);
  }
  WatchQuestion question;
  question.command = request.command;
  question.period = request.period;
  question.plugins = request.plugins.empty() ? plugin_folder() : request.plugins;
  const Watched watched = watch(question);
  const int code = exit_code_of(watched.ended);
  try {
    Report report = report_of(watched);
    if (!request.model.empty()) add_prediction(report, request, watched);
    if (!request.framework.empty()) add_framework(report, request.framework, watched);
    const auto files = write_reports(report, request.out);
    // To standard error, for standard output is the command's.
    const TerminalStyle style{terminal.width, terminal.colour, terminal.ascii, !request.whole};
    if (!request.quiet) std::fputs(("\n" + render_terminal(report, style, files)).c_str(), stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay: %s\n", error.what());
    return code == 0 ? exit_internal : code;
  }
  return code;
}

}  // namespace assay
