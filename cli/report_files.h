// A report in files: the ending of each decides how it is rendered.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "reports/report.h"

namespace assay {

// Throws BadInput where the ending is none of .html, .md, .json and .txt.
void check_report_file(const std::filesystem::path& file);

// Writes all of them and returns them as ("html", path), for the end of the first screen.
std::vector<std::pair<std::string, std::string>> write_reports(const Report& report,
                                                               const std::vector<std::filesystem::path>& files);

}  // namespace assay
