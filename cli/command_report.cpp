// `assay report`: runs and a model to an answer on the screen and in files.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/report_files.h"
#include "core/error.h"
#include "reports/render.h"
#include "results/run.h"

namespace assay {
namespace {

int exit_code(const Report& report) {
  if (!report.verdict) return exit_good;
  switch (report.verdict->answer) {
    case Answer::fits:
    case Answer::tight:
      return exit_good;
    case Answer::does_not_fit:
      return exit_bad;
    case Answer::not_judged:
      break;
  }
  return exit_unknown;
}

}  // namespace

int report(const ReportQuestion& question, const Terminal& terminal) {
  // Everything that can be wrong with the question is found before any work is done, and nothing is half written.
  for (const std::filesystem::path& file : question.out) {
    check_report_file(file);
    refuse_existing(file, question.force);
  }
  std::vector<Run> runs;
  for (const std::filesystem::path& path : question.runs) runs.push_back(read_run(path));

  const Report result = question.model.empty()
                            ? overview(runs, question.device)
                            : judge(runs, find_model(question.model), question.workload, question.device);
  const auto files = write_reports(result, question.out);
  const TerminalStyle style{terminal.width, terminal.colour, terminal.ascii, !question.whole};
  std::fputs(render_terminal(result, style, files).c_str(), stdout);
  return exit_code(result);
}

}  // namespace assay
