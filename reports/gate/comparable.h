// What must be equal on both sides, what a declared subject may change, and what differs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "reports/gate/observed.h"

namespace assay::gate {

// Why runs may differ: declared by `--subject`. Fields of no subject may never differ unless one is allowed by name.
inline const std::vector<std::string>& subjects() {
  static const std::vector<std::string> all{"driver", "library", "system", "program", "environment", "settings"};
  return all;
}

struct Allowance {
  std::set<std::string> subjects;
  std::set<std::string> fields;  // exact names, as a difference shows them
};

struct Difference {
  std::string field;  // "cuda:0 driver", "profile"
  std::string subject;
  std::string device;         // "" where it concerns all of them
  std::string before, after;  // the values, or several joined by " | "
  bool mixed = false;         // inside one side
  bool allowed = false;
};

// Of the runs: program, profile, environment, system; and of each device that both sides have: identity, driver,
// libraries, settings. What is absent on one side only is unknown, and differs.
std::vector<Difference> differences(const Side& before, const Side& after, const Allowance& allowance);

// Of one metric: op, unit, data, cache mode and so on. Empty where it is alike.
std::vector<Difference> differences(const Side& before, const Side& after, const Key& key, const Allowance& allowance);

// The filters that chose the cases, where they differ: what one side left out is not gone. Not asked of fresh runs.
std::vector<Difference> filter_difference(const Side& before, const Side& after, const Allowance& allowance);

// "cublaslt 12.8.4" of "cublaslt 12.8.4 algorithm 66": the library and its version.
std::string library_of(const std::string& method);

// What must be equal between a run and another, by name, each with the subject that may change it.
struct KeyField {
  std::string subject, value;
  bool operator==(const KeyField&) const = default;
};
using KeyFields = std::map<std::string, KeyField>;
KeyFields key_fields(const RunInfo& info);
// In what the first that differs and is not allowed to does so: "profile: full, was quick"; "" where none does.
std::string first_difference(const KeyFields& now, const KeyFields& before, const Allowance& allowance);

std::string sentence(const Difference& difference);  // "cuda:0 ecc: yes before, no after"

}  // namespace assay::gate
