// Accepting a rented machine: every rule held against a run, and what follows from all of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reports/accept/observation.h"
#include "reports/accept/rule.h"
#include "reports/report.h"

namespace assay {

enum class Outcome : std::uint8_t { fail, warn, unknown, pass, does_not_apply };  // worst first
std::string text(Outcome outcome);

// How thorough the run was.
enum class Grade : std::uint8_t {
  screening,      // the quick profile: finds what is plainly wrong
  standard,       // the standard or full profile
  qualification,  // that, with sustained load, over 15 minutes or more
};
std::string text(Grade grade);

// One rule on one card, or on the host.
struct Judged {
  const Rule* rule = nullptr;
  std::string subject;  // "cuda:0", "host"
  Outcome outcome = Outcome::unknown;
  std::string shown;     // the observed value as people see it
  std::string evidence;  // or why it is not known
  std::string repeat;    // the command that measures it again
};

struct Acceptance {
  std::string claim;  // as given; empty: none
  Grade grade = Grade::screening;
  std::string grade_reason;
  Outcome verdict = Outcome::unknown;  // pass, warn, fail, or unknown: a required fact is not known
  std::string sentence;
  std::vector<Judged> judged;  // worst first, then as the rules stand

  std::size_t count(Outcome outcome) const;
};

Acceptance accept(const Run& run, const std::vector<Run>& fleet, const std::optional<Claim>& claim);

// accept: 0 pass or warn, 1 fail, 2 a required fact is unknown.
int exit_code_of(const Acceptance& acceptance);

// A rule in full, for --explain.
std::string explain(const Rule& rule);

}  // namespace assay
