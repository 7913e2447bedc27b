// Chooses the part that a child process plays.
// SPDX-License-Identifier: Apache-2.0
#include "bench/children.h"

#include <cstdio>
#include <exception>
#include <string_view>

namespace assay {
namespace {

constexpr std::string_view probe_role = "__probe";
constexpr std::string_view telemetry_role = "__telemetry";
constexpr std::string_view worker_role = "__worker";

}  // namespace

bool is_child(int argc, const char* const* argv) {
  if (argc != 2) return false;
  const std::string_view role = argv[1];
  return role == probe_role || role == telemetry_role || role == worker_role;
}

int child_main(int argc, const char* const* argv, const Suite& suite) {
  try {
    if (!is_child(argc, argv)) return 64;
    const std::string_view role = argv[1];
    Channel front;
    if (role == probe_role) probe_main(front);
    if (role == telemetry_role) telemetry_main(front);
    if (role == worker_role) worker_main(front, suite);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());  // the front quotes it
    return 70;
  }
}

}  // namespace assay
