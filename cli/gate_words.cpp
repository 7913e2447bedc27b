// Options of `assay gate`.
// SPDX-License-Identifier: Apache-2.0
#include "cli/gate_words.h"

#include "cli/parse.h"
#include "reports/gate/metrics_file.h"

namespace assay {
namespace {

std::vector<std::filesystem::path> paths(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

void check_given(const GateWords& words) {
  const bool sides = !words.before.empty() || !words.confirm_before.empty() || !words.confirm_after.empty();
  if (!words.plan.empty() && (sides || !words.after.empty() || !words.history.empty()))
    throw BadInput("--plan takes runs of one state and nothing to compare them with: assay gate --plan RUN...");
  if (!words.move_baseline.empty() && words.history.empty())
    throw BadInput("--move-baseline needs the history it is about: --history DIR");
  if (!words.history.empty() && sides)
    throw BadInput("--history takes the place of --before; give --history DIR --after RUN...");
  const bool alone = !words.plan.empty() || !words.move_baseline.empty();
  if (alone) return;
  if (words.after.empty() || (words.before.empty() && words.history.empty()))
    throw BadInput(
        "the gate needs both sides: assay gate --before RUN... --after RUN... (or --history DIR --after RUN...)");
  if (words.confirm_before.empty() != words.confirm_after.empty())
    throw BadInput("fresh runs are needed of both sides: --confirm-before RUN... --confirm-after RUN...");
}

}  // namespace

void add_gate_options(CLI::App& command, GateWords& words) {
  command.add_option("--before", words.before, "Runs from before the change, or a folder of them");
  command.add_option("--after", words.after, "Runs from after it");
  command.add_option("--confirm-before", words.confirm_before, "Fresh runs, to confirm what the first ones raised");
  command.add_option("--confirm-after", words.confirm_after, "The same from after the change");
  command.add_option("--subject", words.subjects,
                     "What changed on purpose: driver, library, system, program, environment, settings; may repeat");
  command.add_option("--allow", words.allowed, "A field that may differ besides, as the gate names it; may repeat");
  command.add_option("--bar", words.bar, "The slowdown that is to be found: 2% (the default), 0.05");
  command.add_option("--metrics", words.metrics, "A TOML file that names the gated metrics and their bars");
  command.add_option("--inconclusive", words.inconclusive, "fail (the default: exit code 2) or pass");
  command.add_option("--no-baseline", words.no_baseline, "fail (the default) or record: what is new passes");
  command.add_option("--load-spread", words.load_spread, "Scatter from driver load to driver load (0.4%)");
  command.add_option("--plan", words.plan, "Runs of one state: say how many runs the bar takes here");
  command.add_option("--history", words.history, "A folder of earlier results: judge --after against it, and add it");
  command.add_option("--move-baseline", words.move_baseline,
                     "Why the newest result of --history is normal from now on");
  command.add_option("--junit", words.junit, "Write JUnit XML, for GitLab, Jenkins and others");
  command.add_option("--openmetrics", words.openmetrics, "Write OpenMetrics text");
  command.add_option("--google-benchmark", words.google_benchmark,
                     "Write NAME-before.json and NAME-after.json as Google Benchmark does");
  command.add_flag("--github", words.github, "Print GitHub annotations, and write its job summary");
  command.add_flag("--planted", words.planted, "")->group("");
}

GateQuestion understand_gate(const GateWords& words) {
  check_given(words);
  GateQuestion question;
  question.before = paths(words.before);
  question.after = paths(words.after);
  question.confirm_before = paths(words.confirm_before);
  question.confirm_after = paths(words.confirm_after);
  question.plan = paths(words.plan);
  question.history = words.history;
  question.move_baseline = words.move_baseline;
  question.metrics = words.metrics;
  question.junit = words.junit;
  question.openmetrics = words.openmetrics;
  question.github = words.github;
  if (!words.google_benchmark.empty()) {
    question.google_before = words.google_benchmark + "-before.json";
    question.google_after = words.google_benchmark + "-after.json";
  }
  std::vector<std::pair<std::string, std::string>> known;
  for (const std::string& subject : gate::subjects()) known.emplace_back(subject, subject);
  for (const std::string& subject : words.subjects)
    question.rules.allowance.subjects.insert(parse_choice<std::string>("--subject", subject, known));
  question.rules.allowance.fields.insert(words.allowed.begin(), words.allowed.end());
  if (!words.bar.empty()) question.rules.bar = gate::parse_bar("--bar", words.bar);
  if (!words.load_spread.empty()) question.rules.load_spread = gate::parse_bar("--load-spread", words.load_spread);
  if (!words.inconclusive.empty())
    question.rules.inconclusive_passes =
        parse_choice<bool>("--inconclusive", words.inconclusive, {{"pass", true}, {"fail", false}});
  if (!words.no_baseline.empty())
    question.rules.no_baseline_records =
        parse_choice<bool>("--no-baseline", words.no_baseline, {{"record", true}, {"fail", false}});
  question.rules.planted_counts = words.planted;
  return question;
}

}  // namespace assay
