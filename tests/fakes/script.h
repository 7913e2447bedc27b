// What the fake plug-in and the programs of the tests are told to do: a JSON file named by an environment variable, so
// that it reaches every process of a run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace assay::fake {

constexpr const char* script_variable = "ASSAY_FAKE_SCRIPT";

// {
//   "devices": {"fake": [{"id": "fake:0", "name": "Fake device"}]},   by plug-in; absent: one device
//   "flops_per_second": 1e12, "bytes_per_second": 1e11,               how fast it claims to be
//   "seconds": 0.01,                                                  of every execution, instead of the rates
//   "sleep": true,                                                    and really takes that long
//   "conditions": ["xid_79"],                                         what its telemetry says
//   "planted": 1.1,                                                   factor on all times, whose rows say so
//   "log": "/tmp/calls",                                              a line "pid function text" for each call
//   "cases": 6,                                                       how many cases the small catalogue has
//   "expected_seconds": 0.05,                                         what they claim to take
//   "rules": [{"plugin": "fake", "at": "run", "with": "m=17", "call": 2, "do": "hang"}]
// }
// A rule applies to a call of `at` (create, devices, supports, prepare, fill, write, read, run, survey, telemetry)
// whose text contains `with`, to the n-th such call of the process where `call` is given, once in all processes
// together where `once` names a file that is made then. `do`: hang, segv, kill, abort, exit, fork, print, throw,
// memory, lose, unsupported, wrong, seconds.
inline nlohmann::json read_script() {
  const char* path = std::getenv(script_variable);
  if (path == nullptr) return nlohmann::json::object();
  std::ifstream file(path);
  if (!file) throw std::runtime_error(std::string("cannot read the fake's script ") + path);
  return nlohmann::json::parse(file);
}

}  // namespace assay::fake
