// Fields of runs, devices and rows, and whether they are equal.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/comparable.h"

#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "reports/phrase.h"

namespace assay::gate {
namespace {

struct Field {
  std::string subject, device, value;
};
using Fields = std::map<std::string, Field>;

struct FactField {
  std::string_view name, subject;
};

// Facts that change with nothing are not here: counters, free memory, temperatures. A power limit or clock that a
// driver sets anew is a setting all the same: somebody must say that it may differ.
constexpr std::array fact_fields = {FactField{"ecc", "settings"},
                                    FactField{"compute_mode", "settings"},
                                    FactField{"persistence_mode", "settings"},
                                    FactField{"confidential_computing", "settings"},
                                    FactField{"power_limit_watts", "settings"},
                                    FactField{"clock_set_hertz", "settings"},
                                    FactField{"clock_most_hertz", "settings"},
                                    FactField{"memory_clock_most_hertz", "settings"},
                                    FactField{"performance_level", "settings"},
                                    FactField{"compute_partition", "settings"},
                                    FactField{"memory_partition", "settings"},
                                    FactField{"partition", ""},
                                    FactField{"virtualisation", ""},
                                    FactField{"memory_bus_bits", ""},
                                    FactField{"numa_node", ""},
                                    FactField{"vbios_version", ""},
                                    FactField{"vbios", ""},
                                    FactField{"cores_allowed", "settings"},
                                    FactField{"cpu_quota_cores", "settings"}};

// Versions of the driver, and libraries as they were loaded, whatever their names.
std::optional<std::string> subject_of(const std::string& fact) {
  constexpr std::string_view driver = "driver_", library = "_library";
  if (fact.compare(0, driver.size(), driver) == 0 || fact == "management_library") return "driver";
  if (fact.size() > library.size() && fact.compare(fact.size() - library.size(), library.size(), library) == 0)
    return "library";
  for (const FactField& known : fact_fields)
    if (known.name == fact) return std::string(known.subject);
  return std::nullopt;
}

std::string shown_fact(const Fact& fact) { return fact.value ? plain_number(*fact.value) : fact.text; }

void add_device(Fields& fields, const DeviceInfo& device) {
  const auto add = [&](const std::string& name, const std::string& subject, const std::string& value) {
    fields[device.id + " " + name] = {subject, device.id, value};
  };
  add("name", "", device.name);
  add("unique id", "", device.unique_id);
  add("architecture", "", device.architecture);
  add("compute units", "", device.compute_units ? std::to_string(*device.compute_units) : "");
  // A processor's driver is the kernel.
  add("driver", device.backend == "cpu" ? "system" : "driver", device.driver);
  add("runtime", "library", device.runtime);
  for (const Fact& fact : device.facts)
    if (const auto subject = subject_of(fact.name)) add(fact.name, *subject, shown_fact(fact));
}

Fields fields_of(const RunInfo& info) {
  Fields fields;
  fields["program version"] = {"program", "", info.program_version};
  fields["program commit"] = {"program", "", info.commit};
  fields["build type"] = {"program", "", info.build_type};
  fields["compiler"] = {"program", "", info.compiler};
  fields["profile"] = {"", "", info.profile};
  fields["kernel"] = {"system", "", info.kernel};
  fields["distribution"] = {"system", "", info.distribution};
  for (const auto& [name, value] : info.environment) fields["environment " + name] = {"environment", "", value};
  for (const DeviceInfo& device : info.devices) add_device(fields, device);
  return fields;
}

// Values of one field over the starts of a side.
std::set<std::string> values(const std::vector<Fields>& side, const std::string& name) {
  std::set<std::string> found;
  for (const Fields& fields : side) {
    const auto field = fields.find(name);
    found.insert(field == fields.end() || field->second.value.empty() ? "not recorded" : field->second.value);
  }
  return found;
}

std::string together(const std::set<std::string>& values) { return joined({values.begin(), values.end()}, " | "); }

std::vector<Difference> compare(const std::vector<Fields>& before, const std::vector<Fields>& after,
                                const Allowance& allowance) {
  Fields names;
  for (const auto* side : {&before, &after})
    for (const Fields& fields : *side) names.insert(fields.begin(), fields.end());
  std::vector<Difference> found;
  for (const auto& [name, field] : names) {
    const std::set<std::string> left = values(before, name), right = values(after, name);
    if (left == right && left.size() == 1) continue;
    Difference one{name, field.subject, field.device, together(left), together(right), false, false};
    one.mixed = left.size() > 1 || right.size() > 1;
    // A side with two drivers is no side, whatever was declared; only naming the very field allows that.
    one.allowed = allowance.fields.count(name) != 0 ||
                  (!one.mixed && !field.subject.empty() && allowance.subjects.count(field.subject) != 0);
    found.push_back(one);
  }
  return found;
}

std::vector<Fields> run_fields(const Side& side) {
  std::vector<Fields> all;
  const Run* last = nullptr;
  for (const Start& start : side.starts) {
    if (start.run != last) all.push_back(fields_of(start.run->info));
    last = start.run;
  }
  return all;
}

// Whether two rows are told apart by nothing that row_fields() looks at: nearly all are, and looking costs less than
// writing it down.
bool alike(const Row& a, const Row& b) {
  return a.op == b.op && a.unit == b.unit && a.better == b.better && a.data == b.data && a.cache == b.cache &&
         a.phase == b.phase && a.scope == b.scope && a.variant == b.variant && a.precision == b.precision &&
         a.executed == b.executed && a.accumulated == b.accumulated && a.method == b.method;
}

bool all_alike(const std::vector<Observation>& before, const std::vector<Observation>& after) {
  const Row* first = nullptr;
  for (const auto* series : {&before, &after}) {
    for (const Observation& one : *series) {
      if (one.row == nullptr || one.row->status != Status::ok) continue;
      if (first != nullptr && !alike(*first, *one.row)) return false;
      first = one.row;
    }
  }
  return true;
}

std::vector<Fields> row_fields(const std::vector<Observation>& series) {
  std::vector<Fields> all;
  for (const Observation& one : series) {
    if (one.row == nullptr || one.row->status != Status::ok) continue;
    const Row& row = *one.row;
    Fields fields;
    const auto add = [&](const std::string& name, const std::string& value, const std::string& subject = "") {
      fields[name] = {subject, row.device, value};
    };
    add("op", row.op);
    add("unit", row.unit);
    add("better", better(row));
    add("data", row.data);
    add("cache", row.cache);
    add("phase", row.phase);
    add("scope", row.scope);
    add("variant", row.variant);
    add("precision", row.precision);
    add("executed", row.executed);
    add("accumulated", row.accumulated);
    // The best of several ways is chosen by timing them, so that another run may rightly take another library.
    if (row.variant != "best") add("library", library_of(row.method), "library");
    all.push_back(std::move(fields));
  }
  return all;
}

}  // namespace

std::string library_of(const std::string& method) {
  const std::size_t first = method.find(' ');
  if (first == std::string::npos) return method;
  const std::size_t second = method.find(' ', first + 1);
  const std::string version = method.substr(first + 1, second == std::string::npos ? second : second - first - 1);
  const bool numbered = !version.empty() && std::isdigit(static_cast<unsigned char>(version.front())) != 0;
  return numbered ? method.substr(0, second) : method.substr(0, first);
}

KeyFields key_fields(const RunInfo& info) {
  KeyFields key;
  for (const auto& [name, field] : fields_of(info))
    if (!field.value.empty()) key[name] = {field.subject, field.value};
  return key;
}

std::string first_difference(const KeyFields& now, const KeyFields& before, const Allowance& allowance) {
  KeyFields names = now;
  names.insert(before.begin(), before.end());
  const auto value = [](const KeyFields& fields, const std::string& name) {
    const auto field = fields.find(name);
    return field == fields.end() ? std::string("not recorded") : field->second.value;
  };
  for (const auto& [name, field] : names) {
    if (allowance.fields.count(name) != 0 || allowance.subjects.count(field.subject) != 0) continue;
    const std::string is = value(now, name), was = value(before, name);
    if (is != was) return name + ": " + is + ", was " + was;
  }
  return "";
}

std::string sentence(const Difference& difference) {
  return difference.field + ": " + difference.before + " before, " + difference.after + " after";
}

std::vector<Difference> differences(const Side& before, const Side& after, const Allowance& allowance) {
  return compare(run_fields(before), run_fields(after), allowance);
}

std::vector<Difference> filter_difference(const Side& before, const Side& after, const Allowance& allowance) {
  const auto filters = [](const Side& side) {
    std::vector<Fields> all;
    for (const Start& start : side.starts)
      all.push_back({{"filter", {"", "", start.run->info.filter.empty() ? "none" : start.run->info.filter}}});
    return all;
  };
  return compare(filters(before), filters(after), allowance);
}

std::vector<Difference> differences(const Side& before, const Side& after, const Key& key, const Allowance& allowance) {
  if (all_alike(before.series.at(key), after.series.at(key))) return {};
  const std::vector<Fields> left = row_fields(before.series.at(key)), right = row_fields(after.series.at(key));
  if (left.empty() || right.empty()) return {};
  return compare(left, right, allowance);
}

}  // namespace assay::gate
