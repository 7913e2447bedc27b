// A command of the user's own, started as a shell would.
// SPDX-License-Identifier: Apache-2.0
#include "bench/watched_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace assay {
namespace {

constexpr std::array passed_on{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// The child between fork and exec: nothing but system calls. Says over `report` why it could not start.
[[noreturn]] void become(char* const* arguments, const sigset_t& mask, int report) {
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  execvp(arguments[0], arguments);
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(report, &error, sizeof error);
  _exit(127);
}

}  // namespace

WatchedCommand::WatchedCommand(const std::vector<std::string>& command) {
  if (command.empty() || command.front().empty()) throw BadInput("there is no command to watch");
  // Processes that lose their parent become children of this one, so that they can still be found.
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t heard;
  sigemptyset(&heard);
  for (const int signal : passed_on) sigaddset(&heard, signal);
  sigaddset(&heard, SIGCHLD);
  sigprocmask(SIG_BLOCK, &heard, &before_);
  signals_ = signalfd(-1, &heard, SFD_NONBLOCK | SFD_CLOEXEC);
  try {
    if (signals_ < 0) throw Error(fmt::format("cannot listen to signals: {}", std::strerror(errno)));
    start(command);
  } catch (...) {
    if (signals_ >= 0) close(signals_);
    sigprocmask(SIG_SETMASK, &before_, nullptr);
    throw;
  }
}

WatchedCommand::~WatchedCommand() {
  close(signals_);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void WatchedCommand::start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  std::array<int, 2> report{};
  if (pipe2(report.data(), O_CLOEXEC) != 0) throw Error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  pid_ = fork();
  if (pid_ == 0) become(arguments.data(), before_, report[1]);
  const int error = errno;
  close(report[1]);
  int problem = 0;
  const auto got = pid_ > 0 ? ::read(report[0], &problem, sizeof problem) : 0;  // empty when exec closed it
  close(report[0]);
  if (pid_ < 0) throw Error(fmt::format("cannot start a process: {}", std::strerror(error)));
  if (got != sizeof problem) return;
  waitpid(pid_, nullptr, 0);
  throw BadInput(fmt::format("cannot start '{}': {}", command.front(), std::strerror(problem)));
}

// What the terminal sends goes to the command, too, for it is in the same group; everything else came to us alone.
void WatchedCommand::pass_on() {
  signalfd_siginfo heard{};
  while (::read(signals_, &heard, sizeof heard) == sizeof heard) {
    const bool of_terminal = heard.ssi_code == SI_KERNEL;
    const int signal = static_cast<int>(heard.ssi_signo);
    if (signal != SIGCHLD && !of_terminal) kill(pid_, signal);
  }
}

bool WatchedCommand::reap() {
  int status = 0;
  rusage usage{};
  const pid_t gone = wait4(pid_, &status, WNOHANG, &usage);
  if (gone == 0) return false;
  done_ = true;
  if (gone != pid_) return true;  // nobody knows how
  ended_.known = true;
  ended_.by_signal = WIFSIGNALED(status);
  ended_.code = ended_.by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  cpu_seconds_ = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  largest_ = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  return true;
}

bool WatchedCommand::wait(double seconds) {
  const double until = monotonic_seconds() + seconds;
  do {
    if (done_ || reap()) return true;
    wait_readable({signals_}, std::max(0.0, until - monotonic_seconds()));
    pass_on();
  } while (monotonic_seconds() < until);
  return reap();
}

}  // namespace assay
