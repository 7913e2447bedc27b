// What a buyer should have in writing before ordering: filled in where it is known, else left open.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/report.h"

namespace assay {

// Answers by the checklist's own names; what is not among them stays a blank line.
struct ChecklistAnswers {
  std::string architecture;  // supported architecture and runtime
  std::string budget;        // weights, intermediates, cache, workspace
  std::string peak;          // at the largest input and concurrency
  std::string views;         // framework's count against the device's
  std::string outputs;       // verified after a change of precision
  std::string memory;        // exact memory of the device
  std::string links;
  std::string power;
  std::string host;
  std::string price;
};
Section checklist_section(const ChecklistAnswers& answers);

// Nothing but the blank checklist.
Report blank_checklist();

}  // namespace assay
