// run.json: what was measured, where, with what, and how it ended.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"
#include "results/cell.h"
#include "results/run.h"

namespace assay {
namespace {

// Ordered, so that the file reads from the general to the particular.
using Json = nlohmann::ordered_json;

// Deeper than any field Assay writes, shallower than what would exhaust a stack.
constexpr int deepest = 32;

// Writing. Absent fields are left out.

void put(Json& object, const char* name, const std::string& text) {
  if (!text.empty()) object[name] = text;
}

template <class Number>
void put(Json& object, const char* name, const std::optional<Number>& value) {
  if (value) object[name] = *value;
}

Json write_fact(const Fact& fact) {
  Json object = Json::object();
  object["name"] = fact.name;
  // JSON has no NaN and no infinity; such a value is as good as absent.
  if (fact.value && std::isfinite(*fact.value)) object["value"] = *fact.value;
  put(object, "unit", fact.unit);
  put(object, "text", fact.text);
  put(object, "reason", fact.reason);
  put(object, "source", fact.source);
  return object;
}

Json write_facts(const std::vector<Fact>& facts) {
  Json list = Json::array();
  for (const Fact& fact : facts) list.push_back(write_fact(fact));
  return list;
}

Json write_device(const DeviceInfo& device) {
  Json object = Json::object();
  object["id"] = device.id;
  put(object, "backend", device.backend);
  put(object, "name", device.name);
  put(object, "vendor", device.vendor);
  put(object, "architecture", device.architecture);
  put(object, "memory_total", device.memory_total);
  put(object, "memory_available", device.memory_available);
  put(object, "compute_units", device.compute_units);
  if (device.clock_hertz && std::isfinite(*device.clock_hertz)) object["clock_hertz"] = *device.clock_hertz;
  Json caches = Json::array();
  for (const CacheLevel& cache : device.caches) {
    caches.push_back({{"level", cache.level}, {"bytes", cache.bytes}, {"instances", cache.instances}});
  }
  object["caches"] = std::move(caches);
  put(object, "driver", device.driver);
  put(object, "runtime", device.runtime);
  put(object, "unique_id", device.unique_id);
  object["facts"] = write_facts(device.facts);
  return object;
}

// Reading. A value with the place where it stands, for messages.
struct Field {
  const Json& value;
  std::string place;  // "run.json: devices[0].memory_total"

  [[noreturn]] void fail(const std::string& expected) const {
    throw BadInput(place + ": expected " + expected + ", found " + shown(value.dump(-1, ' ', true)));
  }
  Field at(const char* name) const { return {value.at(name), place + (place.back() == ' ' ? "" : ".") + name}; }
  Field at(std::size_t index) const { return {value.at(index), place + "[" + std::to_string(index) + "]"}; }
  bool has(const char* name) const { return value.contains(name); }
  const Field& object() const {
    if (!value.is_object()) fail("an object");
    return *this;
  }

  std::string text() const {
    if (!value.is_string()) fail("a text");
    return clean_text(value.get_ref<const std::string&>());
  }
  double number() const {
    if (!value.is_number() || !std::isfinite(value.get<double>())) fail("a number");
    return value.get<double>();
  }
  std::int64_t whole(std::int64_t most = std::numeric_limits<std::int64_t>::max()) const {
    if (!value.is_number_integer()) fail("a whole number");
    // An unsigned value is one beyond 63 bits or not; a signed one is negative.
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
      fail("a whole number from 0 to " + std::to_string(most));
    }
    return value.get<std::int64_t>();
  }
  std::size_t length() const {
    if (!value.is_array()) fail("a list");
    return value.size();
  }
};

// Optional fields: what is missing keeps its default.

std::string read_text(const Field& object, const char* name) {
  return object.has(name) ? object.at(name).text() : std::string();
}

std::optional<double> read_number(const Field& object, const char* name) {
  return object.has(name) ? std::optional<double>(object.at(name).number()) : std::nullopt;
}

std::optional<std::int64_t> read_whole(const Field& object, const char* name) {
  return object.has(name) ? std::optional<std::int64_t>(object.at(name).whole()) : std::nullopt;
}

int read_int(const Field& object, const char* name, int otherwise) {
  if (!object.has(name)) return otherwise;
  return static_cast<int>(object.at(name).whole(std::numeric_limits<int>::max()));
}

std::vector<Fact> read_facts(const Field& object) {
  std::vector<Fact> facts;
  if (!object.has("facts")) return facts;
  const Field list = object.at("facts");
  for (std::size_t i = 0; i < list.length(); ++i) {
    const Field one = list.at(i);
    one.object();
    facts.push_back({read_text(one, "name"), read_number(one, "value"), read_text(one, "unit"), read_text(one, "text"),
                     read_text(one, "reason"), read_text(one, "source")});
  }
  return facts;
}

DeviceInfo read_device(const Field& object) {
  object.object();
  if (!object.has("id")) object.fail("a device with an \"id\"");
  DeviceInfo device;
  device.id = read_text(object, "id");
  device.backend = read_text(object, "backend");
  device.name = read_text(object, "name");
  device.vendor = read_text(object, "vendor");
  device.architecture = read_text(object, "architecture");
  device.memory_total = read_whole(object, "memory_total");
  device.memory_available = read_whole(object, "memory_available");
  if (object.has("compute_units")) device.compute_units = read_int(object, "compute_units", 0);
  device.clock_hertz = read_number(object, "clock_hertz");
  if (object.has("caches")) {
    const Field caches = object.at("caches");
    for (std::size_t i = 0; i < caches.length(); ++i) {
      const Field cache = caches.at(i);
      cache.object();
      device.caches.push_back(
          {read_int(cache, "level", 0), read_whole(cache, "bytes").value_or(0), read_int(cache, "instances", 1)});
    }
  }
  device.driver = read_text(object, "driver");
  device.runtime = read_text(object, "runtime");
  device.unique_id = read_text(object, "unique_id");
  device.facts = read_facts(object);
  return device;
}

std::map<std::string, std::string> read_texts(const Field& object, const char* name) {
  std::map<std::string, std::string> texts;
  if (!object.has(name)) return texts;
  const Field map = object.at(name);
  map.object();
  for (const auto& item : map.value.items()) texts[clean_text(item.key())] = map.at(item.key().c_str()).text();
  return texts;
}

Ending read_ending(const Field& object) {
  const Field field = object.at("ending");
  const std::string word = field.text();
  for (const Ending ending : {Ending::running, Ending::complete, Ending::budget, Ending::interrupted, Ending::failed}) {
    if (word == text(ending)) return ending;
  }
  field.fail("running, complete, budget, interrupted or failed");
}

Json parse_json(std::string_view text, const std::string& name) {
  const auto guard = [&](int depth, Json::parse_event_t, const Json&) {
    if (depth > deepest) {
      throw BadInput(name + ": it is nested more than " + std::to_string(deepest) + " deep, which no run.json is");
    }
    return true;
  };
  try {
    return Json::parse(text, guard);
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    std::string said = error.what();
    const auto bracket = said.find("] ");
    if (bracket != std::string::npos) said.erase(0, bracket + 2);
    throw BadInput(name + ": it is not JSON, or only the beginning of it (" + clean_text(said) +
                   "); copy the run again from where it was measured");
  }
}

void check_identity(const Field& root) {
  if (!root.value.is_object() || !root.has("schema") || !root.has("id") || !root.has("ending")) {
    throw BadInput(root.place + "it is not the run.json of an Assay run: \"schema\", \"id\" or \"ending\" is missing");
  }
  const std::int64_t schema = root.at("schema").whole();
  if (schema < 1 || schema > current_schema) {
    throw BadInput(root.place + "its schema is " + std::to_string(schema) + ", and this program reads 1 to " +
                   std::to_string(current_schema) +
                   "; read it with the version of Assay that wrote it, or a newer one");
  }
}

}  // namespace

