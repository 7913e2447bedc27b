// A tar archive as a stream of members (POSIX ustar, with the long names of GNU and pax), reading and writing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <string>

namespace assay {

// Reads at most `size` bytes to `buffer` and gives their number; 0 at the end. Throws BadInput.
using ByteReader = std::function<std::size_t(char* buffer, std::size_t size)>;

struct TarMember {
  std::string name;  // as it stands in the archive
  std::uint64_t size = 0;
  bool plain_file = false;
};

// Goes through an archive once. Every call throws BadInput where the archive is damaged or cut off.
class TarReader {
 public:
  explicit TarReader(ByteReader read) : read_(std::move(read)) {}

  // The next member; false at the end. What was not read of the last one is skipped.
  bool next();
  const TarMember& member() const { return member_; }
  // The content of the member. Throws BadInput beyond `most` bytes.
  std::string content(std::size_t most);

 private:
  bool read_block(char* block);
  std::string take(std::uint64_t size);
  void skip();

  ByteReader read_;
  TarMember member_;
  std::uint64_t left_ = 0;     // of the content
  std::uint64_t padding_ = 0;  // after it
};

// The 512-byte header of a plain file, readable by all; `name` of at most 100 bytes.
std::string tar_header(const std::string& name, std::uint64_t size, std::time_t modified);

// Bytes that fill a member's content up to whole blocks of 512.
std::size_t tar_padding(std::uint64_t size);

}  // namespace assay
