// Small helpers for sentences: numbers inside words, made by the same show() as everywhere.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/report.h"

namespace assay {

std::string shown(double value, ReportUnit unit);
std::string shown_bytes(double value);                            // "14.96 GiB"
std::string grouped(double whole);                                // 8030261248 is "8,030,261,248"
std::string plain_number(double value);                           // "4.5", "32768": for formulas, no unit
std::string counted(std::size_t count, const std::string& noun);  // "1 row", "3 rows"
std::string joined(const std::vector<std::string>& parts, const std::string& between = ", ");

Quantity quantity(double value, ReportUnit unit);
Quantity quantity(double value, double lower, double upper, ReportUnit unit);
Quantity unknown(ReportUnit unit, const std::string& reason);

}  // namespace assay
