// `assay gate`: whether a change made the machine slower.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "bench/run_info.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/report_files.h"
#include "core/error.h"
#include "reports/gate/ci.h"
#include "reports/gate/gate_report.h"
#include "reports/gate/history.h"
#include "reports/gate/run_plan.h"
#include "reports/render.h"
#include "results/run.h"
#include "results/text_file.h"

namespace assay {
namespace {

using Path = std::filesystem::path;
using NamedFiles = std::vector<std::pair<std::string, std::string>>;

bool is_run(const Path& path) {
  std::error_code ignored;
  return path.extension() == ".tgz" || std::filesystem::exists(path / "run.json", ignored);
}

// A folder that is no run itself stands for the runs in it, in the order of their names.
std::vector<Path> runs_in(const Path& path) {
  std::error_code failed;
  if (is_run(path) || !std::filesystem::is_directory(path, failed)) return {path};
  std::vector<Path> found;
  for (const auto& entry : std::filesystem::directory_iterator(path, failed))
    if (is_run(entry.path())) found.push_back(entry.path());
  if (found.empty()) return {path};  // reading it says what is missing
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Run> read_all(const std::vector<Path>& paths) {
  std::vector<Run> runs;
  for (const Path& path : paths)
    for (const Path& one : runs_in(path)) runs.push_back(read_run(one));
  return runs;
}

std::vector<Path> outputs(const GateQuestion& question) {
  std::vector<Path> files = question.out;
  for (const Path& file : {question.junit, question.openmetrics, question.google_before, question.google_after})
    if (!file.empty()) files.push_back(file);
  return files;
}

// Nothing is measured or judged for files that could not be written.
void check_outputs(const GateQuestion& question) {
  for (const Path& file : question.out) check_report_file(file);
  for (const Path& file : outputs(question)) refuse_existing(file, question.force);
  if (!question.junit.empty() && question.junit.extension() != ".xml")
    throw BadInput("--junit " + question.junit.string() + ": GitLab takes only names that end in .xml");
}

void show(const Report& report, const GateQuestion& question, const Terminal& terminal, const NamedFiles& files) {
  const TerminalStyle style{terminal.width, terminal.colour, terminal.ascii, !question.whole};
  std::fputs(render_terminal(report, style, files).c_str(), stdout);
}

void write_named(const Path& file, const std::string& name, const std::string& content, NamedFiles& files) {
  if (file.empty()) return;
  write_file(file, content);
  files.emplace_back(name, file.string());
}

void tell_github(const gate::Gate& gate, const gate::GateRules& rules) {
  std::fputs(gate::github_annotations(gate, rules).c_str(), stdout);
  const char* summary = std::getenv("GITHUB_STEP_SUMMARY");
  if (summary == nullptr || *summary == '\0') return;
  std::ofstream file(summary, std::ios::app);
  file << gate::github_summary(gate, rules) << std::flush;
  if (!file) throw Error(std::string("cannot write the job summary ") + summary);
}

int finish(const gate::Gate& gate, const gate::GateRuns& runs, const GateQuestion& question, const Terminal& terminal) {
  const Report report = gate::gate_report(gate, runs, question.rules);
  NamedFiles files = write_reports(report, question.out);
  if (!question.junit.empty()) write_named(question.junit, "junit", gate::junit(gate, question.rules), files);
  if (!question.openmetrics.empty())
    write_named(question.openmetrics, "openmetrics", gate::openmetrics(gate, question.rules), files);
  for (const auto& [file, side] :
       {std::pair{&question.google_before, &runs.before}, {&question.google_after, &runs.after}})
    if (!file->empty() && !side->empty())
      write_named(*file, "google-benchmark", gate::google_benchmark(*side, question.rules.planted_counts), files);
  show(report, question, terminal, files);
  if (question.github) tell_github(gate, question.rules);
  return gate::exit_code_of(gate, question.rules);
}

int judge_against_history(const GateQuestion& question, const gate::GateRuns& runs, const Terminal& terminal) {
  gate::History history(question.history);
  gate::Point point = gate::point_of(runs.after, question.rules);
  const gate::Gate gate = gate::judge_point(history, runs.after, question.rules, point);
  const int code = finish(gate, runs, question, terminal);
  history.append(point);
  std::printf("Added to %s as result %zu%s.\n", question.history.c_str(), history.points().size(),
              point.accepted ? "" : ", no part of the baseline unless --move-baseline says why");
  return code;
}

}  // namespace

int run_gate(GateQuestion question, const Terminal& terminal) {
  check_outputs(question);
  if (!question.metrics.empty())
    question.rules.metrics =
        gate::parse_metrics(read_text_file(question.metrics, most_json_bytes), question.metrics.string());
  if (!question.move_baseline.empty()) {
    gate::History history(question.history);
    history.move_baseline(question.move_baseline, utc_now());
    std::printf("From now on the baseline of %s begins with result %zu: %s\n", question.history.c_str(),
                history.points().size(), question.move_baseline.c_str());
    return exit_good;
  }
  if (!question.plan.empty()) {
    const Report report = gate::plan_report(gate::plan_runs(read_all(question.plan), question.rules), question.rules);
    show(report, question, terminal, write_reports(report, question.out));
    return exit_good;
  }
  gate::GateRuns runs{read_all(question.before), read_all(question.after), read_all(question.confirm_before),
                      read_all(question.confirm_after)};
  ModelSpec model;
  if (!question.model.empty()) {
    model = find_model(question.model);
    question.rules.model = &model;
    question.rules.workload = question.workload;
  }
  if (!question.history.empty()) return judge_against_history(question, runs, terminal);
  return finish(gate::gate(runs, question.rules), runs, question, terminal);
}

}  // namespace assay
