// A file that only grows, by whole pieces.
// SPDX-License-Identifier: Apache-2.0
#include "results/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace assay {
namespace {

std::string said(int number) { return std::strerror(number); }

[[noreturn]] void fail_to_open(const std::filesystem::path& path, int number) {
  const std::string what = "cannot write " + path.string() + ": " + said(number);
  if (number == ENOSPC || number == EDQUOT || number == EIO || number == EMFILE || number == ENFILE) throw Error(what);
  throw BadInput(what + "; choose a folder you may write to, by --out");
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path, bool make_new) : path_(path) {
  // Not inherited by workers: a worker that outlives the front must not hold its lock.
  const int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (make_new ? O_EXCL : 0);
  descriptor_ = open(path.c_str(), flags, 0666);
  if (descriptor_ < 0) fail_to_open(path, errno);
  struct stat status = {};
  if (fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close();
    throw BadInput("cannot write " + path.string() + ": it is not a plain file; choose another folder, by --out");
  }
  size_ = status.st_size;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  if (this != &other) {
    close();
    path_ = std::move(other.path_);
    descriptor_ = std::exchange(other.descriptor_, -1);
    size_ = other.size_;
  }
  return *this;
}

OutputFile::~OutputFile() { close(); }

void OutputFile::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

void OutputFile::lock() {
  if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return;
  throw BadInput("another assay is writing " + path_.string() + " just now; wait for it, or choose another folder");
}

void OutputFile::append(std::string_view piece) {
  std::string_view rest = piece;
  while (!rest.empty()) {
    // A disk that fills up in the middle gives a short count without a reason; writing on gives the reason.
    const ssize_t written = write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int number = written < 0 ? errno : ENOSPC;
      if (rest.size() != piece.size()) cut(size_);
      throw Error("cannot write " + path_.string() + ": " + said(number));
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ += static_cast<std::int64_t>(piece.size());
}

void OutputFile::cut(std::int64_t bytes) {
  if (ftruncate(descriptor_, bytes) != 0) {
    throw Error("cannot cut " + path_.string() + " back to its last whole line: " + said(errno));
  }
  size_ = bytes;
}

void OutputFile::sync() {
  // Some file systems cannot (EINVAL); what is written is in the system's hands all the same.
  if (fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) {
    throw Error("cannot bring " + path_.string() + " to the disk: " + said(errno));
  }
}

void replace_file(const std::filesystem::path& path, std::string_view content) {
  std::filesystem::path beside = path;
  beside += ".new";
  unlink(beside.c_str());
  try {
    OutputFile file(beside, true);
    file.append(content);
    file.sync();
  } catch (...) {
    unlink(beside.c_str());
    throw;
  }
  if (rename(beside.c_str(), path.c_str()) != 0) {
    const int number = errno;
    unlink(beside.c_str());
    throw Error("cannot replace " + path.string() + ": " + said(number));
  }
  // The rename itself lives in the folder; losing it only in a power cut is bearable, so failures are not reported.
  const int folder =
      open(path.parent_path().empty() ? "." : path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    fsync(folder);
    ::close(folder);
  }
}

}  // namespace assay
