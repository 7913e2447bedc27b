// Reads whole text files that come from outside, up to a limit.
// SPDX-License-Identifier: Apache-2.0
#include "results/text_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/error.h"

namespace assay {
namespace {

struct Closer {
  int descriptor;
  ~Closer() { close(descriptor); }
};

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& why) {
  throw BadInput("cannot read " + path.string() + ": " + why);
}

}  // namespace

std::string read_text_file(const std::filesystem::path& path, std::size_t most) {
  // Without O_NONBLOCK a pipe that poses as a file would hang here.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail(path, std::strerror(errno));
  const Closer closer{descriptor};
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) fail(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) fail(path, "it is not a plain file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > most) {
    fail(path, "it has " + std::to_string(size) + " bytes; no run of Assay has more than " + std::to_string(most) +
                   " there, so this is not one");
  }
  std::string text(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = read(descriptor, text.data() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, std::strerror(errno));
    if (count == 0) break;  // it was cut meanwhile
    done += static_cast<std::size_t>(count);
  }
  text.resize(done);
  return text;
}

}  // namespace assay
