// Cells of a CSV file: how numbers and texts are written so that reading gives them back exactly.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay {

// A text fit for one line of a file and for a terminal: line breaks and tabs become spaces, other control characters
// go, what is not UTF-8 becomes "?", and beyond 64 KiB it is cut and ends in "...".
std::string clean_text(std::string_view text);

// Whether clean_text() would leave it as it is, apart from its length.
bool is_clean_text(std::string_view text);

// The shortest digits that read back as the same number. Throws Error where it is not finite.
std::string write_number(double number);
std::string write_number(std::int64_t number);

// Each throws BadInput saying what was expected and what was found.
double parse_double(std::string_view cell);              // finite
std::int64_t parse_whole_number(std::string_view cell);  // 0 or more
std::string_view parse_text(std::string_view cell);      // clean; the cell itself

// The cell as it stands in a line: in quotes, with its own quotes doubled, where it holds a comma or a quote.
std::string quoted_cell(std::string_view cell);

// A cell or text as an error message shows it: clean, in quotes, cut after 40 bytes.
std::string shown(std::string_view cell);

}  // namespace assay
