// Screening, confirmation and the step-up rule.
// SPDX-License-Identifier: Apache-2.0
#include "reports/gate/decide.h"

#include <algorithm>

namespace assay::gate {
namespace {

bool enough(const Sides& sides) { return std::min(sides.before.size(), sides.after.size()) >= least_runs; }

Verdict without_alarm(const Estimate& one, double bar) {
  if (ok(one, bar)) return Verdict::ok;
  return Verdict::inconclusive;
}

// By the fresh runs alone: the first ones were chosen because they looked bad.
Decision confirmed(const Question& question) {
  Decision decision;
  decision.by_fresh = true;
  if (!enough(*question.fresh)) {
    decision.suspected = true;
    return decision;
  }
  const Estimate fresh = estimate(*question.fresh, question.bar, question.fresh_load_error);
  decision.estimate = fresh;
  decision.verdict = slower(fresh, question.bar, alpha_screen) ? Verdict::slower : without_alarm(fresh, question.bar);
  decision.suspected = decision.verdict == Verdict::inconclusive;
  return decision;
}

}  // namespace

std::string text(Verdict verdict) {
  switch (verdict) {
    case Verdict::broken:
      return "BROKEN";
    case Verdict::slower:
      return "SLOWER";
    case Verdict::unfit:
      return "UNFIT";
    case Verdict::incomparable:
      return "INCOMPARABLE";
    case Verdict::inconclusive:
      return "INCONCLUSIVE";
    case Verdict::faster:
      return "FASTER";
    case Verdict::ok:
      return "OK";
  }
  return "";
}

std::vector<Decision> decide(const std::vector<Question>& questions) {
  std::vector<Decision> decisions(questions.size());
  std::vector<std::size_t> judged;
  std::vector<double> tails, tails_faster;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Question& question = questions[i];
    if (!enough(question.sides)) continue;
    decisions[i].estimate = estimate(question.sides, question.bar, question.load_error);
    judged.push_back(i);
    tails.push_back(decisions[i].estimate->tail);
    tails_faster.push_back(decisions[i].estimate->tail_faster);
  }
  const std::vector<bool> held = hold_together(tails, suite_rate);
  const std::vector<bool> held_faster = hold_together(tails_faster, suite_rate);
  for (std::size_t at = 0; at < judged.size(); ++at) {
    const Question& question = questions[judged[at]];
    Decision& decision = decisions[judged[at]];
    const Estimate& one = *decision.estimate;
    const bool raised = slower(one, question.bar, alpha_screen);
    if (raised && question.fresh) {
      decision = confirmed(question);
    } else if (held[at] && slower(one, question.bar, alpha_slower)) {
      decision.verdict = Verdict::slower;
    } else if (held_faster[at] && faster(one, question.bar, alpha_slower)) {
      decision.verdict = Verdict::faster;
    } else {
      decision.verdict = without_alarm(one, question.bar);
      decision.suspected = raised && decision.verdict == Verdict::inconclusive;
    }
  }
  return decisions;
}

Decision decide_together(const Question& question) {
  Decision decision;
  if (!enough(question.sides)) return decision;
  const double bar = question.bar / 2;
  decision.estimate = estimate(question.sides, bar, question.load_error);
  if (slower(*decision.estimate, bar, alpha_slower)) {
    decision.verdict = Verdict::slower;
  } else if (faster(*decision.estimate, bar, alpha_slower)) {
    decision.verdict = Verdict::faster;
  } else {
    decision.verdict = without_alarm(*decision.estimate, question.bar);
  }
  return decision;
}

}  // namespace assay::gate
