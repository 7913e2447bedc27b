// Surveys: what can be had of memory, and what the host grants.
// SPDX-License-Identifier: Apache-2.0
#include "bench/case_sizes.h"
#include "bench/cases.h"
#include "bench/host_survey.h"

namespace assay {

namespace {

std::int64_t storage_bytes(ProfileKind profile) {
  switch (profile) {
    case ProfileKind::quick:
      return std::int64_t{256} << 20;
    case ProfileKind::standard:
      return std::int64_t{2} << 30;
    case ProfileKind::full:
      break;
  }
  return std::int64_t{8} << 30;
}

}  // namespace

std::vector<Case> host_cases(const DeviceInfo& device, ProfileKind profile) {
  std::vector<Case> cases;
  if (!is_processor(device)) return cases;  // the host is measured once, with its processor
  for (const std::string& survey : host_surveys()) {
    Case item;
    item.name = "host/" + survey;
    item.family = "host";
    item.host_survey = survey;
    item.rank = 0;
    item.seconds_expected = 0.05;
    if (survey == "storage") {
      item.storage_bytes = storage_bytes(profile);
      item.seconds_expected = 2;
    }
    cases.push_back(item);
  }
  return cases;
}

std::vector<Case> capacity_cases(const DeviceInfo& device, ProfileKind) {
  struct Asked {
    const char* name;
    Question question;
    double seconds;
  };
  std::vector<Case> cases;
  for (const Asked& asked :
       {Asked{"capacity/allocatable", Question::capacity, 2}, Asked{"capacity/context", Question::context_cost, 0.3},
        Asked{"capacity/rounding", Question::rounding, 0.1}, Asked{"capacity/limits", Question::limits, 0.1}}) {
    Case item;
    item.name = asked.name;
    item.family = "capacity";
    item.question = asked.question;
    item.rank = 0;
    item.seconds_expected = asked.seconds;
    cases.push_back(item);
  }
  if (is_processor(device)) return cases;
  // All of the memory written twice and read twice: memory that is not there, or does not keep what it is given, shows.
  Case integrity;
  integrity.name = "capacity/integrity";
  integrity.family = "capacity";
  integrity.question = Question::integrity;
  integrity.rank = 0;
  integrity.seconds_expected =
      0.5 + 4 * static_cast<double>(device.memory_total.value_or(0)) / rough_bytes_per_second(device);
  cases.push_back(integrity);
  return cases;
}

}  // namespace assay
