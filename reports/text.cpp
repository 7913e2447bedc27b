// Strings from outside, made safe and measured.
// SPDX-License-Identifier: Apache-2.0
#include "reports/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace assay {
namespace {

constexpr char32_t replacement = 0xFFFD;

struct Decoded {
  char32_t point;
  std::size_t bytes;
};

// The code point at `at`; a broken byte is one replacement character (no overlong forms, no surrogates).
Decoded decode_point(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 && first <= 0xF4  ? 4
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xC2                 ? 2
                                                             : 1;
  if (length == 1 || first > 0xF4 || at + length > text.size()) return {replacement, 1};
  char32_t point = first & (0x7FU >> length);
  for (std::size_t index = at + 1; index < at + length; ++index) {
    if ((byte(index) & 0xC0) != 0x80) return {replacement, 1};
    point = (point << 6) | (byte(index) & 0x3FU);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  if (overlong || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return {replacement, 1};
  return {point, length};
}

std::string encode_point(char32_t point) {
  const auto tail = [](char32_t bits) { return static_cast<char>(0x80U | (bits & 0x3FU)); };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xC0U | (point >> 6)), tail(point)};
  if (point < 0x10000) return {static_cast<char>(0xE0U | (point >> 12)), tail(point >> 6), tail(point)};
  return {static_cast<char>(0xF0U | (point >> 18)), tail(point >> 12), tail(point >> 6), tail(point)};
}

bool steers(char32_t point) {
  const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0);
  const bool direction = point == 0x200E || point == 0x200F || (point >= 0x202A && point <= 0x202E) ||
                         (point >= 0x2066 && point <= 0x2069) || point == 0x061C;
  return control || direction || point == 0x2028 || point == 0x2029 || point == 0xFEFF;
}

using Range = std::pair<char32_t, char32_t>;

template <std::size_t Count>
bool within(const std::array<Range, Count>& ranges, char32_t point) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [point](const Range& range) { return point >= range.first && point <= range.second; });
}

// The blocks that matter in device names and labels, from Unicode's EastAsianWidth.txt (W and F) by block.
constexpr std::array<Range, 10> wide{{{0x1100, 0x115F},
                                      {0x2E80, 0x303E},
                                      {0x3041, 0xA4CF},
                                      {0xAC00, 0xD7A3},
                                      {0xF900, 0xFAFF},
                                      {0xFE30, 0xFE6F},
                                      {0xFF00, 0xFF60},
                                      {0xFFE0, 0xFFE6},
                                      {0x1F300, 0x1FAFF},
                                      {0x20000, 0x3FFFD}}};
constexpr std::array<Range, 7> no_width{{{0x0300, 0x036F},
                                         {0x1AB0, 0x1AFF},
                                         {0x1DC0, 0x1DFF},
                                         {0x200B, 0x200D},
                                         {0x20D0, 0x20FF},
                                         {0xFE00, 0xFE0F},
                                         {0xFE20, 0xFE2F}}};

std::size_t point_width(char32_t point) {
  if (within(no_width, point)) return 0;
  return within(wide, point) ? 2 : 1;
}

// Signs that this project prints itself, and common punctuation of names.
constexpr std::array<std::pair<char32_t, const char*>, 24> likenesses{
    {{0x2713, "[ok]"}, {0x2717, "[x]"}, {0x00D7, "x"},  {0x00B5, "u"},   {0x03BC, "u"},    {0x00B7, "-"},
     {0x2013, "-"},    {0x2014, "-"},   {0x2212, "-"},  {0x2026, "..."}, {0x2264, "<="},   {0x2265, ">="},
     {0x2248, "~"},    {0x2192, "->"},  {0x00B1, "+-"}, {0x2018, "'"},   {0x2019, "'"},    {0x201C, "\""},
     {0x201D, "\""},   {0x00A0, " "},   {0x202F, " "},  {0x00AE, "(R)"}, {0x2122, "(TM)"}, {0x2500, "-"}}};

