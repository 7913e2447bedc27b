// Facts and conditions, and the sentences they deserve.
// SPDX-License-Identifier: Apache-2.0
#include "reports/device_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

// A fact of this name matters where it has a value other than `harmless` and a reason, which is then the sentence.
struct Remarkable {
  std::string_view fact;
  std::string_view harmless;  // a text that is as it should be; numbers are harmless at 0, or without a reason
  Severity severity;
  const char* subject;  // the sentence begins with it
  const char* advice;
};

constexpr std::array<Remarkable, 19> remarkable = {{
    {"device_state", "", Severity::problem, "The card is lost", "hand the machine back"},
    {"row_remap_failed", "no", Severity::problem, "The card's memory is worn out", "ask for another card"},
    {"ecc_uncorrected_since_boot", "", Severity::problem, "The card's memory has failed since the last start",
     "ask for another card"},
    {"row_remap_pending", "no", Severity::warning, "The card needs a reset", "ask the provider to reset the GPU"},
    {"page_retirement_pending", "no", Severity::warning, "The card needs a reset", "ask the provider to reset the GPU"},
    {"rows_remapped_uncorrected", "", Severity::warning, "The card's memory was repaired", "watch the error counters"},
    {"ecc_uncorrected_ever", "", Severity::warning, "The card's memory has failed before", "watch the error counters"},
    {"fabric", "registered", Severity::problem, "The card's fabric is not ready",
     "have the provider start its manager"},
    {"pcie_width", "", Severity::warning, "The card's slot is narrow", "ask for a machine with full slots"},
    {"pcie_generation_most", "", Severity::warning, "The card's slot is slow", "ask for a machine with faster slots"},
    {"nvlink_active", "", Severity::warning, "Links between cards are missing", "compare with what was promised"},
    {"power_limit_watts", "", Severity::warning, "The card's power is limited", "ask why, or for a lower price"},
    {"clock_set_hertz", "", Severity::warning, "The card's clock is held down", "ask why, or for a lower price"},
    {"vgpu_licence", "valid", Severity::warning, "The virtual GPU has no licence", "tell the provider"},
    {"confidential_computing", "off", Severity::warning, "The card works in confidential mode", ""},
    {"other_processes", "", Severity::warning, "The card is shared", "measure again when it is alone"},
    {"memory_in_use_bytes", "", Severity::warning, "Some of the card's memory is taken", "ask who holds it"},
    {"mig", "off", Severity::info, "This is not a whole card", ""},
    {"virtualisation", "none", Severity::info, "The card is given out by a hypervisor", ""},
}};

bool stands_against(const Fact& fact, const Remarkable& one) {
  if (fact.name != one.fact || fact.reason.empty()) return false;
  if (fact.value) return *fact.value > 0;
  return !fact.text.empty() && fact.text != one.harmless;
}

// Flags that rows bear, as docs/method.md explains them; "xid_" stands for all that begin so.
struct Flag {
  const char* flag;
  Severity severity;
  const char* sentence;  // with the number of cases in front
  const char* advice;
};

constexpr std::array<Flag, 13> flags = {{
    {"ecc_errors", Severity::problem, "saw memory errors that could not be corrected", "ask for another card"},
    {"device_lost", Severity::problem, "lost the card", "ask for another card"},
    {"xid_", Severity::problem, "met an error that the driver reported (Xid)",
     "look the number up in the driver's guide"},
    {"rows_remapped", Severity::problem, "ran while broken memory was being replaced", "ask for another card"},
    {"hardware_slowdown", Severity::problem, "ran while the hardware held itself back", "ask for another machine"},
    {"thermal_throttle", Severity::warning, "ran on a card too hot for its full clock", "ask for better cooling"},
    {"link_errors", Severity::warning, "saw errors on the links between cards", "ask for another machine"},
    {"pcie_replays", Severity::warning, "saw transfers repeated on the way to the host", "ask for another slot"},
    {"pcie_downgraded", Severity::warning, "used a slot that works below what card and slot can do",
     "ask for another slot"},
    {"other_process", Severity::warning, "shared the card with other processes; their numbers are low bounds",
     "measure again when it is alone"},
    {"ecc_corrected", Severity::info, "saw memory errors that were corrected", "watch the error counters"},
    {"power_capped", Severity::info, "ran at the card's limit of power, as heavy work does", ""},
    {"near_cache", Severity::info, "had too little memory to be sure of missing the caches", ""},
}};

bool bears(const Row& row, const std::string& flag) {
  if (flag.back() != '_') return has_condition(row, flag);
  return row.conditions.rfind(flag, 0) == 0 || row.conditions.find("," + flag) != std::string::npos;
}

}  // namespace

std::vector<Finding> device_findings(const DeviceInfo& device) {
  std::vector<Finding> findings;
  for (const Remarkable& one : remarkable) {
    const auto fact = std::find_if(device.facts.begin(), device.facts.end(),
                                   [&](const Fact& known) { return stands_against(known, one); });
    if (fact == device.facts.end()) continue;
    const std::string value = fact->value ? plain_number(*fact->value) : fact->text;
    findings.push_back({one.severity, std::string(one.subject) + ": " + fact->reason + ".",
                        fact->name + " " + value + (fact->source.empty() ? "" : ", by " + fact->source), one.advice});
  }
  return findings;
}

std::vector<Finding> condition_findings(const std::vector<Run>& runs, const DeviceInfo& device) {
  std::vector<Finding> findings;
  for (const Flag& one : flags) {
    std::set<std::string> names;
    for (const Run& run : runs)
      for (const Row& row : run.rows)
        if (row.device == device.id && bears(row, one.flag)) names.insert(row.case_name);
    if (names.empty()) continue;
    std::vector<std::string> first;
    for (const std::string& name : names)
      if (first.size() < 3) first.push_back(name);
    findings.push_back({one.severity, counted(names.size(), "case") + " " + one.sentence + ".",
                        joined(first) + (names.size() > first.size() ? ", ..." : ""), one.advice});
  }
  return findings;
}

}  // namespace assay
