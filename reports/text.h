// Strings from outside, made safe and measured: what every rendering does to text before it shows it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/report.h"

namespace assay {

// Valid UTF-8 on one line: tabs and line ends become spaces; other control characters, escape sequences' first byte,
// direction overrides, line separators and broken bytes become U+FFFD, so that nothing can steer a terminal or a page.
std::string clean(std::string_view outside);

// For terminals without UTF-8: signs that we use get a likeness, everything else above 0x7F becomes "?".
std::string to_ascii(std::string_view utf8);

// Terminal columns of valid UTF-8: combining marks take none, East Asian wide characters and emoji two.
std::size_t display_width(std::string_view utf8);

// Lines of at most `width` columns, broken at spaces where there are any; at least one line.
std::vector<std::string> wrap(std::string_view utf8, std::size_t width);

// One line of at most `width` columns, its end replaced by `mark` where it had to be cut.
std::string clip(std::string_view utf8, std::size_t width, std::string_view mark);

// A cell as words: the string, the shown number, "unknown (reason)", or "✓ fits". Cleaned.
std::string words(const Cell& cell);
std::string words(const Quantity& quantity);

// Whether a column holds numbers (and empty cells) only, and so is set to the right.
bool is_numeric(const Table& table, std::size_t column);

}  // namespace assay
