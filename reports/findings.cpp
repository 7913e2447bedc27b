// What a reader must know about the run before believing its numbers.
// SPDX-License-Identifier: Apache-2.0
#include "reports/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/device_findings.h"
#include "reports/phrase.h"
#include "reports/rates_rows.h"

namespace assay {
namespace {

// Rows of the device, or of the host as a whole.
bool concerns(const Row& row, const DeviceInfo& device) { return row.device.empty() || row.device == device.id; }

struct Cases {
  std::set<std::string> names;

  // "3 cases (gemm/bf16/square/1024, ...)"
  std::string words() const {
    std::vector<std::string> first;
    for (const std::string& name : names) {
      if (first.size() == 3) break;
      first.push_back(name);
    }
    return joined(first) + (names.size() > first.size() ? ", ..." : "");
  }
};

template <class Condition>
Cases cases_where(const std::vector<Run>& runs, const DeviceInfo& device, Condition condition) {
  Cases found;
  for (const Run& run : runs)
    for (const Row& row : run.rows)
      if (concerns(row, device) && condition(row)) found.names.insert(row.case_name);
  return found;
}

std::string ending_sentence(const RunInfo& info) {
  if (info.ending == Ending::running) return "The run is partial: it was killed, or is still going on.";
  const std::string why = info.ending_reason.empty() ? "" : ": " + info.ending_reason;
  return "The run is partial; it ended as \"" + text(info.ending) + "\"" + why + ".";
}

void find_endings(const std::vector<Run>& runs, std::vector<Finding>& findings) {
  for (const Run& run : runs) {
    if (run.partial) {
      findings.push_back({Severity::warning, ending_sentence(run.info), joined(run.remarks, "; "),
                          "assay run --resume " + run.path.string()});
    } else if (!run.remarks.empty()) {
      findings.push_back({Severity::info, "Reading the run left remarks.", joined(run.remarks, "; "), ""});
    }
  }
}

void find_bad_rows(const std::vector<Run>& runs, const DeviceInfo& device, std::vector<Finding>& findings) {
  const Cases wrong = cases_where(runs, device, [](const Row& row) { return row.status == Status::mistrusted; });
  if (!wrong.names.empty())
    findings.push_back(
        {Severity::problem,
         counted(wrong.names.size(), "case") + " gave numbers that are impossible or unproven; none is used.",
         wrong.words(), "see \"What did not go well\" for each reason"});
  const Cases failed = cases_where(runs, device, [](const Row& row) { return row.status == Status::failed; });
  if (!failed.names.empty())
    findings.push_back({Severity::problem, counted(failed.names.size(), "case") + " failed.", failed.words(),
                        "see \"What did not go well\" for each reason"});
}

void find_conditions(const std::vector<Run>& runs, const DeviceInfo& device, std::vector<Finding>& findings) {
  const auto timed = [](const Row& row) { return row.metric == "seconds" && row.value; };
  const Cases all = cases_where(runs, device, timed);
  const auto with = [&](const std::string& flag) {
    return cases_where(runs, device, [&](const Row& row) { return timed(row) && has_condition(row, flag); });
  };
  const Cases load = with("other_load");
  if (!load.names.empty())
    findings.push_back(
        {Severity::warning,
         fmt::format("Others used the machine during {} of {} timed cases; their numbers are low bounds.",
                     load.names.size(), all.names.size()),
         load.words(), "measure again when the machine is idle"});
  const Cases shaky = with("not_steady");
  if (!shaky.names.empty())
    findings.push_back({Severity::info,
                        fmt::format("{} of {} timed cases did not settle.", shaky.names.size(), all.names.size()),
                        shaky.words(), "assay run --profile standard takes longer"});
}

std::optional<double> host_fact(const std::vector<Run>& runs, const std::string& name) {
  for (const Run& run : runs)
    for (const Fact& fact : run.info.facts)
      if (fact.name == name && fact.value) return fact.value;
  return std::nullopt;
}

void find_quota(const std::vector<Run>& runs, const DeviceInfo& device, std::vector<Finding>& findings) {
  if (device.backend != "cpu") return;
  const auto quota = host_fact(runs, "cpu_quota_cores"), allowed = host_fact(runs, "cores_allowed");
  if (!quota || !allowed || *quota >= *allowed) return;
  findings.push_back({Severity::warning,
                      fmt::format("The container may use {} of the {} cores it sees; it is stopped when it uses more.",
                                  plain_number(*quota), plain_number(*allowed)),
                      "cpu_quota_cores, cores_allowed", "raise the quota, or give programs no more threads than that"});
}

}  // namespace

std::vector<Finding> run_findings(const std::vector<Run>& runs, const DeviceInfo& device, const Rates& rates) {
  std::vector<Finding> findings;
  if (rates.planted() > 0)
    findings.push_back(
        {Severity::problem,
         counted(rates.planted(), "row") + " planted on purpose; none is used, and this run proves nothing.",
         "condition planted", "measure without a planted fault"});
  find_bad_rows(runs, device, findings);
  find_endings(runs, findings);
  find_conditions(runs, device, findings);
  for (auto&& more : {device_findings(device), condition_findings(runs, device)})
    findings.insert(findings.end(), more.begin(), more.end());
  find_quota(runs, device, findings);
  if (rates.known().empty())
    findings.push_back({Severity::warning, "No speed was measured on this device, so no duration is judged.",
                        "no ok row with an op and seconds", "assay run"});
  if (rates.unreadable() > 0)
    findings.push_back({Severity::info,
                        counted(rates.unreadable(), "row") + " with ops that this version does not know are left out.",
                        "", "update assay"});
  return findings;
}

void sort_by_severity(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
}

}  // namespace assay