std::string likeness(char32_t point) {
  for (const auto& [known, ascii] : likenesses) {
    if (known == point) return ascii;
  }
  return "?";
}

// The first `width` columns and the rest of a word that is wider than a line.
std::pair<std::string_view, std::string_view> split_at(std::string_view word, std::size_t width) {
  std::size_t at = 0;
  std::size_t columns = 0;
  while (at < word.size()) {
    const Decoded decoded = decode_point(word, at);
    const std::size_t more = point_width(decoded.point);
    if (columns + more > width && at > 0) break;
    columns += more;
    at += decoded.bytes;
  }
  return {word.substr(0, at), word.substr(at)};
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) found.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return found;
}

}  // namespace

std::string clean(std::string_view outside) {
  std::string safe;
  safe.reserve(outside.size());
  for (std::size_t at = 0; at < outside.size();) {
    const Decoded decoded = decode_point(outside, at);
    at += decoded.bytes;
    if (decoded.point == '\t' || decoded.point == '\n' || decoded.point == '\r') {
      safe += ' ';
    } else {
      safe += encode_point(steers(decoded.point) ? replacement : decoded.point);
    }
  }
  return safe;
}

std::string to_ascii(std::string_view utf8) {
  std::string ascii;
  for (std::size_t at = 0; at < utf8.size();) {
    const Decoded decoded = decode_point(utf8, at);
    at += decoded.bytes;
    if (decoded.point < 0x80) {
      ascii += static_cast<char>(decoded.point);
    } else if (point_width(decoded.point) > 0) {
      ascii += likeness(decoded.point);
    }
  }
  return ascii;
}

std::size_t display_width(std::string_view utf8) {
  std::size_t columns = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const Decoded decoded = decode_point(utf8, at);
    at += decoded.bytes;
    columns += point_width(decoded.point);
  }
  return columns;
}

std::vector<std::string> wrap(std::string_view utf8, std::size_t width) {
  width = std::max<std::size_t>(width, 2);  // one wide character must fit
  std::vector<std::string> lines{""};
  std::size_t columns = 0;
  for (std::string_view word : words_of(utf8)) {
    std::size_t wanted = display_width(word);
    if (columns > 0 && columns + 1 + wanted <= width) {
      lines.back() += ' ';
      columns += 1;
    } else if (columns > 0) {
      lines.emplace_back();
      columns = 0;
    }
    while (wanted > width) {
      const auto [head, rest] = split_at(word, width);
      lines.back() = head;
      lines.emplace_back();
      word = rest;
      wanted = display_width(word);
    }
    lines.back() += word;
    columns += wanted;
  }
  return lines;
}

std::string clip(std::string_view utf8, std::size_t width, std::string_view mark) {
  if (display_width(utf8) <= width) return std::string(utf8);
  const std::size_t mark_width = display_width(mark);
  if (width <= mark_width) return std::string(width, '.');
  return std::string(split_at(utf8, width - mark_width).first) + std::string(mark);
}

std::string words(const Quantity& quantity) {
  const std::string shown = show(quantity);
  return shown == "unknown" && !quantity.reason.empty() ? shown + " (" + clean(quantity.reason) + ")" : shown;
}

std::string words(const Cell& cell) {
  if (const auto* quantity = std::get_if<Quantity>(&cell)) return words(*quantity);
  if (const auto* answer = std::get_if<Answer>(&cell)) return sign(*answer, false) + " " + text(*answer);
  return clean(std::get<std::string>(cell));
}

bool is_numeric(const Table& table, std::size_t column) {
  bool any = false;
  for (const auto& row : table.rows) {
    if (column >= row.size()) continue;
    const auto* outside = std::get_if<std::string>(&row[column]);
    if (std::holds_alternative<Answer>(row[column]) || (outside && !outside->empty())) return false;
    any = any || !outside;
  }
  return any;
}

}  // namespace assay
