// `assay plan`: models, workloads and cards before anything is rented.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "cli/commands.h"
#include "cli/files.h"
#include "cli/report_files.h"
#include "core/error.h"
#include "reports/checklist.h"
#include "reports/render.h"
#include "reports/verdict.h"

namespace assay {
namespace {

// A layout says how many cards there are; --cards may only agree.
int cards_of(const PlanRequest& request) {
  const std::int64_t devices = request.workload.layout.devices();
  if (devices <= 1) return request.options.cards;
  if (request.options.cards > 1 && request.options.cards != devices)
    throw BadInput("--cards " + std::to_string(request.options.cards) + ", but the layout takes " +
                   std::to_string(devices) + "; leave one of them out");
  return static_cast<int>(devices);
}

Report answer(PlanRequest request) {
  request.options.cards = cards_of(request);
  if (request.checklist) return blank_checklist();
  if (request.model.empty() && request.gpu.empty()) return plan_everything(request.workload, request.options);
  if (request.model.empty()) return plan_card(find_gpu(request.gpu), request.workload, request.options);
  const Demand wanted = demand(find_model(request.model), request.workload, request.options.cards);
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