std::string text(Ending ending) {
  switch (ending) {
    case Ending::running:
      return "running";
    case Ending::complete:
      return "complete";
    case Ending::budget:
      return "budget";
    case Ending::interrupted:
      return "interrupted";
    case Ending::failed:
      return "failed";
  }
  return "";
}

std::string write_run_info(const RunInfo& info) {
  Json root = Json::object();
  root["schema"] = current_schema;
  root["id"] = info.id;
  root["ending"] = text(info.ending);
  put(root, "ending_reason", info.ending_reason);
  put(root, "started_utc", info.started_utc);
  put(root, "ended_utc", info.ended_utc);
  put(root, "program_version", info.program_version);
  put(root, "commit", info.commit);
  put(root, "build_type", info.build_type);
  put(root, "compiler", info.compiler);
  put(root, "command", info.command);
  put(root, "profile", info.profile);
  put(root, "filter", info.filter);
  put(root, "asked", info.asked);
  if (info.budget_seconds > 0 && std::isfinite(info.budget_seconds)) root["budget_seconds"] = info.budget_seconds;
  if (info.repeat > 1) root["repeat"] = info.repeat;
  root["labels"] = info.labels;
  root["environment"] = info.environment;
  put(root, "host", info.host);
  put(root, "kernel", info.kernel);
  put(root, "distribution", info.distribution);
  Json devices = Json::array();
  for (const DeviceInfo& device : info.devices) devices.push_back(write_device(device));
  root["devices"] = std::move(devices);
  root["facts"] = write_facts(info.facts);
  root["planned"] = info.planned;
  return root.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

RunInfo parse_run_info(std::string_view text, const std::string& name) {
  const Json json = parse_json(text, name);
  const Field root{json, name + ": "};
  check_identity(root);
  RunInfo info;
  info.schema = static_cast<int>(root.at("schema").whole());
  info.id = root.at("id").text();
  info.ending = read_ending(root);
  info.ending_reason = read_text(root, "ending_reason");
  info.started_utc = read_text(root, "started_utc");
  info.ended_utc = read_text(root, "ended_utc");
  info.program_version = read_text(root, "program_version");
  info.commit = read_text(root, "commit");
  info.build_type = read_text(root, "build_type");
  info.compiler = read_text(root, "compiler");
  info.command = read_text(root, "command");
  info.profile = read_text(root, "profile");
  info.filter = read_text(root, "filter");
  info.asked = read_text(root, "asked");
  info.budget_seconds = read_number(root, "budget_seconds").value_or(0);
  info.repeat = static_cast<int>(std::clamp(read_number(root, "repeat").value_or(1), 1.0, 1000.0));
  info.labels = read_texts(root, "labels");
  info.environment = read_texts(root, "environment");
  info.host = read_text(root, "host");
  info.kernel = read_text(root, "kernel");
  info.distribution = read_text(root, "distribution");
  if (root.has("devices")) {
    const Field devices = root.at("devices");
    for (std::size_t i = 0; i < devices.length(); ++i) info.devices.push_back(read_device(devices.at(i)));
  }
  info.facts = read_facts(root);
  if (root.has("planned")) {
    const Field planned = root.at("planned");
    for (std::size_t i = 0; i < planned.length(); ++i) info.planned.push_back(planned.at(i).text());
  }
  return info;
}

}  // namespace assay
