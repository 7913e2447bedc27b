// A command of the user's own, started as a shell would: its terminal, its environment, its signals.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "bench/process.h"

namespace assay {

// Starts it, and passes on what signals reach this program while it lives. One at a time.
class WatchedCommand {
 public:
  // Throws BadInput where it cannot be started: not found, not executable.
  explicit WatchedCommand(const std::vector<std::string>& command);
  ~WatchedCommand();
  WatchedCommand(const WatchedCommand&) = delete;
  WatchedCommand& operator=(const WatchedCommand&) = delete;

  pid_t pid() const { return pid_; }

  // Sleeps for so long at most, less where it ends. Whether it has ended.
  bool wait(double seconds);

  const Ended& ended() const { return ended_; }        // once wait() said yes
  double cpu_seconds() const { return cpu_seconds_; }  // of it and of all its children that were waited for
  std::int64_t largest() const { return largest_; }    // bytes, the kernel's highest of any one of these

 private:
  void start(const std::vector<std::string>& command);
  void pass_on();
  bool reap();

  pid_t pid_ = -1;
  int signals_ = -1;
  sigset_t before_{};
  bool done_ = false;
  Ended ended_;
  double cpu_seconds_ = 0;
  std::int64_t largest_ = 0;
};

}  // namespace assay
