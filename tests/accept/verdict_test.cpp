// What follows from all rules together: nothing where most is unknown, and parts of cards for what they are.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "reports/accept/accept.h"
#include "tests/accept/made_up_machine.h"

namespace assay {
namespace {

using made_up::healthy;
using made_up::Rented;

TEST(Verdict, AcceptNothingWhereMostIsUnknown) {
  Rented rented = healthy();
  rented.run.info.devices.clear();
  rented.run.rows.clear();
  const Acceptance accepted = accept(rented.run, {}, std::nullopt);
  EXPECT_EQ(accepted.verdict, Outcome::unknown);
  EXPECT_NE(accepted.sentence.find("Too little is known"), std::string::npos);
}

TEST(Verdict, TakeHalfOfACardWithTwoDiesForWhatItIs) {
  Rented rented = healthy();
  for (std::size_t number : {0, 1}) {
    rented.card(number).name = "AMD Instinct MI250X";
    rented.card(number).architecture = "gfx90a";
    rented.card(number).compute_units = 110;                    // of 220
    rented.card(number).memory_total = std::int64_t{64} << 30;  // of 128
    rented.card(number).facts.push_back({"partition", std::nullopt, "", "one of two dies", "half of a card", ""});
  }
  rented.claim = parse_claim("2x MI250X");
  const std::set<std::string> rules = {"capability", "units", "memory-size", "slice", "claim-memory", "claim-gpu"};
  const Acceptance accepted = accept(rented.run, rented.fleet, rented.claim);
  for (const Judged& one : accepted.judged) {
    if (rules.count(one.rule->id) == 0) continue;
    EXPECT_EQ(text(one.outcome), "pass") << one.rule->id << ": " << one.evidence;
  }
}

TEST(Verdict, AreUnknownAndNeitherPassNorFailWhereThePlatformHidesWhatTheyNeed) {
  Rented rented = healthy();
  // A card of which the driver says its name and nothing else, and no rows.
  for (std::size_t number : {0, 1}) {
    rented.card(number).facts.clear();
    rented.card(number).memory_total.reset();
    rented.card(number).memory_available.reset();
    rented.card(number).compute_units.reset();
    rented.card(number).clock_hertz.reset();
    rented.card(number).caches.clear();
    rented.card(number).architecture.clear();
  }
  rented.run.rows.clear();
  const Acceptance accepted = accept(rented.run, rented.fleet, rented.claim);
  const std::set<std::string> still_known = {"claim-devices", "claim-gpu", "sku-unclear",  "known-card",
                                             "mixed-gpus",    "fraction",  "usable",       "unfinished",
                                             "hidden-facts",  "multicast", "dead-gpu-back"};
  for (const Judged& one : accepted.judged) {
    if (still_known.count(one.rule->id) > 0) continue;
    EXPECT_TRUE(one.outcome == Outcome::unknown || one.outcome == Outcome::does_not_apply)
        << one.rule->id << " " << text(one.outcome) << ": " << one.evidence;
  }
  EXPECT_EQ(accepted.verdict, Outcome::unknown);
  EXPECT_EQ(exit_code_of(accepted), 2);
}

}  // namespace
}  // namespace assay
