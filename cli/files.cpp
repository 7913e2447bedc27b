// Temporary file, then rename: a full disk leaves the old file as it was.
// SPDX-License-Identifier: Apache-2.0
#include "cli/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/error.h"

namespace assay {
namespace {

[[noreturn]] void fail(const std::string& doing, const std::filesystem::path& file, int code) {
  throw Error(doing + " " + file.string() + ": " + std::strerror(code));
}

void write_all(int descriptor, const std::string& content, const std::filesystem::path& file) {
  std::size_t done = 0;
  while (done < content.size()) {
    const ssize_t wrote = write(descriptor, content.data() + done, content.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      const int code = wrote < 0 ? errno : ENOSPC;
      close(descriptor);
      unlink(file.c_str());
      fail("writing", file, code);
    }
    done += static_cast<std::size_t>(wrote);
  }
}

}  // namespace

void refuse_existing(const std::filesystem::path& file, bool force) {
  std::error_code failed;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (!std::filesystem::is_directory(folder, failed)) {
    throw BadInput("cannot write " + file.string() + ": there is no folder " + folder.string());
  }
  if (access(folder.c_str(), W_OK) != 0) {
    throw BadInput("cannot write " + file.string() + ": the folder " + folder.string() + " is not writable for you");
  }
  if (std::filesystem::is_directory(file, failed)) {
    throw BadInput("cannot write " + file.string() + ": it is a folder; name a file");
  }
  if (!force && std::filesystem::exists(file, failed)) {
    throw BadInput(file.string() + " is there already; add --force to overwrite it");
  }
}

void write_file(const std::filesystem::path& file, const std::string& content) {
  const std::filesystem::path temporary = file.string() + ".part";
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) fail("opening", temporary, errno);
  write_all(descriptor, content, temporary);
  if (close(descriptor) != 0) fail("closing", temporary, errno);
  if (rename(temporary.c_str(), file.c_str()) != 0) fail("renaming a finished file to", file, errno);
}

}  // namespace assay
