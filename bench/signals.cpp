// Signals through a file instead of a handler: no global, and nothing is interrupted in the middle.
// SPDX-License-Identifier: Apache-2.0
#include "bench/signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace assay {

Signals::Signals() {
  sigset_t heard;
  sigemptyset(&heard);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&heard, signal);
  }
  sigprocmask(SIG_BLOCK, &heard, &before_);
  file_ = signalfd(-1, &heard, SFD_NONBLOCK | SFD_CLOEXEC);
  if (file_ < 0) {
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    throw Error(std::string("cannot listen to signals: ") + std::strerror(error));
  }
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &pipe_before_);
}

Signals::~Signals() {
  sigprocmask(SIG_SETMASK, &before_, nullptr);
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  close(file_);
}

std::optional<int> Signals::taken() {
  if (taken_) return taken_;
  signalfd_siginfo heard{};
  if (::read(file_, &heard, sizeof heard) == sizeof heard) {
    taken_ = static_cast<int>(heard.ssi_signo);
    // Not SIGHUP: when a connection breaks, the shell and the kernel send one each.
    sigset_t again;
    sigemptyset(&again);
    for (const int signal : {SIGINT, SIGTERM})
      if (sigismember(&before_, signal) == 0) sigaddset(&again, signal);
    sigprocmask(SIG_UNBLOCK, &again, nullptr);
  }
  return taken_;
}

}  // namespace assay
