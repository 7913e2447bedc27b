// Four renderings of one Report.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/report.h"

namespace assay {

struct TerminalStyle {
  int width = 80;
  bool colour = false;
  bool ascii = false;  // the locale is not UTF-8
  bool first_screen_only = false;
};

// The first screen is at most 24 lines: verdict, headline, worst findings, where the files are. Every outside string is
// stripped of control characters.
std::string render_terminal(const Report& report, const TerminalStyle& style,
                            const std::vector<std::pair<std::string, std::string>>& files);
std::string render_markdown(const Report& report);
std::string render_json(const Report& report);  // follows reports/report.schema.json
std::string render_html(const Report& report);  // self-contained, no network

}  // namespace assay
