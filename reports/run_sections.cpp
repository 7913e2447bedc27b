// The parts of a report that come from the run alone: device, facts, rows that went wrong, provenance.
// SPDX-License-Identifier: Apache-2.0
#include "reports/run_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

ReportUnit unit_of(const std::string& unit) {
  if (unit == "bytes" || unit == "B") return ReportUnit::bytes;
  if (unit == "seconds" || unit == "s") return ReportUnit::seconds;
  if (unit == "bytes_per_second" || unit == "B/s") return ReportUnit::bytes_per_second;
  if (unit == "flop/s") return ReportUnit::flops_per_second;
  if (unit == "hertz" || unit == "Hz") return ReportUnit::hertz;
  return ReportUnit::none;
}

Cell fact_cell(const Fact& fact) {
  if (!fact.value) return fact.text.empty() ? "unknown" : fact.text;
  const ReportUnit unit = unit_of(fact.unit);
  if (unit != ReportUnit::none || fact.unit.empty() || fact.unit == "1") return quantity(*fact.value, unit);
  return plain_number(*fact.value) + " " + fact.unit;
}

void add_fact(Table& table, const std::string& name, const std::string& value, const std::string& remark) {
  if (!value.empty()) table.rows.push_back({name, value, remark});
}

void add_facts(Table& table, const std::vector<Fact>& facts) {
  for (const Fact& fact : facts) {
    const std::string remark = fact.reason.empty()   ? fact.source
                               : fact.source.empty() ? fact.reason
                                                     : fact.reason + " (" + fact.source + ")";
    table.rows.push_back({fact.name, fact_cell(fact), remark});
  }
}

Table device_table(const DeviceInfo& device) {
  Table table{"device", "The device", {"What", "Value", "Source or remark"}, {}, ""};
  add_fact(table, "device", device.id, "");
  add_fact(table, "name", device.name, "as its maker calls it");
  add_fact(table, "vendor", device.vendor, "");
  add_fact(table, "architecture", device.architecture, "");
  if (device.compute_units) add_fact(table, "compute units", std::to_string(*device.compute_units), "that it may use");
  if (device.clock_hertz)
    table.rows.push_back({"clock", quantity(*device.clock_hertz, ReportUnit::hertz), "as the system states it"});
  if (device.memory_total)
    table.rows.push_back(
        {"memory", quantity(static_cast<double>(*device.memory_total), ReportUnit::bytes), "all it could ever get"});
  if (device.memory_available)
    table.rows.push_back({"memory free", quantity(static_cast<double>(*device.memory_available), ReportUnit::bytes),
                          "when the run began"});
  for (const CacheLevel& cache : device.caches)
    table.rows.push_back({fmt::format("cache, level {}", cache.level),
                          quantity(static_cast<double>(cache.bytes), ReportUnit::bytes),
                          fmt::format("{} of them", cache.instances)});
  add_fact(table, "driver", device.driver, "");
  add_fact(table, "runtime", device.runtime, "");
  add_facts(table, device.facts);
  return table;
}

Table survey_table(const std::vector<Run>& runs, const DeviceInfo& device) {
  Table table{"surveys", "Found out by trying", {"What", "Value", "Case"}, {}, ""};
  for (const Run& run : runs) {
    for (const Row& row : run.rows) {
      const bool survey =
          row.op.empty() && row.metric != "seconds" && (row.family == "capacity" || row.family == "host");
      if (!survey || row.status != Status::ok || !(row.device.empty() || row.device == device.id)) continue;
      Fact fact;
      fact.value = row.value;
      fact.unit = row.unit;
      fact.text = row.reason;
      table.rows.push_back({row.metric, fact_cell(fact), row.case_name});
    }
  }
  return table;
}

std::string known_devices(const std::vector<Run>& runs) {
  std::set<std::string> names;
  for (const Run& run : runs)
    for (const DeviceInfo& device : run.info.devices) names.insert(device.id);
  return names.empty() ? "none" : joined({names.begin(), names.end()});
}

}  // namespace

DeviceInfo chosen_device(const std::vector<Run>& runs, const std::string& wanted) {
  if (runs.empty()) throw BadInput("no run was given; name the folder of one");
  for (const Run& run : runs)
    for (const DeviceInfo& device : run.info.devices)
      if (wanted.empty() || device.id == wanted) return device;
  if (!wanted.empty()) throw BadInput("no run has a device \"" + wanted + "\"; there are: " + known_devices(runs));
  return {};  // a run that found nothing: the memory is judged, and that it is not known is said
}

