// A tar archive as a stream of members.
// SPDX-License-Identifier: Apache-2.0
#include "results/tar.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace assay {
namespace {

constexpr std::size_t block_bytes = 512;
constexpr std::uint64_t longest_name = 64 * 1024;

// Where the fields of a header stand, in bytes.
constexpr std::size_t name_at = 0, name_bytes = 100, mode_at = 100, owner_at = 108, group_at = 116, size_at = 124,
                      size_bytes = 12, time_at = 136, checksum_at = 148, checksum_bytes = 8, type_at = 156,
                      magic_at = 257, prefix_at = 345, prefix_bytes = 155;

[[noreturn]] void fail(const char* why) {
  throw BadInput(std::string("the archive is damaged or cut off (") + why + "); pack or copy the run again");
}

std::string field(const char* block, std::size_t at, std::size_t bytes) {
  return std::string(block + at, strnlen(block + at, bytes));
}

// Octal digits, or, for what is too large for them, base 256 marked by the first bit.
std::uint64_t number(const char* block, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  if ((static_cast<unsigned char>(block[at]) & 0x80) != 0) {
    for (std::size_t i = 1; i < bytes; ++i) {
      if (value >> 55 != 0) fail("a size is nonsense");
      value = value << 8 | static_cast<unsigned char>(block[at + i]);
    }
    return value;
  }
  const std::string digits = field(block, at, bytes);
  for (const char digit : digits) {
    if (digit == ' ') continue;
    if (digit < '0' || digit > '7') fail("a number is not octal");
    value = value << 3 | static_cast<unsigned>(digit - '0');  // 12 digits of 3 bits fit
  }
  return value;
}

// The sum of a header's bytes, with the sum's own field as spaces.
std::uint64_t checksum(const char* block) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < block_bytes; ++i) {
    const bool own = i >= checksum_at && i < checksum_at + checksum_bytes;
    sum += own ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

// The value of `path` in pax records: "27 path=some/long/name\n" each.
std::string pax_path(std::string_view records) {
  std::string path;
  while (!records.empty()) {
    std::size_t length = 0, digits = 0;
    while (digits < records.size() && digits < 8 && records[digits] >= '0' && records[digits] <= '9') {
      length = length * 10 + static_cast<std::size_t>(records[digits++] - '0');
    }
    if (digits == 0 || length <= digits + 1 || length > records.size()) fail("a pax record is malformed");
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    constexpr std::string_view key = "path=";
    if (record.substr(0, key.size()) == key) path = record.substr(key.size());
    records.remove_prefix(length);
  }
  return path;
}

void put_octal(std::string& block, std::size_t at, std::size_t bytes, std::uint64_t value) {
  std::array<char, 32> digits = {};
  std::snprintf(digits.data(), digits.size(), "%0*llo", static_cast<int>(bytes - 1),
                static_cast<unsigned long long>(value));
  block.replace(at, bytes - 1, digits.data(), bytes - 1);
}

}  // namespace

// False at the end of the stream.
bool TarReader::read_block(char* block) {
  std::size_t done = 0;
  while (done < block_bytes) {
    const std::size_t count = read_(block + done, block_bytes - done);
    if (count == 0) break;
    done += count;
  }
  if (done != 0 && done != block_bytes) fail("it ends in the middle of a header");
  return done != 0;
}

std::string TarReader::take(std::uint64_t size) {
  std::string content;
  while (size > 0) {
    // Grows as bytes arrive: a size in a header is only a claim.
    std::array<char, 64 * 1024> buffer;
    const std::size_t count =
        read_(buffer.data(), static_cast<std::size_t>(std::min<std::uint64_t>(size, buffer.size())));
    if (count == 0) fail("it ends in the middle of a file");
    content.append(buffer.data(), count);
    size -= count;
  }
  return content;
}

void TarReader::skip() {
  std::array<char, 64 * 1024> buffer;
  for (std::uint64_t rest = left_ + padding_; rest > 0;) {
    const std::size_t count =
        read_(buffer.data(), static_cast<std::size_t>(std::min<std::uint64_t>(rest, buffer.size())));
    if (count == 0) fail("it ends in the middle of a file");
    rest -= count;
  }
  left_ = padding_ = 0;
}

bool TarReader::next() {
  std::string long_name;
  for (;;) {
    skip();
    std::array<char, block_bytes> block;
    if (!read_block(block.data())) return false;
    if (std::all_of(block.begin(), block.end(), [](char byte) { return byte == 0; })) return false;
    if (number(block.data(), checksum_at, checksum_bytes) != checksum(block.data()))
      fail("a header's checksum is wrong");
    left_ = number(block.data(), size_at, size_bytes);
    padding_ = tar_padding(left_);
    const char type = block[type_at];
    // 'L' (GNU) and 'x' (pax) come before the member whose name did not fit.
    if (type == 'L' || type == 'x') {
      std::string text = content(longest_name);
      if (type == 'L') text.resize(strnlen(text.data(), text.size()));
      std::string name = type == 'L' ? text : pax_path(text);
      if (!name.empty()) long_name = std::move(name);
      continue;
    }
    if (type == 'g') continue;  // pax records for all members: none of them matters here
    member_.name = field(block.data(), name_at, name_bytes);
    const std::string prefix = field(block.data(), prefix_at, prefix_bytes);
    if (std::memcmp(block.data() + magic_at, "ustar\0", 6) == 0 && !prefix.empty()) {
      member_.name = prefix + '/' + member_.name;
    }
    if (!long_name.empty()) member_.name = long_name;
    member_.size = left_;
    member_.plain_file = type == '0' || type == '\0' || type == '7';
    return true;
  }
}

std::string TarReader::content(std::size_t most) {
  if (left_ > most) {
    throw BadInput("a file in the archive has " + std::to_string(left_) + " bytes; no run of Assay has more than " +
                   std::to_string(most) + " there, so this is not one");
  }
  std::string text = take(std::exchange(left_, 0));
  return text;
}

std::size_t tar_padding(std::uint64_t size) {
  return static_cast<std::size_t>((block_bytes - size % block_bytes) % block_bytes);
}

std::string tar_header(const std::string& name, std::uint64_t size, std::time_t modified) {
  std::string block(block_bytes, '\0');
  block.replace(name_at, std::min(name.size(), name_bytes), name, 0, name_bytes);
  put_octal(block, mode_at, 8, 0644);
  put_octal(block, owner_at, 8, 0);
  put_octal(block, group_at, 8, 0);
  put_octal(block, size_at, size_bytes, size);
  put_octal(block, time_at, 12, modified > 0 ? static_cast<std::uint64_t>(modified) : 0);
  block[type_at] = '0';
  block.replace(magic_at, 8,
                std::string("ustar\0"
                            "00",
                            8));
  put_octal(block, checksum_at, 7, checksum(block.data()));
  block[checksum_at + 7] = ' ';
  return block;
}

}  // namespace assay
