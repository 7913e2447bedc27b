// `assay compare`: devices side by side.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/commands.h"
#include "cli/files.h"
#include "core/error.h"
#include "reports/compare/comparison.h"
#include "reports/render.h"
#include "results/run.h"

namespace assay {
namespace {

using NamedFiles = std::vector<std::pair<std::string, std::string>>;

std::string written(const std::filesystem::path& file, const Comparison& comparison, const Report& report) {
  const std::string ending = file.extension().string();
  if (ending == ".html") return render_html(report);
  if (ending == ".md") return render_markdown(report);
  if (ending == ".json") return render_json(report);
  if (ending == ".csv") return comparison_csv(comparison);
  return render_terminal(report, TerminalStyle{}, {});
}

void check_ending(const std::filesystem::path& file) {
  for (const char* ending : {".html", ".md", ".json", ".csv", ".txt"})
    if (file.extension() == ending) return;
  throw BadInput("--out " + file.string() + ": the ending decides the format; use .html, .md, .json, .csv or .txt");
}

}  // namespace

int compare(const ComparedQuestion& question, const Terminal& terminal) {
  for (const std::filesystem::path& file : question.out) {
    check_ending(file);
    refuse_existing(file, question.force);
  }
  std::vector<Run> runs;
  for (const std::filesystem::path& path : question.runs) runs.push_back(read_run(path));
  const Comparison comparison = compare(contenders(runs, question.devices, question.prices));
  CompareQuestion asked;
  ModelSpec model;
  if (!question.model.empty()) {
    model = find_model(question.model);
    asked.model = &model;
  }
  asked.workload = question.workload;
  if (!question.claim.empty()) asked.speed_claim = question.claim;
  const Report report = comparison_report(comparison, asked);

  NamedFiles files;
  for (const std::filesystem::path& file : question.out) {
    write_file(file, written(file, comparison, report));
    files.emplace_back(file.extension().string().substr(1), file.string());
  }
  const TerminalStyle style{terminal.width, terminal.colour, terminal.ascii, !question.whole};
  std::fputs(render_terminal(report, style, files).c_str(), stdout);
  return exit_code_of(comparison);
}

}  // namespace assay
