// `assay plan`: models, workloads and cards before anything is rented.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/report_files.h"
#include "reports/checklist.h"
#include "reports/render.h"
#include "reports/verdict.h"

namespace assay {
namespace {

Report answer(const PlanRequest& request) {
  if (request.checklist) return blank_checklist();
  if (request.model.empty() && request.gpu.empty()) return plan_everything(request.workload, request.options);
  if (request.model.empty()) return plan_card(find_gpu(request.gpu), request.workload, request.options);
  const Demand wanted = demand(find_model(request.model), request.workload);
  if (request.gpu.empty()) return plan_catalogue(wanted, request.options);
  return plan_pair(wanted, find_gpu(request.gpu), request.options);
}

}  // namespace

int plan(const PlanRequest& request, const Terminal& terminal) {
  for (const std::filesystem::path& file : request.out) {
    check_report_file(file);
    refuse_existing(file, request.force);
  }
  const Report report = answer(request);
  const auto files = write_reports(report, request.out);
  const bool lists = !report.verdict;  // a checklist or a table of all models is its own first screen
  const TerminalStyle style{terminal.width, terminal.colour, terminal.ascii, !request.whole && !lists};
  std::fputs(render_terminal(report, style, files).c_str(), stdout);
  return exit_code_of(report);
}

}  // namespace assay