std::string subtitle(const std::vector<Run>& runs, const DeviceInfo& device) {
  std::string words = device.name.empty() ? (device.id.empty() ? "no device" : device.id) : device.name;
  if (device.compute_units && device.backend == "cpu")
    words += ", " + counted(static_cast<std::size_t>(*device.compute_units), "core");
  if (!device.id.empty() && !device.name.empty()) words += " (" + device.id + ")";
  std::vector<std::string> ids;
  for (const Run& run : runs) ids.push_back(run.info.id);
  words += "; " + std::string(runs.size() == 1 ? "run " : "runs ") + joined(ids);
  if (!runs.front().info.started_utc.empty()) words += ", measured " + runs.front().info.started_utc;
  return words;
}

Section whole_steps_section(const std::vector<Run>& runs, const DeviceInfo& device) {
  Section section{"steps", "Whole decoder blocks, measured", {}, {}, {}};
  Table table{"steps", "Forward and backward of one block", {"Case", "Precision", "Time", "Note"}, {}, ""};
  for (const Run& run : runs) {
    for (const Row& row : run.rows) {
      const bool step = row.family == "train" && row.op.empty() && row.metric == "seconds";
      // Steps of whole models have a section of their own; their names end in batch x length.
      const bool whole = row.case_name.find('x', row.case_name.rfind('/') + 1) != std::string::npos;
      if (!step || whole || row.device != device.id || row.status != Status::ok || !row.value ||
          has_condition(row, "planted"))
        continue;
      table.rows.push_back(
          {row.case_name, row.precision,
           quantity(*row.value, row.lower.value_or(*row.value), row.upper.value_or(*row.value), ReportUnit::seconds),
           row.conditions});
    }
  }
  if (!table.rows.empty()) section.tables.push_back(table);
  return section;
}

Section machine_section(const std::vector<Run>& runs, const DeviceInfo& device) {
  Section section{"machine", "The machine", {}, {}, {}};
  section.tables.push_back(device_table(device));
  Table host{"host", "The host", {"What", "Value", "Source or remark"}, {}, ""};
  const RunInfo& info = runs.front().info;
  add_fact(host, "host", info.host, "");
  add_fact(host, "kernel", info.kernel, "");
  add_fact(host, "distribution", info.distribution, "");
  add_facts(host, info.facts);
  section.tables.push_back(host);
  const Table surveys = survey_table(runs, device);
  if (!surveys.rows.empty()) section.tables.push_back(surveys);
  return section;
}

Section trouble_section(const std::vector<Run>& runs, const DeviceInfo& device) {
  Section section{"trouble", "What did not go well", {}, {}, {}};
  Table table{"trouble", "Cases without a usable number", {"Case", "Status", "Reason"}, {}, ""};
  for (const Status status : {Status::mistrusted, Status::failed, Status::skipped}) {
    for (const Run& run : runs) {
      for (const Row& row : run.rows) {
        if (row.status != status || !(row.device.empty() || row.device == device.id)) continue;
        table.rows.push_back({row.case_name + (row.op.empty() && !row.metric.empty() ? ", " + row.metric : ""),
                              text(row.status), row.reason});
      }
    }
  }
  if (table.rows.empty())
    section.paragraphs.push_back("Every case gave a number.");
  else
    section.tables.push_back(table);
  return section;
}

std::vector<std::pair<std::string, std::string>> provenance(const std::vector<Run>& runs, const DeviceInfo& device) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) lines.emplace_back(name, value);
  };
  add("device", device.id);
  for (const Run& run : runs) {
    const RunInfo& info = run.info;
    add("run", info.id);
    add("folder", run.path.string());
    add("measured by", info.program_version.empty() ? "" : "assay " + info.program_version);
    add("commit", info.commit);
    add("build", info.build_type + (info.compiler.empty() ? "" : ", " + info.compiler));
    add("profile", info.profile);
    add("filter", info.filter);
    add("command", info.command);
    add("started", info.started_utc);
    add("ended", info.ended_utc.empty() ? text(info.ending) : info.ended_utc + " (" + text(info.ending) + ")");
    for (const auto& [key, value] : info.labels) add("label " + key, value);
    for (const auto& [key, value] : info.environment) add("environment " + key, value);
  }
  return lines;
}

}  // namespace assay
