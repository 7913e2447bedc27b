// Errors: of memory, of links, of the driver, of results.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/accept/observe.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

void count(Subject& subject, const DeviceInfo& device, const char* observation, const char* fact) {
  const std::string ecc = Machine::word(device, "ecc");
  if (const auto value = Machine::number(device, fact)) {
    subject.number(observation, *value, fmt::format("{} {:.0f}", fact, *value));
  } else if (ecc == "off" || ecc == "no") {
    subject.hidden(observation, "error correction is off, so errors are not counted");
  } else {
    subject.hidden(observation, "the card's error counters cannot be read here");
  }
}

// A condition that rows bear when something happened while they ran.
void happened(Subject& subject, const Machine& machine, const DeviceInfo& device, const char* observation,
              const char* condition, const char* word) {
  const auto rows = machine.rows(device.id, "", [&](const Row& row) { return has_condition(row, condition); });
  if (!rows.empty()) {
    subject.word(observation, word, rows.front()->case_name + " bears " + condition, rows.front()->case_name);
  } else if (!machine.telemetry(device)) {
    subject.hidden(observation, "the run holds nothing that the card said while it worked");
  } else {
    subject.word(observation, "none", fmt::format("no case bears {}", condition));
  }
}

void observe_repair(Subject& subject, const DeviceInfo& device) {
  const std::string failed = Machine::word(device, "row_remap_failed");
  const std::string pending = Machine::word(device, "row_remap_pending");
  const std::string page = Machine::word(device, "page_retirement_pending");
  if (failed == "yes") {
    subject.word("row_remap", "failed", "row_remap_failed yes");
  } else if (pending == "yes" || page == "yes") {
    subject.word("row_remap", "pending", pending == "yes" ? "row_remap_pending yes" : "page_retirement_pending yes");
  } else if (failed.empty() && pending.empty() && !Machine::number(device, "pages_retired")) {
    subject.hidden("row_remap", "the card does not say here which memory was replaced");
  } else {
    subject.word("row_remap", "none", "nothing waits for repair");
  }
}

// What the driver calls errors: those that end in a reset or a replacement, and those to be watched.
void observe_driver_errors(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const std::set<std::string> fatal = {"48", "64", "74", "79", "95"};
  std::set<std::string> numbers;
  std::string where;
  for (const Row* row : machine.rows(device.id, "", [](const Row&) { return true; })) {
    for (std::size_t at = row->conditions.find("xid_"); at != std::string::npos;
         at = row->conditions.find("xid_", at + 4)) {
      const std::size_t end = row->conditions.find(',', at);
      numbers.insert(row->conditions.substr(at + 4, end == std::string::npos ? end : end - at - 4));
      where = row->case_name;
    }
  }
  const bool bad =
      std::any_of(numbers.begin(), numbers.end(), [&](const std::string& one) { return fatal.count(one) > 0; });
  if (!numbers.empty()) {
    subject.word("xid", bad ? "fatal" : "monitor", "Xid " + joined({numbers.begin(), numbers.end()}) + " in " + where,
                 where);
  } else if (!machine.telemetry(device)) {
    subject.hidden("xid", "the run holds nothing that the driver said while the card worked");
  } else {
    subject.word("xid", "none", "no case bears an error of the driver; earlier ones are in the kernel log");
  }
}

void count_rows(Subject& subject, const std::vector<const Row*>& rows, const char* observation, const char* none) {
  std::set<std::string> cases;
  for (const Row* row : rows) cases.insert(row->case_name);
  subject.number(observation, static_cast<double>(cases.size()),
                 rows.empty() ? none : rows.front()->case_name + ": " + rows.front()->reason,
                 rows.empty() ? "" : rows.front()->case_name);
}

void observe_rows(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const auto of = [&](const std::function<bool(const Row&)>& wanted) { return machine.rows(device.id, "", wanted); };
  const auto says = [](const Row& row, const char* words) {
    return row.status != Status::ok && row.reason.find(words) != std::string::npos;
  };
  if (of([](const Row&) { return true; }).empty()) {
    for (const char* name : {"wrong_results", "failed_cases", "driver_refusals", "image_refusals", "device_lost"})
      subject.hidden(name, "the run holds no case of this card");
    return;
  }
  count_rows(subject, of([](const Row& row) { return row.status == Status::mistrusted; }), "wrong_results",
             "no result was wrong or impossible");
  count_rows(subject, of([](const Row& row) { return row.status == Status::failed; }), "failed_cases",
             "no case failed");
  count_rows(subject, of([&](const Row& row) {
               return says(row, "driver") &&
                      (says(row, "newer") || says(row, "older") || says(row, "too old") || says(row, "insufficient"));
             }),
             "driver_refusals", "no case was left out because of the driver");
  count_rows(subject, of([&](const Row& row) { return says(row, "kernel image"); }), "image_refusals",
             "the driver took every kernel");
  const auto lost = of([&](const Row& row) { return has_condition(row, "device_lost") || says(row, "device lost"); });
  const bool gone = Machine::word(device, "device_state") == "lost";
  subject.word("device_lost", gone || !lost.empty() ? "lost" : "there",
               !lost.empty() ? lost.front()->case_name + ": " + lost.front()->reason
               : gone        ? "the driver says that the card is lost"
                             : "it answered until the end",
               lost.empty() ? "" : lost.front()->case_name);
}

void observe_content(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  const auto tests = machine.rows(device.id, "capacity/integrity", [](const Row&) { return true; });
  if (tests.empty()) {
    subject.hidden("memory_content", "the memory was not tested");
    return;
  }
  for (const Row* row : tests) {
    if (row->status == Status::failed || row->status == Status::mistrusted ||
        (row->metric == "wrong_words" && row->value.value_or(0) > 0)) {
      subject.word("memory_content", "wrong", row->reason, row->case_name);
      return;
    }
    if (row->status == Status::skipped) {
      subject.hidden("memory_content", row->reason);
      return;
    }
  }
  std::string tested = "all that could be had was written and read";
  for (const Row* row : tests)
    if (row->metric == "tested_bytes" && row->value) tested = shown_bytes(*row->value) + " written and read back";
  subject.word("memory_content", "right", tested, "capacity/integrity");
}

}  // namespace

void observe_health(Subject& subject, const Machine& machine, const DeviceInfo& device) {
  count(subject, device, "ecc_uncorrected_now", "ecc_uncorrected_since_boot");
  count(subject, device, "ecc_uncorrected_ever", "ecc_uncorrected_ever");
  count(subject, device, "ecc_corrected_ever", "ecc_corrected_ever");
  happened(subject, machine, device, "ecc_in_run", "ecc_errors", "errors");
  happened(subject, machine, device, "rows_in_run", "rows_remapped", "remapped");
  happened(subject, machine, device, "link_errors", "link_errors", "errors");
  happened(subject, machine, device, "pcie_replays", "pcie_replays", "replays");
  happened(subject, machine, device, "link_under_load", "pcie_downgraded", "downgraded");
  observe_repair(subject, device);
  observe_driver_errors(subject, machine, device);
  observe_rows(subject, machine, device);
  observe_content(subject, machine, device);
}

}  // namespace assay
