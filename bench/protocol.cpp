// Structures to JSON and back. Absent stays absent.
// SPDX-License-Identifier: Apache-2.0
#include "bench/protocol.h"

#include <optional>
#include <string>

namespace assay {
namespace {

using nlohmann::json;

template <typename T>
void put(json& into, const char* name, const std::optional<T>& value) {
  if (value) into[name] = *value;
}

void put(json& into, const char* name, const std::string& value) {
  if (!value.empty()) into[name] = value;
}

template <typename T>
void get(const json& from, const char* name, std::optional<T>& value) {
  if (const auto found = from.find(name); found != from.end() && !found->is_null()) value = found->get<T>();
}

void get(const json& from, const char* name, std::string& value) {
  if (const auto found = from.find(name); found != from.end()) value = found->get<std::string>();
}

}  // namespace

json to_json(const Fact& fact) {
  json to = {{"name", fact.name}};
  put(to, "value", fact.value);
  put(to, "unit", fact.unit);
  put(to, "text", fact.text);
  put(to, "reason", fact.reason);
  put(to, "source", fact.source);
  return to;
}

Fact fact_from(const json& from) {
  Fact fact;
  get(from, "name", fact.name);
  get(from, "value", fact.value);
  get(from, "unit", fact.unit);
  get(from, "text", fact.text);
  get(from, "reason", fact.reason);
  get(from, "source", fact.source);
  return fact;
}

json to_json(const DeviceInfo& device) {
  json to = {{"id", device.id}, {"backend", device.backend}, {"name", device.name}};
  put(to, "vendor", device.vendor);
  put(to, "architecture", device.architecture);
  put(to, "memory_total", device.memory_total);
  put(to, "memory_available", device.memory_available);
  put(to, "compute_units", device.compute_units);
  put(to, "clock_hertz", device.clock_hertz);
  for (const CacheLevel& cache : device.caches)
    to["caches"].push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"instances", cache.instances}});
  put(to, "driver", device.driver);
  put(to, "runtime", device.runtime);
  put(to, "unique_id", device.unique_id);
  for (const Fact& fact : device.facts) to["facts"].push_back(to_json(fact));
  return to;
}

DeviceInfo device_from(const json& from) {
  DeviceInfo device;
  get(from, "id", device.id);
  get(from, "backend", device.backend);
  get(from, "name", device.name);
  get(from, "vendor", device.vendor);
  get(from, "architecture", device.architecture);
  get(from, "memory_total", device.memory_total);
  get(from, "memory_available", device.memory_available);
  get(from, "compute_units", device.compute_units);
  get(from, "clock_hertz", device.clock_hertz);
  for (const json& cache : from.value("caches", json::array()))
    device.caches.push_back({cache.at("level"), cache.at("bytes"), cache.at("instances")});
  get(from, "driver", device.driver);
  get(from, "runtime", device.runtime);
  get(from, "unique_id", device.unique_id);
  for (const json& fact : from.value("facts", json::array())) device.facts.push_back(fact_from(fact));
  return device;
}

json to_json(const TelemetrySample& sample) {
  json to = {{"time", sample.time}};
  put(to, "clock_hertz", sample.clock_hertz);
  put(to, "memory_clock_hertz", sample.memory_clock_hertz);
  put(to, "power_watts", sample.power_watts);
  put(to, "energy_joules", sample.energy_joules);
  put(to, "temperature_celsius", sample.temperature_celsius);
  put(to, "other_load", sample.other_load);
  put(to, "memory_used", sample.memory_used);
  put(to, "throttle", sample.throttle);
  put(to, "memory_temperature_celsius", sample.memory_temperature_celsius);
  put(to, "busy", sample.busy);
  put(to, "pcie_generation", sample.pcie_generation);
  put(to, "pcie_width", sample.pcie_width);
  put(to, "pcie_generation_most", sample.pcie_generation_most);
  put(to, "pcie_width_most", sample.pcie_width_most);
  if (!sample.conditions.empty()) to["conditions"] = sample.conditions;
  for (const ErrorCount& error : sample.errors) to["errors"].push_back({error.name, error.count});
  return to;
}

TelemetrySample sample_from(const json& from) {
  TelemetrySample sample;
  sample.time = from.at("time");
  get(from, "clock_hertz", sample.clock_hertz);
  get(from, "memory_clock_hertz", sample.memory_clock_hertz);
  get(from, "power_watts", sample.power_watts);
  get(from, "energy_joules", sample.energy_joules);
  get(from, "temperature_celsius", sample.temperature_celsius);
  get(from, "other_load", sample.other_load);
  get(from, "memory_used", sample.memory_used);
  get(from, "throttle", sample.throttle);
  get(from, "memory_temperature_celsius", sample.memory_temperature_celsius);
  get(from, "busy", sample.busy);
  get(from, "pcie_generation", sample.pcie_generation);
  get(from, "pcie_width", sample.pcie_width);
  get(from, "pcie_generation_most", sample.pcie_generation_most);
  get(from, "pcie_width_most", sample.pcie_width_most);
  if (from.contains("conditions")) sample.conditions = from.at("conditions").get<std::vector<std::string>>();
  if (from.contains("errors"))
    for (const json& error : from.at("errors"))
      sample.errors.push_back({error.at(0).get<std::string>(), error.at(1).get<std::int64_t>()});
  return sample;
}

json to_json(const Row& row) {
  json to = json::object();
  for (const Column& column : columns()) {
    std::string cell = column.write(row);
    // The writer gives a row its run and number.
    if (column.name == "run" || column.name == "number" || column.name == "rank") continue;
    if (!cell.empty()) to[std::string(column.name)] = std::move(cell);
  }
  return to;
}

Row row_from(const json& from) {
  Row row;
  for (const Column& column : columns()) {
    const auto found = from.find(std::string(column.name));
    if (found != from.end()) column.parse(row, found->get<std::string>());
  }
  return row;
}

}  // namespace assay
