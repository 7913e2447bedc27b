// `assay evaluate`: look, measure and judge, and leave the report beside the run.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "bench/run_info.h"
#include "cli/commands.h"
#include "core/models/model.h"

namespace assay {

int evaluate(RunOptions options, ReportQuestion question, const Terminal& terminal) {
  if (!question.model.empty()) find_model(question.model);  // a bad name is found before anything is measured
  choose_devices(options);
  if (options.out.empty()) options.out = new_run_folder("runs");
  const int measured = run(options);
  // An interrupted run, or one with failed cases, still has rows worth a report; nothing usable has none.
  if (measured == exit_unknown || measured == exit_internal || measured >= 128) return measured;

  question.runs = {options.out};
  question.force = true;  // files in a folder that this command has just made
  for (const char* name : {"report.html", "report.md", "report.json"}) question.out.push_back(options.out / name);
  const int judged = report(question, terminal);
  std::printf("\nReport: %s\n", (options.out / "report.html").c_str());
  return measured != exit_good ? measured : judged;
}

}  // namespace assay
