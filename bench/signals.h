// The signals that end a run: heard at moments of our choosing, so that the files are whole and no worker stays behind.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <optional>

namespace assay {

// While it lives, SIGINT, SIGTERM and SIGHUP wait in a file to be asked for, except those that the caller of the
// program wanted ignored (nohup); SIGPIPE is ignored. After the first one was taken SIGINT and SIGTERM have their usual
// effect again, so that a second Ctrl-C ends the program at once.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int file() const { return file_; }  // readable when one has come
  std::optional<int> taken();         // the one that has come, now or before

 private:
  int file_ = -1;
  sigset_t before_{};
  struct sigaction pipe_before_ {};
  std::optional<int> taken_;
};

}  // namespace assay
