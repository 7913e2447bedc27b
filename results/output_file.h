// A file that only grows, by whole pieces: a piece is there completely or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace assay {

// Movable. Errors carry the path and what the system said.
class OutputFile {
 public:
  // `make_new`: throws BadInput where it exists already. Otherwise it is opened, or made. Throws BadInput where the
  // place cannot be written, Error where the system fails (a full disk).
  OutputFile(const std::filesystem::path& path, bool make_new);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  // Throws BadInput where another process holds it. Held until this object, or the process, ends. Quiet where the file
  // system has no locks.
  void lock();

  // One write. Throws Error where it fails; the file is then as long as before.
  void append(std::string_view piece);

  // Cuts what follows `bytes`.
  void cut(std::int64_t bytes);

  // Asks the system to bring it to the disk.
  void sync();

  std::int64_t size() const { return size_; }

 private:
  void close();

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

// Replaces `path` by a file with this content: written beside it, brought to the disk, renamed. A reader sees the old
// or the new one. Throws Error.
void replace_file(const std::filesystem::path& path, std::string_view content);

}  // namespace assay
