// Holds rules against observations.
// SPDX-License-Identifier: Apache-2.0
#include "reports/accept/accept.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "core/error.h"
#include "reports/phrase.h"

namespace assay {
namespace {

bool beyond(const Rule& rule, const Limit& limit, const Observation& seen) {
  if (!limit.set()) return false;
  if (rule.test == RuleTest::words) return seen.word == limit.word;
  if (!seen.value) return false;
  return (limit.low && *seen.value < *limit.low) || (limit.high && *seen.value > *limit.high);
}

Outcome judge_one(const Rule& rule, const Observation& seen) {
  switch (seen.knowledge) {
    case Knowledge::hidden:
      return Outcome::unknown;
    case Knowledge::does_not_apply:
      return Outcome::does_not_apply;
    case Knowledge::known:
      break;
  }
  if (beyond(rule, rule.fail, seen)) return Outcome::fail;
  return beyond(rule, rule.warn, seen) ? Outcome::warn : Outcome::pass;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

Judged judged(const Rule& rule, const Subject& subject, const Run& run) {
  const auto found = subject.observations.find(rule.observation);
  if (found == subject.observations.end())
    throw Error("rule " + rule.id + ": nothing observes '" + rule.observation + "'");
  const Observation& seen = found->second;
  Judged one;
  one.rule = &rule;
  one.subject = subject.id;
  one.outcome = judge_one(rule, seen);
  if (seen.knowledge == Knowledge::known)
    one.shown = seen.value ? show(Quantity{*seen.value, rule.unit, {}, {}, ""}) : seen.word;
  one.evidence = seen.evidence;
  const std::string path = run.path.empty() ? "RUN" : run.path.string();
  const std::string device = subject.id == "host" ? "" : subject.id;
  one.repeat = replaced(rule.repeat, "{run}", path);
  one.repeat = replaced(one.repeat, " --device {device}", device.empty() ? "" : " --device " + device);
  one.repeat = replaced(one.repeat, "{case}", seen.case_name.empty() ? "." : seen.case_name);
  // What a shell would take apart stands in quotes.
  const std::size_t filter = one.repeat.find("--filter ^");
  if (filter != std::string::npos) {
    const std::size_t begin = filter + 9;
    const std::size_t end = std::min(one.repeat.find(' ', begin), one.repeat.size());
    one.repeat.insert(end, "'");
    one.repeat.insert(begin, "'");
  }
  return one;
}

// Seconds since 1970 of "2026-11-30T12:00:00Z".
std::optional<double> seconds_of(const std::string& utc) {
  std::tm parts{};
  if (strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return std::nullopt;
  return static_cast<double>(timegm(&parts));
}

void grade(Acceptance& acceptance, const Run& run) {
  const auto began = seconds_of(run.info.started_utc);
  const auto ended = seconds_of(run.info.ended_utc);
  const double minutes = began && ended ? (*ended - *began) / 60 : 0;
  const bool sustained = std::any_of(run.rows.begin(), run.rows.end(), [](const Row& row) {
    return row.status == Status::ok && (row.phase == "sustained" || row.metric == "sustained_over_burst");
  });
  const bool thorough = run.info.profile == "standard" || run.info.profile == "full";
  constexpr double least_minutes = 15;
  if (thorough && sustained && minutes >= least_minutes) {
    acceptance.grade = Grade::qualification;
  } else if (thorough) {
    acceptance.grade = Grade::standard;
  }
  acceptance.grade_reason =
      fmt::format("{} profile, {:.0f} min, {} sustained load", run.info.profile.empty() ? "unnamed" : run.info.profile,
                  minutes, sustained ? "with" : "without");
}

void conclude(Acceptance& acceptance) {
  const auto first = [&](Outcome outcome, bool required) -> const Judged* {
    for (const Judged& one : acceptance.judged)
      if (one.outcome == outcome && (!required || one.rule->required)) return &one;
    return nullptr;
  };
  const auto about = [](const Judged& one) { return one.subject + ", " + one.rule->id + ": " + one.evidence; };
  const std::size_t known =
      acceptance.count(Outcome::pass) + acceptance.count(Outcome::warn) + acceptance.count(Outcome::fail);
  if (const Judged* failed = first(Outcome::fail, false)) {
    acceptance.verdict = Outcome::fail;
    acceptance.sentence = fmt::format("Not acceptable: {} of {} checks failed. The first: {}.",
                                      acceptance.count(Outcome::fail), known, about(*failed));
  } else if (const Judged* hidden = first(Outcome::unknown, true)) {
    acceptance.verdict = Outcome::unknown;
    acceptance.sentence = "Cannot be accepted yet: a promised fact is not known. " + about(*hidden) + ".";
  } else if (const Judged* warned = first(Outcome::warn, false)) {
    acceptance.verdict = Outcome::warn;
    acceptance.sentence = fmt::format("Acceptable, with {}. The first: {}.",
                                      counted(acceptance.count(Outcome::warn), "warning"), about(*warned));
  } else {
    acceptance.verdict = known > 0 ? Outcome::pass : Outcome::unknown;
    acceptance.sentence = known > 0 ? fmt::format("Acceptable: {} passed.", counted(known, "check"))
                                    : "Nothing could be checked: the run holds nothing that a rule needs.";
  }
}

}  // namespace

std::string text(Outcome outcome) {
  switch (outcome) {
    case Outcome::fail:
      return "fail";
    case Outcome::warn:
      return "warn";
    case Outcome::unknown:
      return "unknown";
    case Outcome::pass:
      return "pass";
    case Outcome::does_not_apply:
      break;
  }
  return "does not apply";
}

std::string text(Grade grade) {
  switch (grade) {
    case Grade::screening:
      return "screening";
    case Grade::standard:
      return "standard";
    case Grade::qualification:
      break;
  }
  return "qualification";
}

std::size_t Acceptance::count(Outcome outcome) const {
  return static_cast<std::size_t>(
      std::count_if(judged.begin(), judged.end(), [&](const Judged& one) { return one.outcome == outcome; }));
}

Acceptance accept(const Run& run, const std::vector<Run>& fleet, const std::optional<Claim>& claim) {
  const Evidence evidence = observe(run, fleet, claim);
  Acceptance acceptance;
  if (claim) acceptance.claim = claim->text;
  for (const Rule& rule : builtin_rules()) {
    if (rule.scope == RuleScope::host) {
      acceptance.judged.push_back(judged(rule, evidence.host, run));
      continue;
    }
    for (const Subject& device : evidence.devices) acceptance.judged.push_back(judged(rule, device, run));
  }
  std::stable_sort(acceptance.judged.begin(), acceptance.judged.end(),
                   [](const Judged& a, const Judged& b) { return a.outcome < b.outcome; });
  grade(acceptance, run);
  conclude(acceptance);
  return acceptance;
}

int exit_code_of(const Acceptance& acceptance) {
  switch (acceptance.verdict) {
    case Outcome::pass:
    case Outcome::warn:
      return 0;
    case Outcome::fail:
      return 1;
    case Outcome::unknown:
    case Outcome::does_not_apply:
      break;
  }
  return 2;
}

std::string explain(const Rule& rule) {
  std::vector<std::string> pains;
  for (const int pain : rule.pains) pains.push_back(std::to_string(pain));
  return fmt::format(
      "{}: {}.\n\nWhy:        {}\nObserved:   {} ({})\nThresholds: {}\nUnknown:    {}\nAdvice:     {}\nRepeat:     {}\n"
      "Source:     {}\nComplaints: {} in docs/acceptance.md\n",
      rule.id, rule.title, rule.why, rule.observation, rule.scope == RuleScope::host ? "of the host" : "of each card",
      thresholds(rule), rule.required ? "the machine cannot be accepted yet" : "counts as neither passed nor failed",
      rule.advice, rule.repeat, rule.source, pains.empty() ? "none" : joined(pains));
}

}  // namespace assay
