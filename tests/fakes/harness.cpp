// `assay run` alone, with a small catalogue that a script sizes: what the tests of the processes start and torment.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "bench/budget.h"
#include "bench/children.h"
#include "bench/run.h"
#include "core/error.h"
#include "tests/fakes/script.h"

namespace {

using namespace assay;

Case gemm_case(std::int64_t number, double seconds) {
  Gemm gemm;
  gemm.m = 16 + number;  // m=17 in the op's text is the first case
  gemm.n = gemm.k = 16;
  Case item;
  item.name = "gemm/fp32/case/" + std::to_string(number);
  item.family = "gemm";
  item.work = single(gemm);
  item.precision = "fp32";
  item.seconds_expected = seconds;
  return item;
}

Case memory_case(std::int64_t number, double seconds) {
  Stream stream;
  stream.kind = StreamKind::triad;
  stream.count = 1000 + number;
  Case item;
  item.name = "memory/triad/case/" + std::to_string(number);
  item.family = "memory";
  item.work = single(stream);
  item.precision = "fp32";
  item.seconds_expected = seconds;
  return item;
}

// 12,800 flops: the fake device has 64 lanes.
Case issue_case(double seconds) {
  Issue issue;
  issue.count = 100;
  Case item;
  item.name = "issue/fp32/vector/all";
  item.family = "issue";
  item.work = single(issue);
  item.precision = "fp32";
  item.seconds_expected = seconds;
  return item;
}

// Half of them products, half of them streams, so that two families need a worker each; an issue rate before and a
// survey after them where they are asked for.
std::vector<Case> small_catalogue(const DeviceInfo&, ProfileKind) {
  const auto script = fake::read_script();
  const int count = script.value("cases", 4);
  const double seconds = script.value("expected_seconds", 0.05);
  std::vector<Case> cases;
  if (script.value("issue", false)) cases.push_back(issue_case(seconds));
  for (int i = 1; i <= (count + 1) / 2; ++i) cases.push_back(gemm_case(i, seconds));
  for (int i = 1; i <= count / 2; ++i) cases.push_back(memory_case(i, seconds));
  if (script.value("survey", false)) {
    Case item;
    item.name = "capacity/memory";
    item.family = "capacity";
    item.question = Question::capacity;
    item.seconds_expected = seconds;
    cases.push_back(item);
  }
  return cases;
}

struct Arguments {
  RunOptions options;
  std::string name;
  std::string value;
};

bool take(Arguments& arguments) {
  const std::string& name = arguments.name;
  const std::string& value = arguments.value;
  RunOptions& options = arguments.options;
  if (name == "--out")
    options.out = value;
  else if (name == "--resume")
    options.resume = value;
  else if (name == "--plugins")
    options.plugins = value;
  else if (name == "--filter")
    options.filter = value;
  else if (name == "--device")
    options.devices.push_back(value);
  else if (name == "--budget")
    options.budget_seconds = parse_duration(value);
  else if (name == "--repeat")
    options.repeat = std::stoi(value);
  else if (name == "--profile")
    options.profile = parse_profile(value);
  else if (name == "--label")
    options.labels["label"] = value;
  else if (name == "--force")
    options.force = true;
  else if (name == "--quiet")
    options.quiet = true;
  else if (name == "--probe-patience")
    options.patience.probe = std::stod(value);
  else if (name == "--case-patience") {
    options.patience.at_least = std::stod(value);
    options.patience.worker = 0;
    options.patience.per_second = 0;
  } else if (name == "--telemetry-patience")
    options.patience.telemetry = std::stod(value);
  else
    return false;
  return true;
}

RunOptions parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (take_google_flag(argument, arguments.options)) continue;
    const auto middle = argument.find('=');
    arguments.name = argument.substr(0, middle);
    arguments.value = middle == std::string::npos ? "" : argument.substr(middle + 1);
    if (!take(arguments)) throw BadInput("unknown argument " + argument);
  }
  return arguments.options;
}

}  // namespace

int main(int argc, char** argv) {
  const assay::Suite suite{small_catalogue, assay::measure};
  if (assay::is_child(argc, argv)) return assay::child_main(argc, argv, suite);
  try {
    return assay::run(parse(argc, argv), suite);
  } catch (const assay::BadInput& bad) {
    std::fprintf(stderr, "assay: %s\n", bad.what());
    return 64;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "assay: %s\n", error.what());
    return 70;
  }
}
