// What a run shows of a machine, as named numbers and words that rules are held against.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reports/accept/claim.h"
#include "results/run.h"

namespace assay {

enum class Knowledge : std::uint8_t {
  known,
  hidden,          // it matters here, and the run does not say
  does_not_apply,  // a link between cards, where there is one card
};

struct Observation {
  Knowledge knowledge = Knowledge::known;
  std::optional<double> value;
  std::string word;
  std::string evidence;   // the rows and facts behind it; or why it is not known, or does not apply
  std::string case_name;  // the case that decides, where there is one
};

// One card, or the host with everything that concerns several cards.
struct Subject {
  std::string id;    // "cuda:0", "host"
  std::string name;  // as the driver calls it
  std::map<std::string, Observation> observations;

  void number(const std::string& observation, double value, const std::string& evidence,
              const std::string& case_name = "");
  void word(const std::string& observation, const std::string& word, const std::string& evidence,
            const std::string& case_name = "");
  void hidden(const std::string& observation, const std::string& why);
  void not_here(const std::string& observation, const std::string& why);
};

struct Evidence {
  Subject host;
  std::vector<Subject> devices;  // cards; processors are a part of the host
};

// `fleet`: runs of machines of the same kind, or earlier runs of this one.
Evidence observe(const Run& run, const std::vector<Run>& fleet, const std::optional<Claim>& claim);

}  // namespace assay
