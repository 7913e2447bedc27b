// The tables of acceptance: CSV with quotes, since they hold sentences.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

using NamedCells = std::map<std::string, std::string, std::less<>>;

// Rows by the names of the first line. Throws Error naming `file` and the line where a row has other than as many
// cells.
std::vector<NamedCells> read_table(std::string_view csv, const std::string& file);

// The texts that the build puts here, from the files of the same names.
std::string_view rules_csv();
std::string_view bands_csv();

}  // namespace assay
