// Cells of a CSV file: how numbers and texts are written so that reading gives them back exactly.
// SPDX-License-Identifier: Apache-2.0
#include "results/cell.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "core/error.h"

namespace assay {
namespace {

constexpr std::size_t longest_text = 64 * 1024;

// Length of the well-formed UTF-8 sequence at the start of `text` (Unicode 15, table 3-7), 0 where there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0u;
  };
  const auto follows = [&](std::size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xBF; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second > 0x9F;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && second < 0x90;
    const bool beyond = first == 0xF4 && second > 0x8F;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

// C0 and DEL are one byte; C1, which terminals obey too, is two: C2 80 to C2 9F.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

bool is_plain_ascii(std::string_view text) {
  bool plain = true;
  for (const char letter : text) plain &= letter >= 0x20 && letter < 0x7F;
  return plain;
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    if (clean.size() > longest_text) return clean + "...";
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    if (length == 0) {
      clean += '?';
    } else if (sequence == "\n" || sequence == "\r" || sequence == "\t") {
      clean += ' ';
    } else if (!is_control(sequence)) {
      clean += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return clean;
}

bool is_clean_text(std::string_view text) {
  if (is_plain_ascii(text)) return true;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || is_control(text.substr(0, length))) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string write_number(double number) {
  if (!std::isfinite(number)) throw Error("it is " + std::to_string(number) + ", not a finite number");
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, number);
  return std::string(digits, written.ptr);
}

std::string write_number(std::int64_t number) { return std::to_string(number); }

double parse_double(std::string_view cell) {
  double number = 0;
  const char* end = cell.data() + cell.size();
  const auto read = std::from_chars(cell.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || !std::isfinite(number)) {
    throw BadInput("expected a number such as 1.25e-3, found " + shown(cell));
  }
  return number;
}

std::int64_t parse_whole_number(std::string_view cell) {
  std::int64_t number = 0;
  const char* end = cell.data() + cell.size();
  const auto read = std::from_chars(cell.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < 0) {
    throw BadInput("expected a whole number, 0 or more, found " + shown(cell));
  }
  return number;
}

std::string_view parse_text(std::string_view cell) {
  if (!is_clean_text(cell)) {
    throw BadInput("expected a text in UTF-8 without control characters, found " + shown(cell));
  }
  return cell;
}

std::string quoted_cell(std::string_view cell) {
  if (cell.find_first_of(",\"") == std::string_view::npos) return std::string(cell);
  std::string result = "\"";
  for (const char letter : cell) {
    if (letter == '"') result += '"';
    result += letter;
  }
  return result + '"';
}

std::string shown(std::string_view cell) {
  if (cell.empty()) return "an empty cell";
  constexpr std::size_t most = 40;
  std::string result = "\"";
  result += clean_text(cell.substr(0, most));
  if (cell.size() > most) result += "...";
  return result + '"';
}

}  // namespace assay
